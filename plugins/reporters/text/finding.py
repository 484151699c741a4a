"""One cause as a block of text, as a compiler tells it: what, where, how it happens, the fix and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from advisor.api import message_of, printable, wrapped

from ..causes import Cause, Finding, also_text, change_text, changes_of

# Places that are named; --all names every one.
PLACES_MAX = 3
_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "head": "1",
    "place": "36",
    "mark": "1;31",
    "dim": "2",
    "fault": "31",
    "changed": "1",
    "ending": "1;31",
    "fix": "32",
}


class Look(NamedTuple):
    """How a report is to look: the options of the reporter."""

    width: int
    colour: bool
    all: bool
    runs: bool
    path_of: Callable[[str], str]
    line_of: Callable[[str, int, str | None], Any]

    def paint(self, text: str, style: str) -> str:
        if not self.colour or style not in _COLOURS or not text:
            return text
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"

    def place(self, location: Mapping[str, Any]) -> str:
        path = printable(self.path_of(location["file"]))
        return path if location["line"] is None else f"{path}:{location['line']}"


def look_of(options: Mapping[str, Any]) -> Look:
    return Look(
        options.get("width", 100),
        bool(options.get("colour")),
        bool(options.get("all")),
        bool(options.get("runs")),
        options.get("path_of", str),
        options.get("line_of", lambda file, line, key: None),
    )


def cause_lines(
    cause: Cause, titles: Mapping[str, str], look: Look, full: bool, legend: bool
) -> Iterator[str]:
    """`full`: with its run; `legend`: with what the signs of a run mean."""
    finding = cause.first
    head = look.paint(f"{cause.severity}[{cause.code}]", cause.severity)
    yield f"{head} {look.paint(printable(cause.title), 'head')}"
    yield from _where(finding, look)
    yield from _others(cause, look)
    if full:
        yield from _with(finding, look)
        yield from _run(finding, look, legend)
        yield from _numbers(finding, look)
    yield from _assuming(finding, look)
    yield from _labelled("Also", also_text(cause, titles), look)
    yield from _fix(cause, look)
    if full:
        yield from _labelled("More", f"kafka-advisor explain {cause.code}", look)


def _where(finding: Finding, look: Look) -> Iterator[str]:
    at = finding["locations"][0]
    more = len(finding["deployments"]) - 1
    of = f"  {printable(finding['deployment'])}" if finding["deployment"] else ""
    of += f" and {more} more" if more > 0 else ""
    place = look.place(at)
    room = look.width - 4 - len(place)
    yield f"  {look.paint(place, 'place')}{look.paint(of, 'dim') if len(of) <= room else ''}"
    message = printable(message_of(finding))
    excerpt = look.line_of(at["file"], at["line"], at["key"]) if at["line"] is not None else None
    if excerpt is None:
        yield from (f"  {line}" for line in wrapped(message, look.width - 2))
        return
    by_run = finding["evidence"]["class"] in ("trace", "budget")
    span = excerpt.meant(at["key"], finding["message"], by_run)
    yield from _excerpt(excerpt, span, at["line"], message, look)


def _excerpt(excerpt: Any, span: tuple[int, int], number: int, message: str, look: Look) -> Iterator[str]:
    """The line, the part that is meant underlined, and what is wrong with it."""
    margin = " " * len(str(number))
    bar = look.paint("│", "dim")
    room = look.width - len(margin) - 5
    text, start, end = _cut(excerpt.text, span, room)
    yield f"  {look.paint(str(number), 'dim')} {bar} {text}"
    under = " " * start + look.paint("^" * max(1, end - start), "mark")
    beside = room - max(end, start + 1) - 1
    if len(message) <= beside:
        yield f"  {margin} {bar} {under} {message}"
        return
    yield f"  {margin} {bar} {under}"
    yield from (f"  {margin} {bar} {line}" for line in wrapped(message, room))


def _cut(line: str, span: tuple[int, int], room: int) -> tuple[str, int, int]:
    """As much of the line as fits, with the part that is meant in it."""
    text, (start, end) = printable(line), span
    if len(text) != len(line):  # escapes have moved it
        start, end = 0, len(text)
    indent = min(start, len(text) - len(text.lstrip()))
    indent = max(0, indent - 2)
    text, start, end = text[indent:], start - indent, end - indent
    if len(text) <= room:
        return text, start, end
    if end <= room - 1:
        return text[: room - 1] + "…", start, end
    cut = max(0, min(start, end - room + 2))
    return ("…" + text[cut : cut + room - 2] + "…")[:room], start - cut + 1, min(end - cut + 1, room - 1)


def _others(cause: Cause, look: Look) -> Iterator[str]:
    """The other places of the same cause, folded."""
    key = cause.first["locations"][0]["key"]
    places = list(dict.fromkeys(_place_and_key(one["locations"][0], key, look) for one in cause.findings))[1:]
    if places:
        shown = places if look.all else places[:PLACES_MAX]
        more = len(places) - len(shown)
        text = "also at " + ", ".join(shown) + (f", +{more} more" if more else "")
        yield from (f"  {line}" for line in wrapped(text, look.width - 2, "  "))


def _place_and_key(at: Mapping[str, Any], first: str | None, look: Look) -> str:
    """With the key where it is another than the first one's."""
    return look.place(at) + (f" ({printable(at['key'])})" if at["key"] and at["key"] != first else "")


