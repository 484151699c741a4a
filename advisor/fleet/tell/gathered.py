"""What the driver holds of a run when everything is judged: the few that differ, and how many have each.

Rows stay where Spark keeps them; here are distinct configurations, behaviours, and counts by owner and
cluster. The rest of the run (results, drift, summary, page) is made of these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from zlib import compress, decompress

from ...tuples import NamedTuple
from .causes import cause_of, remedy_of

Row = dict[str, Any]


class Document(NamedTuple):
    """Configurations that are alike, of one owner in one cluster: how many, and their partitions together."""

    owner: str
    cluster: str | None
    component: str
    fp: str
    configs: int
    partitions: int


class Cell(NamedTuple):
    """The same of deployments."""

    owner: str
    cluster: str | None
    behaviour: str
    deployments: int
    partitions: int


_TOLD = ("code", "name", "severity", "message", "slot", "key")


class Said(NamedTuple):
    """What was said of one configuration or deployment. Of its findings only what tables hold; the whole is
    packed."""

    profile: str | None
    version: str | None
    survives_lost: int | None
    writes_with_away: int | None
    findings: tuple[Row, ...]
    guarantees: tuple[Row, ...]
    size: int
    packed: bytes

    @classmethod
    def read(cls, payload: str) -> Said:
        told = json.loads(payload)
        headline = told.get("headline") or {}
        findings = tuple(
            {
                **{name: found.get(name) for name in _TOLD},
                "suppressed": found.get("suppressed") is not None,
                "cause": cause_of(found),
                "remedy": remedy_of(found),
            }
            for found in told["findings"]
        )
        return cls(
            told.get("profile"),
            told.get("version"),
            headline.get("survives_lost"),
            headline.get("writes_with_away"),
            findings,
            tuple(told.get("guarantees", ())),
            len(payload),
            compress(payload.encode("utf-8", "surrogatepass"), 1),
        )

    @property
    def payload(self) -> str:
        return decompress(self.packed).decode("utf-8", "surrogatepass")


Rule = tuple[str, str]  # code and severity
RANK = {"error": 0, "warning": 1, "note": 2}


class Reached(NamedTuple):
    """How far a rule reaches beyond its count: distinct topics and clients."""

    topics: int
    clients: int
    exact: bool


class Shown(NamedTuple):
    """Which findings a page has room for, row by row: all of the rules in `whole`, of `part` as many as
    `room` says `of` all its own, of the others an example."""

    whole: list[Rule]
    part: Rule | None
    room: int
    of: int
    others: list[Rule]


class Gathered(NamedTuple):
    """`marks` are behaviours -> what was judged for them, `alone` is what was said of configurations by
    themselves: `alone_mark` says under which name, for a sha-256 in a cluster. `findings` are rows of the
    table; `reached` tells of the rules (code, severity) among them. `shown` gives their rows, with the
    columns that are named. `verdicts` are what the simulator newly answered."""

    source: str
    rows_in: int
    quarantined: int
    repeated: int
    ignored: int
    reasons: list[Row]
    documents: list[Document]
    texts: Mapping[str, str]
    cells: list[Cell]
    marks: Mapping[str, str]
    alone: Mapping[str, Said]
    alone_mark: Callable[[str, str | None], str]
    judged: Mapping[str, Said]
    findings: Callable[[], Iterator[Row]]
    reached: Callable[[Iterable[Rule]], Mapping[Rule, Reached]]
    shown: Callable[[Shown, Sequence[str]], Iterable[tuple[Any, ...]]]
    verdicts: Mapping[str, str]
