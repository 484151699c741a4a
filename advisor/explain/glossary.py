"""Words that reports use: what each means, and a scenario that shows it."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from ..tuples import NamedTuple


class Term(NamedTuple):
    """`see` are settings, guarantees, rules or other terms; `scenario` is one of the samples."""

    name: str
    title: str
    aliases: tuple[str, ...]
    says: str
    see: tuple[str, ...]
    scenario: str | None

    @property
    def id(self) -> str:
        return self.name.replace(" ", "-")


@cache
def terms() -> tuple[Term, ...]:
    text = (files(__package__) / "glossary.toml").read_text(encoding="utf-8")
    return tuple(
        Term(
            one["name"],
            one.get("title", one["name"]),
            tuple(one.get("aliases", ())),
            one["says"],
            tuple(one.get("see", ())),
            one.get("scenario"),
        )
        for one in tomllib.loads(text)["term"]
    )


def term_of(word: str) -> Term | None:
    asked = word.lower().replace("-", " ")
    for term in terms():
        if asked in (name.replace("-", " ") for name in (term.name, *term.aliases)):
            return term
    return None
