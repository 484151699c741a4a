"""What `simulate` prints: verdicts with their bounds, and runs as a table, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model import Setting
from ..tell import transaction_words
from ..tell.run_table import trace_table
from ..tell.words import in_words

Step = Mapping[str, Any]


# -- the table of a run ------------------------------------------------------------------------------------


def run_table(trace: Sequence[Step]) -> list[str]:
    """Event; leader and its epoch, in-sync replicas; every replica's log with LEO and HW; the LEOs that the
    leader believes its followers to have; what followed. Columns that say nothing are left out."""
    # A model that keeps the leader's view of its followers keeps their high watermarks, too.
    detailed = any(step["state"]["remote_leo"] for step in trace)
    rows = [_row(step, detailed) for step in trace]
    heads = [
        "",
        "event",
        "leader",
        "epoch",
        "ISR",
        "ELR",
        "HW",
        *_brokers(trace, detailed),
        "leader knows",
        "on the wire",
        "effects",
    ]
    used = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    widths = {column: max(len(heads[column]), *(len(row[column]) for row in rows)) for column in used}
    lines = ["  " + "  ".join(heads[column].ljust(widths[column]) for column in used).rstrip()]
    for row in rows:
        lines.append("  " + "  ".join(row[column].ljust(widths[column]) for column in used).rstrip())
    return lines


def _brokers(trace: Sequence[Step], detailed: bool) -> list[str]:
    what = "log LEO/HW" if detailed else "log LEO"
    return [f"b{replica['id']}: {what}" for replica in trace[0]["state"]["replicas"]]


def _row(step: Step, detailed: bool) -> list[str]:
    state = step["state"]
    heard = (f"b{broker}={'?' if leo is None else leo}" for broker, leo in state["remote_leo"].items())
    producer = state["clients"].get("producer", {})
    wire = (f"{request['record']}>b{request['broker']}" for request in producer.get("in_flight", ()))
    return [
        str(step["step"]),
        str(step["event"].get("text", step["event"]["name"])),
        "none" if state["leader"] is None else f"b{state['leader']}",
        str(state["epoch"]),
        ",".join(f"b{broker}" for broker in state["isr"]) or "none",
        ",".join(f"b{broker}" for broker in state["elr"]),
        "" if detailed else str(state["hw"]),
        *(_replica(replica, detailed) for replica in state["replicas"]),
        " ".join(heard),
        " ".join(wire),
        ", ".join(str(effect) for effect in step["effects"]),
    ]


def _replica(replica: Mapping[str, Any], detailed: bool) -> str:
    log = " ".join(str(record) for record in replica["log"])
    ends = f"{replica['leo']}/{replica['hw']}" if detailed else str(replica["leo"])
    return f"[{log}] {ends}" + ("" if replica["alive"] else " down")


_LEGEND = (
    "b0, b1: brokers, each with a copy of the log. LEO: where a copy ends. HW (high watermark): up to where",
    "a broker knows all in-sync copies to reach. ISR: the in-sync replicas, those that acks=all waits for.",
)
_KNOWS = (
    "leader knows: the LEO of each follower as its last fetch told; the follower's own log may be further."
)


def run_lines(trace: Sequence[Step]) -> Iterator[str]:
    if trace[0]["state"].get("kind") == "transaction":
        yield from trace_table(trace)
        yield ""
        yield "In words:"
        yield from transaction_words.in_words(trace)
        yield ""
        yield from transaction_words.LEGEND
        return
    yield from run_table(trace)
    yield ""
    yield "In words:"
    yield from in_words(trace)
    yield ""
    yield from _LEGEND
    if any(step["state"]["remote_leo"] for step in trace):
        yield _KNOWS
    marked = (record for step in trace for replica in step["state"]["replicas"] for record in replica["log"])
    if any("@" in str(record) for record in marked):
        yield "r2@1: record r2, written under leader epoch 1."


# -- a verdict ---------------------------------------------------------------------------------------------


def verdict_lines(entry: Mapping[str, Any], meaning: tuple[str, str]) -> Iterator[str]:
    """`entry` is a guarantee of the JSON; `meaning` what it says and what it means that it is broken."""
    name, trace = entry["guarantee"], entry["trace"]
    match entry["verdict"]:
        case "broken":
            yield f"BROKEN {name}: {meaning[1]}"
            yield f"  {entry['reason']}"
            if entry["given"]:
                yield "  in the run that the scenario gives"
            else:
                yield f"  the shortest run found; {entry['states']:,} states seen"
                yield f"  bounds: {entry['bounds']}"
        case "holds" if entry["given"]:
            yield f"{name}: not broken by the run that the scenario gives; other runs were not looked at"
        case "holds":
            yield f"{name}: no run found within these bounds ({meaning[0]})"
            yield f"  bounds: {entry['bounds']}; {entry['states']:,} states, all seen"
        case _:
            yield f"UNKNOWN {name}: whether {meaning[0]} could not be told"
            yield f"  {entry['reason']}"
            if entry["states"]:
                yield f"  {entry['states']:,} states seen"
    if trace:
        yield ""
        if entry["verdict"] == "unknown":
            yield "A run where it breaks:"
        yield from run_lines(trace)


def overview_line(entry: Mapping[str, Any]) -> str:
    words = {"broken": "BROKEN", "holds": "no run found", "unknown": "UNKNOWN"}
    asked = counts_text(entry["environment"], entry["faults"])
    states = f"{entry['states']:,} states" if entry["states"] is not None else ""
    line = f"  {entry['guarantee']:<22}{words[entry['verdict']]:<14}"
    detail = entry["reason"] or f"{states} within {entry['bounds']}"
    return f"{line}{asked}: {detail}"


def headline_lines(headline: Mapping[str, int | None]) -> Iterator[str]:
    lost, away = headline["survives_lost"], headline["writes_with_away"]
    if lost is None:
        yield "how many brokers may be lost for good without a loss of acknowledged records is not known"
    else:
        yield f"acknowledged records survive the loss for good of {_count(lost)}"
    if away is None:
        yield "with how many brokers away writes go on is not known"
    else:
        yield f"writes go on with {_count(away)} away"


def _count(number: int) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")


def counts_text(environment: Mapping[str, int], faults: Mapping[str, int]) -> str:
    counted = ", ".join(f"{name} {count}" for name, count in sorted(faults.items())) or "no fault"
    free = ", ".join(f"{name} {count}" for name, count in sorted(environment.items()))
    return counted + (f" (free: {free})" if free else "")


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
