"""The scenarios of samples/, which are installed with the program: played when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from ..ask.verdicts import Verdicts
from ..join.versions import choose_version
from ..memo.cache import open_cache
from ..simulate.log_scenario import is_log_scenario, play_log, read_log_scenario
from ..simulate.log_scenario_report import log_data
from ..simulate.scenario import play, read_scenario
from ..simulate.scenario_report import scenario_data

_PACKAGE = "kafka_advisor_scenarios"


def scenario_names() -> list[str]:
    found = (one.name for one in files(_PACKAGE).iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def scenario(name: str) -> dict[str, Any]:
    """As `simulate --format json` tells it."""
    cache = open_cache(True)
    file, text = f"{name}.toml", (files(_PACKAGE) / f"{name}.toml").read_bytes()
    if is_log_scenario(text):
        read = read_log_scenario(file, text)
        version, _ = choose_version(read.kafka_version, ())
        data = log_data(play_log(read, version, (), cache), False)
    else:
        told = read_scenario(file, text)
        version, _ = choose_version(told.kafka_version, ())
        data = scenario_data(play(told, version, (), Verdicts(cache)), False)
    return {"kafka_version": version.asked, **data}


def run_of_scenario(data: dict[str, Any]) -> tuple[list[Any], str | None]:
    """Its trace, and the guarantee that it is about."""
    for entry in data["guarantees"]:
        if entry["trace"]:
            return entry["trace"], entry["guarantee"]
    return data.get("trace", []), None


def every_scenario() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in scenario_names():
        yield name, scenario(name)
