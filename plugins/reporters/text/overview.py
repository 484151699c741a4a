"""Many causes on one screen: a line for each rule that is broken, at the end, where a terminal stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.api import printable

from ..causes import Cause, change_text, changes_of, count
from .finding import Look

_FIX_MIN = 16


def overview_lines(causes: Sequence[Cause], look: Look) -> Iterator[str]:
    """The worst first: the rule, at how many places, and what to change."""
    by_rule: dict[tuple[str, str], list[Cause]] = {}
    for cause in causes:
        by_rule.setdefault((cause.severity, cause.code), []).append(cause)
    rows = [
        (f"{severity}[{code}]", printable(group[0].title), count(_places(group), "place"), _fix(group))
        for (severity, code), group in by_rule.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    # Where all of it does not fit, the fix goes first, then the end of long titles.
    room = look.width - sum(widths) - 8
    titles = widths[1] if room >= _FIX_MIN else min(widths[1], look.width - widths[0] - widths[2] - 6)
    yield look.paint("In short:", "head")
    for (severity, _), (rule, title, places, fix) in zip(by_rule, rows, strict=True):
        line = (
            f"  {look.paint(rule, severity)}{' ' * (widths[0] - len(rule))}  {_cut(title, titles):<{titles}}"
        )
        line += f"  {places:<{widths[2]}}"
        if room >= _FIX_MIN:
            line += f"  {look.paint(_cut(fix, room), 'fix')}"
        yield line.rstrip()


def _places(causes: Sequence[Cause]) -> int:
    return len(
        {
            (one["locations"][0]["file"], one["locations"][0]["line"])
            for cause in causes
            for one in cause.findings
        }
    )


def _fix(causes: Sequence[Cause]) -> str:
    """What all of them take; of several fixes the first."""
    found = dict.fromkeys(changes_of(one) for cause in causes for one in cause.findings if one["fixes"])
    if not found:
        return ""
    first = next(one for cause in causes for one in cause.findings if one["fixes"])
    text = ", ".join(change_text(change) for change in first["fixes"][0]["changes"])
    return printable(text) + (", ..." if len(found) > 1 else "")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
