"""The judgements that are kept: one line for each finding in a public repository, with the reason."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).parent / "judgements.jsonl"
JUDGEMENTS = ("useful", "noise", "false")
# What an expert says to the offered fix; none: there is none.
FIXES = ("accept", "refuse", "none")


class Place(NamedTuple):
    """What a judgement is about."""

    repository: str
    code: str
    place: str
    key: str


class Judged(NamedTuple):
    """judgement: useful (an expert would act), noise (true, nobody would act), false."""

    at: Place
    commit: str
    judgement: str
    fix: str
    why: str


def read_judgements(path: Path = FILE) -> dict[Place, Judged]:
    found: dict[Place, Judged] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        entry = json.loads(line)
        at = Place(entry["repository"], entry["code"], entry["place"], entry["key"])
        if at in found:
            raise ValueError(f"{path.name}:{number}: judged twice: {at}")
        found[at] = Judged(at, entry["commit"], entry["judgement"], entry["fix"], entry["why"])
    return found


def place_of(repository: str, finding: dict[str, Any]) -> Place:
    at = finding["locations"][0]
    return Place(repository, finding["code"], f"{at['file']}:{at['line'] or 0}", at["key"] or "")


def half(repository: str) -> str:
    """`first` was judged and mended against, `second` only after the mending: by the name, not by results."""
    return "second" if hashlib.sha256(repository.lower().encode()).digest()[0] % 2 else "first"
