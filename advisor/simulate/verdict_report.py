"""What `simulate` prints: verdicts with their bounds, and runs as a table, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..hookspecs import ModelSpec
from ..model import Setting
from ..output.terminal import terminal, wrapped
from ..tell.run import run_of
from ..tell.run.faults import faults_text, headline_text
from ..tell.run.text import legend_lines
from ..tell.run.text import run_lines as drawn_lines

Step = Mapping[str, Any]


# -- a run -------------------------------------------------------------------------------------------------


def run_lines(trace: Sequence[Step], guarantee: str | None = None) -> Iterator[str]:
    """The run as a table, in words for a reader who has never heard of an ISR, and what its signs mean."""
    run = run_of(trace, guarantee)
    width = terminal().width
    yield from drawn_lines(run, width)
    yield ""
    yield "In words:"
    numbers = len(str(len(run.rows)))
    for row in run.rows:
        first, *more = wrapped(row.words, width - numbers - 4)
        yield f"  {row.number:>{numbers}}  {first}"
        yield from (f"  {' ' * numbers}  {line}" for line in more)
    yield ""
    yield from legend_lines(run, width)


# -- a verdict ---------------------------------------------------------------------------------------------


def verdict_lines(entry: Mapping[str, Any], meaning: ModelSpec) -> Iterator[str]:
    """`entry` is a guarantee of the JSON; `meaning` what it says and what it means that it is broken."""
    name, trace = entry["guarantee"], entry["trace"]
    match entry["verdict"]:
        case "broken":
            yield f"BROKEN {name}: {meaning.broken}"
            yield f"  {entry['reason']}"
            if entry["given"]:
                yield "  in the run that the scenario gives"
            else:
                yield f"  the shortest run found; {entry['states']:,} states seen"
                yield f"  bounds: {entry['bounds']}"
        case "holds" if entry["given"]:
            yield f"{name}: not broken by the run that the scenario gives; other runs were not looked at"
        case "holds":
            yield f"{name}: no run found within these bounds ({meaning.says})"
            yield f"  bounds: {entry['bounds']}; {entry['states']:,} states, all seen"
        case _:
            yield f"UNKNOWN {name}: whether {meaning.says} could not be told"
            yield f"  {entry['reason']}"
            if entry["states"]:
                yield f"  {entry['states']:,} states seen"
    if trace:
        yield ""
        if entry["verdict"] == "unknown":
            yield "A run where it breaks:"
        yield from run_lines(trace, name)


def overview_line(entry: Mapping[str, Any]) -> str:
    words = {"broken": "BROKEN", "holds": "no run found", "unknown": "UNKNOWN"}
    asked = counts_text(entry["environment"], entry["faults"])
    states = f"{entry['states']:,} states" if entry["states"] is not None else ""
    line = f"  {entry['guarantee']:<22}{words[entry['verdict']]:<14}"
    detail = entry["reason"] or f"{states} within {entry['bounds']}"
    return f"{line}{asked}: {detail}"


def headline_lines(headline: Mapping[str, int | None]) -> Iterator[str]:
    yield from headline_text(headline)
    if headline["survives_lost"] is None:
        yield "how many brokers may be lost without a loss of acknowledged records is not known"
    if headline["writes_with_away"] is None:
        yield "with how many brokers down writes continue is not known"


def counts_text(environment: Mapping[str, int], faults: Mapping[str, int]) -> str:
    counted = faults_text(faults) or "no fault"
    free = faults_text(environment)
    return counted + (f"; besides, at any time: {free}" if free else "")


def opening_lines(data: Mapping[str, Any], changed: Sequence[str]) -> Iterator[str]:
    """How every scenario begins: its story, and what it is played on."""
    yield data["scenario"]["title"]
    yield ""
    yield from data["scenario"]["story"].splitlines()
    yield ""
    note = f" ({data['note']})" if "note" in data else ""
    yield f"Kafka {data['kafka_version']}{note}" + (f", changed: {', '.join(changed)}" if changed else "")
    yield from settings_lines(data["settings"])


def settings_lines(settings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (f"{row['component']}: {row['key']}", str(row["value"]), _origin(row["origin"])) for row in settings
    ]
    names = max((len(row[0]) for row in rows), default=0)
    values = max((len(row[1]) for row in rows), default=0)
    for name, value, origin in rows:
        yield f"  {name:<{names}}  {value:<{values}}  {origin}".rstrip()


def _origin(origin: Mapping[str, Any]) -> str:
    note = origin.get("note", "")
    if origin["kind"] == "file":
        place = f"{origin['file']}:{origin['line']}" if origin.get("line") else str(origin["file"])
        return f"{place} ({note})" if note else place
    if origin["kind"] == "assumed":
        return f"assumed: {note}" if note else "assumed"
    return note or str(origin["kind"])


def setting_row(component: str, setting: Setting) -> dict[str, Any]:
    # As report.build shows it, without loading the engine that it comes with.
    kind, at, note = setting.origin
    origin: dict[str, Any] = {"kind": kind}
    if at is not None:
        origin |= {"file": at.file, "line": at.line}
    if note:
        origin["note"] = note
    return {"component": component, "key": setting.key, "value": str(setting.value), "origin": origin}


def guarantee_entry(
    name: str,
    verdict: str,
    drawn: Any,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    reason: str | None = None,
    depends_on: Sequence[str] = (),
    given: bool = False,
) -> dict[str, Any]:
    """One guarantee of the JSON. `trace` is the same as that of a finding's evidence."""
    bounds = getattr(drawn, "bounds", None)
    return {
        "guarantee": name,
        "verdict": verdict,
        "reason": reason or getattr(drawn, "reason", None),
        "environment": dict(environment),
        "faults": dict(faults),
        "spent": dict(getattr(drawn, "faults", {})),
        "bounds": bounds.text() if bounds is not None else None,
        "states": getattr(drawn, "states", None),
        "witnesses": list(getattr(drawn, "witnesses", ())),
        "depends_on": list(depends_on),
        "given": given,
        "trace": [step.as_dict() for step in getattr(drawn, "trace", ())],
    }


# -- a leader-epoch-checkpoint -----------------------------------------------------------------------------


def checkpoint_answers(cache: Any, end: int | None) -> list[dict[str, Any]]:
    """What a follower is told that asks for each epoch; None: the end of the log, which was not stated."""
    latest = cache.latest_epoch()
    answers = []
    for entry in cache.entries:
        known = entry.epoch != latest or end is not None
        offset = cache.end_offset_for(entry.epoch, end or 0)[1] if known else None
        answers.append({"asked": entry.epoch, "start_offset": entry.start_offset, "end_offset": offset})
    return answers


def checkpoint_lines(file: str, answers: Sequence[Mapping[str, Any]], said: Sequence[str]) -> Iterator[str]:
    count = f"{len(answers)} leader epoch" + ("" if len(answers) == 1 else "s")
    yield f"{file}: {count} wrote to this replica's log."
    if answers:
        yield ""
        for answer in answers:
            end = "the end of the log" if answer["end_offset"] is None else answer["end_offset"]
            yield f"  asked for epoch {answer['asked']} → {end}"
    yield ""
    yield from said
    yield ""
    yield "A follower that (re)joins asks its leader where the last epoch of its own log ends and cuts there:"
    yield "so both hold the same records (KIP-101, Kafka 0.11 on)."
