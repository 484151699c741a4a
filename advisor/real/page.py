"""Model and reality on a page: each run to play, and what was seen of the real one beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..tell.html.causes import facts
from ..tell.html.document import document, top
from ..tell.html.markup import Child, join, tag
from ..tell.html.player import SCRIPTS, STYLES, Played, player
from .reproduce import Reproduction, Run
from .side_by_side import changes_text, told, verdict

_WIDTH = 110


def page(done: Reproduction) -> str:
    finding = done.finding
    runs: dict[str, Any] = {}
    parts: list[Child] = [
        tag("h1", f"{finding.code} on a real Kafka {done.release}"),
        tag("p", finding.message, class_="lead"),
        tag("p", verdict(done), class_="good" if _agrees(done) else "error"),
        *_part("As audited", "broken", done.broken, finding.evidence.guarantee, runs),
    ]
    if done.fixed is not None:
        parts += _part(f"With the fix: {changes_text(finding)}", "fixed", done.fixed, None, runs)
    if done.changed:
        parts += [tag("h2", "Not as audited"), tag("ul", [tag("li", one) for one in done.changed])]
    transcript = "\n".join(told(done, _WIDTH))
    parts.append(
        tag("details", tag("summary", "The whole transcript"), tag("pre", transcript), class_="transcript")
    )
    body = join(top("reproduce", f"Kafka {done.release}"), tag("main", parts))
    scripts = ("dom.js", "theme.js", *SCRIPTS, "findings.js", "audit.js")
    title = f"Kafka: {finding.code} on a real cluster"
    return document(title, body, ("base.css", *STYLES, "findings.css"), scripts, {"runs": runs})


def _agrees(done: Reproduction) -> bool:
    return done.broken.agrees and (done.fixed is None or done.fixed.agrees)


def _part(title: str, name: str, run: Run, guarantee: str | None, runs: dict[str, Any]) -> Iterator[Child]:
    yield tag("h2", title)
    tone = "error" if run.wanted else "good"
    versions = [Played("The model", run.model, tone, None if run.wanted else "")] if run.model else []
    shown = run.shown
    if shown is not None:
        tone = "error" if shown.seen else "good"
        versions.append(Played("Reality", shown.trace, tone, shown.words))
    if versions:
        yield player(f"real-{name}", guarantee, versions, runs)
    if shown is None:
        yield tag("p", run.failure, class_="error")
        return
    tries = f"{run.hits} of {len(run.outcomes)}" if len(run.outcomes) > 1 else None
    yield facts([("Seen", shown.words), *shown.facts, ("Tries in which the harm was done", tries)])
