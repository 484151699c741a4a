"""What a default that moves with the release changes: by asking everything again with the value of before.

All moved defaults are first put back together; only if that changes an answer is each put back by itself.
What no rule depends on is told in words (`meanings`), as far as there is something to say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ...engine import Audit, Options, audit
from ...tuples import NamedTuple
from ..known.changes import mark
from ..report import build_report

Report = Mapping[str, Any]

# Each is put back by itself up to so many; an upgrade over ten releases moves about as many.
ONE_BY_ONE_MAX = 24


class Moved(NamedTuple):
    component: str
    key: str
    was: str


class Effect(NamedTuple):
    """`worse` and `better`: what the new default does to the answers, in sentences."""

    worse: tuple[str, ...] = ()
    better: tuple[str, ...] = ()

    def text(self) -> str | None:
        told = (("worse", self.worse), ("better", self.better))
        return "; ".join(f"{word}: {', '.join(sentences)}" for word, sentences in told if sentences) or None


NOTHING = Effect()


def effects(new: Audit, options: Options, moved: Sequence[Moved]) -> dict[Moved, Effect]:
    """`new` is the audit with the new defaults, `options` those it was made with."""
    moved = [one for one in dict.fromkeys(moved) if not _is_stated(new, one)]
    report = build_report(new)
    if not moved or _effect(report, _put_back(options, moved)) == NOTHING:
        return dict.fromkeys(moved, NOTHING)
    return {one: _effect(report, _put_back(options, [one])) for one in moved[:ONE_BY_ONE_MAX]}


def _is_stated(new: Audit, moved: Moved) -> bool:
    """Somewhere it is: putting it back everywhere would change that file too."""
    return any(
        setting.key == moved.key and document.component == moved.component
        for root in new.roots
        for record in root.files
        for document in record.documents
        for setting in document.settings
    )


def _put_back(options: Options, moved: Sequence[Moved]) -> Report:
    sets = tuple(f"{one.component}.{one.key}={one.was}" for one in moved)
    return build_report(audit(options._replace(sets=(*options.sets, *sets))))


def _effect(now: Report, before: Report) -> Effect:
    changes = mark(dict(now), before, "")["changes"]
    found = _named(_only_in(now, before), now, "is found")
    gone = _named(_only_in(before, now), before, "is found no longer")
    # Findings that are gone are told above.
    better = (one for one in changes["better"] if " is fixed (" not in one)
    return Effect((*found, *changes["worse"], *changes["costs"]), (*gone, *better))


def _named(findings: Sequence[Mapping[str, Any]], report: Report, ends: str) -> tuple[str, ...]:
    titles = {rule["code"]: rule["title"] for rule in report["rules"]}
    codes = dict.fromkeys(one["code"] for one in findings if one["severity"] != "note")
    return tuple(f"{code} {ends} ({titles.get(code, code)})" for code in codes)


def _only_in(report: Report, other: Report) -> list[Mapping[str, Any]]:
    known = {_mark(one) for one in other["findings"]}
    return [one for one in report["findings"] if _mark(one) not in known]


def _mark(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    return finding["code"], finding["deployment"], finding["locations"][0]["file"]


@cache
def meanings() -> Mapping[str, str]:
    """In words, by key: what no guarantee shows."""
    with open(os.path.join(os.path.dirname(__file__), "default_meanings.json"), encoding="utf-8") as file:
        found: dict[str, str] = json.load(file)
    return found