def _with(finding: Finding, look: Look) -> Iterator[str]:
    """The settings in files that decide besides the one that is shown."""
    at = finding["locations"][0]
    told = []
    for setting in finding["settings"]:
        origin = setting["origin"]
        if origin.get("file") is None or (origin["file"], origin["line"]) == (at["file"], at["line"]):
            continue
        place = look.place({"file": origin["file"], "line": origin["line"]})
        told.append(f"{printable(setting['key'])}={printable(setting['value'])} ({place})")
    if told:
        text = "together with " + ", ".join(dict.fromkeys(told))
        yield from (look.paint(f"  {line}", "dim") for line in wrapped(text, look.width - 2, "  "))


def _run(finding: Finding, look: Look, legend: bool) -> Iterator[str]:
    evidence = finding["evidence"]
    if not evidence["trace"]:
        return
    from advisor.api import faults_text, legend_lines, run_lines, run_of, spent_in

    run = run_of(evidence["trace"], evidence["guarantee"])
    faults = faults_text(spent_in(evidence["trace"]))
    yield look.paint("  How it happens" + (f" ({faults}):" if faults else ":"), "head")

    def paint(text: str, style: str) -> str:
        return look.paint(text, style)

    for line in run_lines(run, look.width, True, "    ", paint, look.runs or look.all):
        yield line if look.colour else printable(line)
    if legend:
        signs = legend_lines(run, look.width - 4, brief=True)
        yield from (look.paint(f"    {line}", "dim") for line in signs)


def _numbers(finding: Finding, look: Look) -> Iterator[str]:
    for name, value in finding["evidence"]["numbers"].items():
        if name != "spent":
            text = printable(f"{name}: {value}")
            yield from (f"  {line}" for line in wrapped(text, look.width - 2, "  "))


def _assuming(finding: Finding, look: Look) -> Iterator[str]:
    assumed = finding["assuming"]
    if assumed:
        text = printable(f"assuming: {'; '.join(assumed)}")
        yield from (f"  {line}" for line in wrapped(text, look.width - 2, "  "))


def _fix(cause: Cause, look: Look) -> Iterator[str]:
    finding = cause.first
    for fix in finding["fixes"][:1]:
        changes = _changes(finding, look)
        tried = _verified(fix, finding)
        if tried and len(changes) + len(tried) + 12 <= look.width:
            yield f"{_labelled('Fix', changes, look, 'fix')[0]}    {look.paint(tried, 'dim')}"
        else:
            yield from _labelled("Fix", changes, look, "fix")
            yield from _labelled("", tried, look, "dim")
        yield from _other_fixes(cause, look)
        if fix["price"]:
            yield from _labelled("Cost", fix["price"], look)
    for step in finding["advice"]:
        yield from _labelled("Do" if finding["fixes"] else "Fix", step, look)


def _other_fixes(cause: Cause, look: Look) -> Iterator[str]:
    """Where a place of the same cause takes another change."""
    others: dict[Any, list[Finding]] = {}
    for one in cause.findings:
        if one["fixes"] and changes_of(one) != changes_of(cause.first):
            others.setdefault(changes_of(one), []).append(one)
    for found in others.values():
        place = look.place(found[0]["locations"][0]) + (
            f" (+{len(found) - 1} more)" if len(found) > 1 else ""
        )
        yield from _labelled("", f"at {place}: {_changes(found[0], look)}", look)


def _changes(finding: Finding, look: Look) -> str:
    return ", ".join(_placed(change, finding, look) for change in finding["fixes"][0]["changes"])


def _placed(change: Mapping[str, Any], finding: Finding, look: Look) -> str:
    """With its file where that is another than the finding's."""
    text = change_text(change)
    if change["file"] is None or change["file"] == finding["locations"][0]["file"]:
        return text if change["action"] != "add" else f"add {text}"
    verb = "" if change["action"] == "remove" else "add " if change["action"] == "add" else "set "
    return f"{verb}{text} in {look.path_of(change['file'])}"


def _verified(fix: Mapping[str, Any], finding: Finding) -> str:
    if fix["condition"]:
        return f"tried: then it {fix['condition']}"
    if finding["evidence"]["class"] == "trace" and finding["evidence"]["trace"]:
        return "tried: no failing run is left within the bounds"
    return "tried: the finding is gone" if fix["verified"] else ""


def _labelled(label: str, text: str, look: Look, style: str = "") -> list[str]:
    """Fix   acks=all"""
    if not text:
        return []
    first, *more = wrapped(printable(text), look.width - 8)
    head = look.paint(f"  {label:<5}", "head")
    return [f"{head} {look.paint(first, style)}", *(f"        {look.paint(line, style)}" for line in more)]


def one_line(finding: Finding, look: Look) -> str:
    """For -q, and for programs that read lines: path:line: severity[code] message"""
    place = look.place(finding["locations"][0])
    return f"{place}: {finding['severity']}[{finding['code']}] {printable(finding['message'])}"


def titles_of(rules: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {rule["code"]: rule["title"] for rule in rules}
