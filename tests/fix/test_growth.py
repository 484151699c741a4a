"""What `fix` costs beside one audit that asks about each of the same files: a ratio of CPU times, the least
of several runs."""

from __future__ import annotations

import contextlib
import io
import os

from advisor import engine
from advisor.commands import run
from advisor.find.reuse import outcomes

from ..linear.growth import cpu
from .estate import write_estate

# Reading, asking and printing twice, and what is tried between.
AUDITS_MAX = 6


def silently(*words: str) -> None:
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="latin-1")),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        run([*words])


def test_fix_costs_a_few_audits(tmp_path, monkeypatch):
    """Also where not every fix holds: those that do not are tried apart. More files cost no more audits. The
    files of the estate are alike: an audit that asks once about all of them is no measure."""
    ratios = []
    for services in (8, 24):
        folder = tmp_path / str(services)
        write_estate(folder, services)
        (folder / ".git").mkdir()
        monkeypatch.chdir(folder)
        silently("fix", ".")  # the searches are made once, for both
        with monkeypatch.context() as one_by_one:
            one_by_one.setattr(outcomes, "KEPT_MAX", 10_000)
            one_by_one.setattr(outcomes, "may_be_kept", lambda deployments: False)
            one_by_one.setattr(engine, "_FEW", 10_000)
            audit = cpu(lambda: silently("audit", "."), 3)
        ratios.append(cpu(lambda: silently("fix", "."), 2) / audit)
        assert os.listdir(folder)
    assert max(ratios) < AUDITS_MAX, ratios
