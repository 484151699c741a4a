"""Packs that build on packs: `extends` brings others in, `[narrow.KA431]` changes single rules of others.

An organisation keeps one pack with what it wants everywhere; a team's pack extends it and narrows further.
kafka-advisor.toml has the last word: its [severity] and [params] count before any pack's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model import UsageError

if TYPE_CHECKING:
    from .pack import Pack, Rule

_FIELDS = ("severity", "profiles")


# Of each pack's file those that it builds on, near or far, with itself.
Bases = Mapping[str, frozenset[str]]


def with_extended(
    packs: Sequence[Pack], homes: Mapping[str, str], read: Callable[[str, str], Pack]
) -> tuple[list[Pack], Bases]:
    """All of them and those they extend, what is extended first. `homes` are the folders of packs that ship
    in a package; `read` reads a file."""
    by_name = {pack.name: pack for pack in packs if pack.file in homes}
    given = {os.path.realpath(pack.file): pack for pack in packs if pack.file not in homes}
    names = {os.path.basename(path): path for path in given}
    found: list[Pack] = []
    bases: dict[str, frozenset[str]] = {}

    def add(pack: Pack, chain: tuple[str, ...] = ()) -> None:
        if pack.file in chain:
            way = " -> ".join((*chain[chain.index(pack.file) :], pack.file))
            raise UsageError(f"{pack.file}: extends itself: {way}")
        if pack.file in bases:
            return
        extended = [_extended(pack, name) for name in pack.extends]
        for other in extended:
            add(other, (*chain, pack.file))
        bases[pack.file] = frozenset((pack.file,)).union(*(bases[other.file] for other in extended))
        found.append(pack)

    def _extended(pack: Pack, name: str) -> Pack:
        if not name.endswith(".toml"):
            if name in by_name:
                return by_name[name]
            near = _near(name, by_name)
            raise UsageError(f"{pack.file}: extends {name!r}, which no plugin gives{near}")
        folder = homes.get(pack.file, os.path.dirname(pack.file))
        path = os.path.join(folder, name)
        inside, place = os.path.realpath(folder or "."), os.path.realpath(path)
        if os.path.commonpath((inside, place)) != inside:
            raise UsageError(f"{pack.file}: extends {name!r}, which is not in the folder of this pack")
        if not os.path.exists(path) and os.path.basename(name) in names:
            place = names[os.path.basename(name)]  # sent along with it, to a machine of a fleet
        if place not in given:
            given[place] = read(path, f"{pack.file} extends {name!r}")
        return given[place]

    for pack in packs:
        add(pack)
    return found, bases


def with_their_bases(files: Iterable[str]) -> list[str]:
    """These packs and the files they extend: what must be copied along. What cannot be read is told where it
    is loaded."""
    import tomllib

    found: list[str] = []
    left = list(files)
    while left:
        path = left.pop(0)
        if path in found:
            continue
        found.append(path)
        try:
            with open(path, "rb") as file:
                extended = tomllib.load(file)["pack"]["extends"]
            folder = os.path.dirname(path)
            left += [os.path.join(folder, name) for name in extended if name.endswith(".toml")]
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            pass
    return found


def narrowed(packs: Sequence[Pack], bases: Bases) -> list[Rule]:
    """The rules of these packs, each as the packs want it that narrow it."""
    rules = [rule for pack in packs for rule in pack.rules]
    places = {name: place for place, rule in enumerate(rules) for name in (rule.code, rule.name)}
    said: dict[tuple[int, str], tuple[Any, str, int]] = {}
    for pack in packs:
        for row in pack.narrow:
            at, name = f"{pack.file}:{row['line']}", row["rule"]
            if name not in places:
                raise UsageError(f"{at}: narrow: no rule is called {name!r}{_near(name, places)}")
            place = places[name]
            for field, value in _stated(row, rules[place], at):
                before, file, line = said.get((place, field), (value, pack.file, 0))
                if before != value and file not in bases[pack.file]:
                    other = f"{name} has another {field} at {file}:{line}"
                    raise UsageError(f"{at}: narrow: {other}; let one pack extend the other")
                said[place, field] = value, pack.file, row["line"]
    for (place, field), (value, _, _) in said.items():
        rules[place] = _changed(rules[place], field, value)
    return rules


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _stated(row: Mapping[str, Any], rule: Rule, at: str) -> list[tuple[str, Any]]:
    params: Mapping[str, Any] = row.get("params", {})
    for name in params:
        # Which params a guarantee has is known to who answers it (questions.py).
        if name not in rule.params and rule.guarantee is None:
            has = ", ".join(sorted(rule.params)) or "none"
            raise UsageError(f"{at}: narrow: {rule.code} has no parameter {name!r} (it has: {has})")
    fields = [(field, row[field]) for field in _FIELDS if field in row]
    return [*fields, *((f"params.{name}", value) for name, value in params.items())]


def _changed(rule: Rule, field: str, value: Any) -> Rule:
    if field == "profiles":
        return rule._replace(profiles=tuple(value))
    if field == "severity":
        return rule._replace(enabled=False) if value == "off" else rule._replace(severity=value)
    return rule._replace(params={**rule.params, field.removeprefix("params."): value})
