"""Model and reality beside each other, as text."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Finding
from ..output.terminal import wrapped
from ..tell.run.build import run_of
from ..tell.run.text import legend_lines, run_lines
from .reproduce import Reproduction, Run
from .stage import Outcome, Step

_INDENT = "    "


def told(done: Reproduction, width: int) -> Iterator[str]:
    finding = done.finding
    place = f"{done.root.prefix}{finding.at}"
    yield f"{finding.code} {finding.name}: {place}"
    yield from _wrapped(finding.message, width)
    yield f"  played on a throw-away Kafka {done.release}"
    for line in done.changed:
        yield from _wrapped(f"not as audited: {line}", width)
    yield ""
    yield "As audited"
    yield from _run(done.broken, finding.evidence.guarantee, width)
    if done.fixed is not None:
        yield ""
        yield f"With the fix: {changes_text(finding)}"
        yield from _run(done.fixed, None, width)
    else:
        yield "no fix is offered, so nothing is played again"
    yield ""
    yield verdict(done)


def changes_text(finding: Finding) -> str:
    return ", ".join(
        f"{one.key}={one.after}" if one.after is not None else f"{one.key} removed"
        for one in finding.fixes[0].changes
    )


def verdict(done: Reproduction) -> str:
    """The last line: what was shown, and what was not."""
    if not done.broken.outcomes or (done.fixed is not None and not done.fixed.outcomes):
        return "Not played: the throw-away cluster failed"
    first = "reproduced" if done.broken.agrees else "NOT reproduced"
    if done.fixed is None:
        return f"{first} on Kafka {done.release}"
    second = "gone with the fix" if done.fixed.agrees else "STILL THERE with the fix"
    return f"{first} on Kafka {done.release}, {second}"


def _run(run: Run, guarantee: str | None, width: int) -> Iterator[str]:
    if run.model:
        yield "  the model:"
        yield from _steps(run.model, guarantee, width)
    else:
        yield "  the model: no failing run is left within the bounds"
    shown = run.shown
    if shown is None:
        yield f"  reality: {run.failure}"
        return
    yield "  reality:"
    yield from _steps(shown.trace, None, width)
    yield from _facts(shown, width)
    yield from _wrapped(f"so: {shown.words}{_tries(run)}", width)
    if run.failure:
        yield from _wrapped(f"one try failed: {run.failure}", width)


def _tries(run: Run) -> str:
    return f" (in {run.hits} of {len(run.outcomes)} tries)" if len(run.outcomes) > 1 else ""


def _steps(trace: tuple[Step, ...], guarantee: str | None, width: int) -> Iterator[str]:
    run = run_of(trace, guarantee)
    yield from run_lines(run, width, brief=True, indent=_INDENT, all_rows=False)
    for line in legend_lines(run, width - len(_INDENT), brief=True):
        yield f"{_INDENT}{line}"


def _facts(outcome: Outcome, width: int) -> Iterator[str]:
    for name, value in outcome.facts:
        yield from _wrapped(f"{name}: {value}", width)


def _wrapped(text: str, width: int) -> Iterator[str]:
    first, *more = wrapped(text, width - len(_INDENT) - 2)
    yield f"{_INDENT}{first}"
    yield from (f"{_INDENT}  {line}" for line in more)
