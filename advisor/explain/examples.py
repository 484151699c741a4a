"""The example of a rule, audited now: the finding with its run, and the same faults with its fix."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..engine import Options, audit
from ..output.files import write_file
from ..packs.pack import Rule
from ..tell.fixed_runs import fixed_runs
from ..tell.report import build_report
from ..testing import settings_texts
from ..tuples import NamedTuple


class Example(NamedTuple):
    """What an audit of the bad settings says, and the settings of both sides as the pack states them."""

    finding: Mapping[str, Any]
    fixed: Mapping[str, Any] | None
    bad: Mapping[str, Mapping[str, str]]
    good: Mapping[str, Mapping[str, str]]


def example_of(rule: Rule) -> Example | None:
    """The first example that carries a run, else the first that is found at all."""
    found: Example | None = None
    for example in rule.examples:
        words = (example.get(name) for name in ("kafka_version", "profile"))
        report = _audited(_frozen(example["bad"]), example.get("client", "java"), *words)
        finding = next((one for one in report["findings"] if one["code"] == rule.code), None)
        if finding is None:
            continue
        fixed = report["fixed_runs"].get(finding["fingerprint"])
        one = Example(finding, fixed, example["bad"], example["good"])
        if finding["evidence"]["trace"]:
            return one
        found = found or one
    return found


Frozen = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def _frozen(configs: Mapping[str, Mapping[str, str]]) -> Frozen:
    return tuple((name, tuple(settings.items())) for name, settings in configs.items())


@cache
def _audited(configs: Frozen, client: str, version: str | None, profile: str | None) -> dict[str, Any]:
    texts = settings_texts({name: dict(settings) for name, settings in configs}, client)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, text)
        options = Options(paths=(folder,), kafka_version=version, profile=profile)
        result = audit(options)
        return {**build_report(result), "fixed_runs": fixed_runs(result, options)}
