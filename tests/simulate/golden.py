"""Runs whose tables are kept as text. `python -m tests.simulate.golden` rewrites golden/."""

from __future__ import annotations

import tomllib
from pathlib import Path

from advisor.ask.verdicts import Verdicts
from advisor.join.versions import choose_version
from advisor.memo.cache import Cache
from advisor.simulate.scenario import play, read_scenario
from advisor.simulate.verdict_report import run_lines
from tests.conftest import ROOT

HERE = Path(__file__).parent / "golden"
SAMPLES = ROOT / "samples/scenarios"
NAMES = (
    "s1-two-fetch-rounds",
    "s1-three-replicas",
    "s2-loss-by-truncation",
    "s2-the-whole-tale",
    "s3-divergence",
    "retries-reorder",
)


def text_of(name: str) -> str:
    """The table of the run, and the run in words."""
    data = (SAMPLES / f"{name}.toml").read_bytes()
    version, _ = choose_version(tomllib.loads(data.decode())["kafka_version"], ())
    played = play(read_scenario(f"{name}.toml", data), version, (), Verdicts(Cache(None)))
    return "\n".join(run_lines([step.as_dict() for step in played.trace])) + "\n"


if __name__ == "__main__":
    for name in NAMES:
        (HERE / f"{name}.txt").write_text(text_of(name), encoding="utf-8")
