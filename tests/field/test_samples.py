"""A sample of Terraform: what it shows is found, at its line."""

from __future__ import annotations

import pytest

from advisor.testing import audit_paths
from tests.conftest import ROOT

SHOWN = {"terraform": {"msk.tf:1": "KA110", "msk.tf:29": "KA012"}}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_what_a_sample_shows_is_found(name):
    report = audit_paths([str(ROOT / "samples" / name)])
    places = [(finding["code"], finding["locations"][0]) for finding in report["findings"]]
    found = {f"{at['file'].rpartition('/')[2]}:{at['line']}": code for code, at in places}
    for place, code in SHOWN[name].items():
        assert found.get(place) == code, (place, found)
