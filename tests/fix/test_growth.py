"""What `fix` costs beside one audit of the same files: a ratio of CPU times, the least of several runs."""

from __future__ import annotations

import contextlib
import io
import os

from advisor.commands import run

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
    """Also where not every fix holds: those that do not are tried apart. More files cost no more audits."""
    ratios = []
    for services in (8, 24):
        folder = tmp_path / str(services)
        write_estate(folder, services)
        (folder / ".git").mkdir()
        monkeypatch.chdir(folder)
        silently("fix", ".")  # the searches are made once, for both
        audit = cpu(lambda: silently("audit", "."), 3)
        ratios.append(cpu(lambda: silently("fix", "."), 2) / audit)
        assert os.listdir(folder)
    assert max(ratios) < AUDITS_MAX, ratios
