"""Findings by their cause: one line of a file, the worst that it does first, what else it does under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...tuples import NamedTuple
from ..messages import message_of
from .document import in_json
from .markup import Child, Markup, tag, wide
from .player import Played, player

Finding = Mapping[str, Any]
SEVERITIES = ("error", "warning", "note")
# A page of a megabyte is slow to open: later causes are told in a line each, and the last are counted.
FULL_BYTES_MAX = 500_000
BYTES_MAX = 800_000
OPEN_MAX = 3


class Cause(NamedTuple):
    """Findings that one change fixes. `more` are those of the same rules elsewhere: in other deployments, or
    in other files that take the same change."""

    findings: tuple[Finding, ...]
    more: tuple[Finding, ...] = ()

    @property
    def worst(self) -> Finding:
        return self.findings[0]


def causes(findings: Iterable[Finding]) -> list[Cause]:
    """The gravest first."""
    ordered = sorted(findings, key=lambda one: SEVERITIES.index(one["severity"]))
    groups: dict[object, list[Finding]] = {}
    homes: dict[tuple[str, int], object] = {}
    for one in ordered:
        if one["fixes"]:
            changes = one["fixes"][0]["changes"]
            mark: object = tuple((c["file"], c["line"], c["component"], c["key"], c["to"]) for c in changes)
            groups.setdefault(mark, []).append(one)
            for change in changes:
                if change["line"] is not None:
                    homes.setdefault((change["file"], change["line"]), mark)
    for one in ordered:
        if not one["fixes"]:
            at = one["locations"][0]
            mark = homes.get((at["file"], at["line"]), one["fingerprint"])
            groups.setdefault(mark, []).append(one)
    return sorted(_folded([_cause(group) for group in groups.values()]), key=_gravest)


def _gravest(cause: Cause) -> tuple[int, bool, int, str]:
    """Of equal ones those with a run first, then those at more places."""
    worst = cause.worst
    rank = SEVERITIES.index(worst["severity"])
    return rank, not worst["evidence"]["trace"], -len(cause.more), worst["code"]


def _folded(found: Sequence[Cause]) -> list[Cause]:
    """What is wrong in one way in many files is told once."""
    alike: dict[object, Cause] = {}
    for cause in found:
        changes = cause.worst["fixes"][0]["changes"] if cause.worst["fixes"] else ()
        mark = (
            cause.worst["severity"],
            tuple(one["code"] for one in cause.findings),
            tuple((change["component"], change["action"], change["key"], change["to"]) for change in changes)
            or message_of(cause.worst),
        )
        first = alike.setdefault(mark, cause)
        if first is not cause:
            alike[mark] = first._replace(more=(*first.more, cause.worst, *cause.more))
    return list(alike.values())


def _cause(group: Sequence[Finding]) -> Cause:
    first: dict[str, Finding] = {}
    more: list[Finding] = []
    for one in sorted(group, key=lambda one: SEVERITIES.index(one["severity"])):
        if one["code"] in first:
            more.append(one)
        else:
            first[one["code"]] = one
    return Cause(tuple(first.values()), tuple(more))


# -- drawn -------------------------------------------------------------------------------------------------


_ELSEWHERE = "--format json has everything"


class Drawing:
    """The list, with the runs that the script plays; a page is filled up to a limit."""

    def __init__(self, fixed: Mapping[str, Any], titles: Mapping[str, str] | None = None) -> None:
        self.runs: dict[str, Any] = {}
        self._fixed = fixed
        self._titles = titles or {}
        self._size = 0

    def section(self, found: Sequence[Cause]) -> Markup:
        if not found:
            return tag("p", "No run was found that breaks a guarantee, within the bounds.", class_="empty")
        entries: list[Markup] = []
        for place, one in enumerate(found):
            if self._size > BYTES_MAX:
                more = (
                    f"and {len(found) - place:,} more causes, left out to keep this page small; {_ELSEWHERE}"
                )
                entries.append(tag("p", more, class_="empty"))
                break
            entries.append(self._cause(one, place < OPEN_MAX))
        return tag(
            "section",
            tag("h2", "What can go wrong, by cause", id="causes"),
            _filters(found) if len(found) > 1 else None,
            entries,
            aria_labelledby="causes",
        )

    def example(self, one: Finding) -> Markup:
        """One finding of many that are alike: what it says, its run, its fix, and no place."""
        settings = [{**row, "origin": {"kind": row["component"]}} for row in one["settings"]]
        fixes = [
            {**fix, "changes": [{**change, "file": None, "line": None} for change in fix["changes"]]}
            for fix in one["fixes"]
        ]
        alike = {**one, "settings": settings, "fixes": fixes, "fingerprint": one["code"], "covers": ()}
        numbers = [pair for pair in one["evidence"]["numbers"].items() if pair[0] != "spent"]
        rest = [settings_table(settings), facts(numbers)]
        return tag("div", tag("p", one["message"]), self._run(alike), *_fix(alike), rest, class_="example")

    def _cause(self, cause: Cause, is_open: bool) -> Markup:
        worst = cause.worst
        if self._size > FULL_BYTES_MAX:
            brief = tag(
                "p", f"What happens is left out to keep this page small; {_ELSEWHERE}.", class_="note"
            )
            return self._entry(worst, [brief, *_fix(worst)], is_open)
        others = [self._finding(one) for one in cause.findings[1:]]
        also = [tag("h3", _also(worst)), others] if others else None
        places = _places(cause.more)
        return self._entry(
            worst, [_line(worst), self._run(worst), *_fix(worst), places, also, _more(worst)], is_open
        )

    def _finding(self, one: Finding) -> Markup:
        return self._entry(one, [self._run(one), _more(one)], False)

    def _entry(self, one: Finding, body: Sequence[Child], is_open: bool) -> Markup:
        tone = "toned-note" if one["severity"] == "note" else one["severity"]
        title, message = self._titles.get(one["code"]), message_of(one)
        summary = tag(
            "summary",
            tag("span", one["severity"], class_=f"severity {tone}"),
            tag("span", title or message, class_="title"),
            tag("span", one["code"], class_="code"),
            tag("span", message, class_="says") if title else None,
            tag("span", place_of(one["locations"][0]), class_="place"),
        )
        made = tag(
            "details",
            summary,
            tag("div", body, class_="body"),
            class_="finding",
            id=one["fingerprint"],
            data_severity=one["severity"],
            open=is_open,
        )
        self._size += len(made)
        return made

    def _run(self, one: Finding) -> Markup | None:
        evidence, name = one["evidence"], one["fingerprint"]
        if not evidence["trace"]:
            return None
        made = player(name, evidence["guarantee"], [*self._versions(one)], self.runs)
        self._size += len(in_json(self.runs[name]))
        return made

    def _versions(self, one: Finding) -> Iterator[Played]:
        yield Played("As configured", one["evidence"]["trace"])
        fixed = self._fixed.get(one["fingerprint"])
        if fixed is not None:
            tone, ending = ("good", fixed["ending"]) if fixed["ending"] else ("", None)
            yield Played(f"With {_changes(one['fixes'][0])}", fixed["trace"], tone, ending)


def _filters(found: Sequence[Cause]) -> Markup:
    boxes = []
    for severity in SEVERITIES:
        count = sum(cause.worst["severity"] == severity for cause in found)
        if count:
            box = tag("input", type="checkbox", value=severity, checked=True)
            boxes.append(tag("label", box, f"{count} {severity}{'' if count == 1 else 's'}"))
    search = tag("input", type="search", placeholder="Filter by any word", aria_label="filter by any word")
    return tag(
        "form", search, boxes, tag("span", class_="count", role="status"), class_="filters", hidden=True
    )


def _changes(fix: Mapping[str, Any]) -> str:
    return ", ".join(
        f"without {change['key']}" if change["action"] == "remove" else f"{change['key']}={change['to']}"
        for change in fix["changes"]
    )


def place_of(at: Mapping[str, Any]) -> str:
    return str(at["file"]) if at["line"] is None else f"{at['file']}:{at['line']}"


def _setting_at(one: Finding) -> str | None:
    """The line that a finding is about, as far as its settings tell."""
    at = one["locations"][0]
    for setting in one["settings"]:
        origin = setting["origin"]
        if at["line"] is not None and (origin.get("file"), origin.get("line")) == (at["file"], at["line"]):
            return f"{setting['key']}={setting['value']}"
    return None


def _line(one: Finding) -> Markup | None:
    text = _setting_at(one)
    if text is None:
        return None
    number = one["locations"][0]["line"]
    return tag("div", tag("span", number, class_="number"), tag("mark", text), class_="line")


def _also(one: Finding) -> str:
    text = _setting_at(one)
    return f"What else {text} does" if text is not None else "The same change also fixes"


def _places(more: Sequence[Finding]) -> Markup | None:
    if not more:
        return None
    marks: dict[str, str | None] = {}
    for one in reversed(more):
        # A link leads to the first of its places.
        for number, name in enumerate(one["deployments"] or (None,)):
            text = " · ".join(filter(None, (place_of(one["locations"][0]), name)))
            marks[text] = None if number else one["fingerprint"]
    names = sorted(marks)
    shown = [tag("li", name, id=marks[name]) for name in names[:50]]
    rest = tag("li", f"and {len(names) - 50} more") if len(names) > 50 else None
    return tag(
        "details",
        tag("summary", f"The same in {len(names)} more {'place' if len(names) == 1 else 'places'}"),
        tag("ul", shown, rest),
        class_="more",
    )


def _fix(one: Finding) -> Iterator[Markup | None]:
    if one["assuming"]:
        yield facts([("Assuming", "; ".join(one["assuming"]))])
    for fix in one["fixes"][:1]:
        checked = "the files were audited again with it: the finding is gone"
        if one["evidence"]["trace"]:
            checked = "the same question was asked again: no failing run is left within the bounds"
        if fix["condition"]:
            checked = "the same question was asked again: it depends on what is not in these files"
        yield tag("h3", "Fix")
        for change in fix["changes"]:
            yield _change(change)
        yield facts([("Checked", checked), ("Then it", fix["condition"]), ("Cost", fix["price"])])
    if one["advice"]:
        yield tag("h3", "To do")
        yield tag("ul", [tag("li", step) for step in one["advice"]])
    if one["covers"]:
        yield tag("p", f"This also fixes {', '.join(one['covers'])}.", class_="soft")


def _change(change: Mapping[str, Any]) -> Markup:
    place = f"{change['file']}:{change['line']}" if change["line"] else change["file"] or change["component"]
    gone = f"{change['key']}={change['from']}" if change["from"] is not None else None
    new = None if change["action"] == "remove" else f"{change['key']}={change['to']}"
    return tag(
        "div",
        tag("span", place, class_="file"),
        tag("del", gone) if gone else None,
        tag("ins", new) if new else None,
        class_="change",
    )


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup | None:
    rows = [[tag("dt", name), tag("dd", str(value))] for name, value in pairs if value]
    return tag("dl", rows, class_="facts") if rows else None


def _more(one: Finding) -> Markup:
    """What a sceptic wants to see: the settings, the numbers, how far the search went."""
    evidence = one["evidence"]
    numbers = [(name, value) for name, value in evidence["numbers"].items() if name != "spent"]
    states = f"{evidence['states']:,}" if evidence["states"] else None
    searched = [("Searched", evidence["bounds"]), ("States seen", states)]
    others = ", ".join(place_of(at) for at in one["locations"][1:])
    named = f"{one['code']} {one['name']}"
    link = tag("a", "Link to this finding", href=f"#{one['fingerprint']}")
    return tag(
        "details",
        tag("summary", "Settings, numbers, how far was searched"),
        settings_table(one["settings"]),
        facts([*numbers, *searched, ("Together with", others), ("Rule", named)]),
        tag("p", link),
        class_="more",
    )


def settings_table(settings: Sequence[Mapping[str, Any]]) -> Markup | None:
    rows = [
        tag(
            "tr",
            tag("td", tag("code", row["key"])),
            tag("td", tag("code", row["value"])),
            tag("td", origin_of(row["origin"]), class_="soft"),
        )
        for row in settings
    ]
    return wide("settings", tag("table", tag("tbody", rows), class_="plain")) if rows else None


def origin_of(origin: Mapping[str, Any]) -> str:
    note = origin.get("note", "")
    if "file" in origin:
        place = origin["file"] if origin.get("line") is None else f"{origin['file']}:{origin['line']}"
        return f"{place} ({note})" if note else str(place)
    return note or str(origin["kind"])
