"""A run as the player draws it: the rows of `tell.run` with what each stage needs besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...sim.log.amounts import size
from ..run.build import run_of
from ..run.values import Row, Run, clock

Step = Mapping[str, Any]
_BROKERS = ("partition", "producer", "schedule")


def frames(trace: Sequence[Step], guarantee: str | None, ending: str | None = None) -> dict[str, Any]:
    """`ending` in the place of the run's own: what the faults come to with other settings."""
    run = run_of(trace, guarantee)
    rows = [_row(row) for row in run.rows]
    drawn: dict[str, Any] = {"kind": run.kind, "ending": _sentence(run.ending if ending is None else ending)}
    if run.kind in _BROKERS:
        drawn["scale"] = max((one["leo"] for step in trace for one in step["state"]["replicas"]), default=0)
        for place, (row, step) in enumerate(zip(rows, trace, strict=True)):
            row |= _partition(run, place, step, trace[place - 1] if place else None)
        if run.kind == "schedule":
            _add_counts(drawn, rows, trace)
        if ending is None:
            _mark_ending(rows[-1], guarantee)
    else:
        if run.kind in ("group", "told group") and _has_members(trace):
            _add_group(drawn, rows, trace, bool(ending is None))
        elif run.kind == "timeline":
            _add_counts(drawn, rows, trace)
        elif run.kind == "transaction":
            _add_transactions(rows, trace, guarantee if ending is None else None)
        elif run.kind == "log":
            _add_segments(rows, trace)
        drawn["columns"] = [{"id": one.id, "title": one.title, "kind": one.kind} for one in run.columns]
        for row, told in zip(rows, run.rows, strict=True):
            row["cells"] = [
                {"text": cell.text, **({"data": dict(cell.data)} if cell.data else {})} for cell in told.cells
            ]
    drawn["rows"] = rows
    return drawn


def _sentence(text: str) -> str:
    """A capital letter, unless it begins with the name of a record: r0."""
    if not text:
        return ""
    first = text[0] if text[1:2].isdecimal() else text[0].upper()
    return f"{first}{text[1:].rstrip('.')}."


def _row(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"words": row.words}
    if row.t_ms is not None:
        found |= {"t": row.t_ms, "time": clock(row.t_ms)}
    if row.fault:
        found["fault"] = True
    return found


# -- a partition -------------------------------------------------------------------------------------------


def _partition(run: Run, place: int, step: Step, before: Step | None) -> dict[str, Any]:
    cells = [
        {"id": one["id"], **cell.data}
        for one, cell in zip(step["state"]["replicas"], run.rows[place].cells, strict=False)
    ]
    return {
        "epoch": step["state"]["epoch"],
        "brokers": cells,
        "client": _client(step),
        "flows": [*_flows(step, before)],
    }


def _client(step: Step) -> dict[str, Any]:
    """What the producer knows of each record; where there are many, in numbers."""
    clients = step["state"]["clients"]
    producer = clients.get("producer", {})
    if "sent" in producer:
        failed = sum(producer["errors"].values())
        counts = [(producer["acked"], "confirmed"), (producer["waiting"], "waiting"), (failed, "failed")]
        text = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        return {"records": [], "text": text or "no record is sent yet"}
    statuses: dict[str, str] = {}
    wire = {request["record"] for request in producer.get("in_flight", ())}
    queue = producer.get("queue", ())
    for record in clients.get("unacked", ()):
        statuses[record] = "sent" if record in wire else "queued" if record in queue else "waiting"
    statuses |= dict.fromkeys(clients.get("acked", ()), "confirmed")
    statuses |= dict.fromkeys(clients.get("failed", ()), "failed")
    for effect in step["effects"]:
        name, _, rest = effect.partition(" ")
        if name == "rejected":
            statuses.setdefault(rest.partition(" ")[0], "refused")
    records = [{"record": record, "status": statuses[record]} for record in sorted(statuses)]
    return {"records": records, **({} if producer.get("alive", True) else {"alive": False})}


def _flows(step: Step, before: Step | None) -> Iterator[dict[str, Any]]:
    """What goes from whom to whom in this step; None is the producer."""
    event, state = step["event"], step["state"]
    leader = state["leader"] if before is None else before["state"]["leader"]
    names = {effect.partition(" ")[0]: effect.partition(" ")[2] for effect in step["effects"]}
    match event["name"]:
        case "produce" | "handle":
            to = _receiver(step, before, leader)
            if to is not None and "dropped" not in names:
                yield {"from": None, "to": to, "label": event["record"], "tone": "send"}
            if to is not None and "rejected" in names:
                yield {"from": to, "to": None, "label": "refused", "tone": "refuse"}
        case "fetch" | "write" if leader is not None:
            yield from _copies(event, state, before, leader)
        case "lost_response":
            yield {"from": leader, "to": None, "label": "answer lost", "tone": "refuse"}
        case "lost_request":
            yield {"from": None, "to": leader, "label": f"{event['record']} lost", "tone": "refuse"}
        case "handle_late":
            yield {"from": None, "to": leader, "label": event["record"], "tone": "send"}
        case "retriable_error":
            yield {"from": leader, "to": None, "label": "try again", "tone": "refuse"}
        case _:
            pass
    if "acked" in names and leader is not None and "dropped" not in names:
        record = names["acked"].partition(" ")[0]
        yield {"from": leader, "to": None, "label": f"{record} is stored", "tone": "confirm"}


def _receiver(step: Step, before: Step | None, leader: int | None) -> int | None:
    event = step["event"]
    if "broker" in event:
        number: int = event["broker"]
        return number
    if event["name"] == "handle" and before is not None:
        for request in before["state"]["clients"]["producer"]["in_flight"]:
            if request["record"] == event["record"] and request["answer"] is None:
                found: int = request["broker"]
                return found
    return leader


def _copies(event: Mapping[str, Any], state: Mapping[str, Any], before: Step | None, leader: int) -> Any:
    """A follower that has more than before has it from its leader."""
    for place, one in enumerate(state["replicas"]):
        old = before["state"]["replicas"][place]["log"] if before is not None else []
        if one["id"] != leader and one["log"] != old and len(one["log"]) > len(old):
            new = [record.partition("@")[0] for record in one["log"][len(old) :]]
            label = " ".join(new) if len(new) <= 3 else f"{len(new)} records"
            yield {"from": leader, "to": one["id"], "label": label, "tone": "copy"}
    if event["name"] == "fetch" and "broker" in event and event["broker"] != leader:
        asked = state["remote_leo"].get(str(event["broker"]))
        if asked is not None:
            label = f"has up to offset {asked}"
            yield {"from": event["broker"], "to": leader, "label": label, "tone": "send"}


def _mark_ending(row: dict[str, Any], guarantee: str | None) -> None:
    """The records that the run is about: lost, stored twice, stored late."""
    if guarantee == "acked-records-survive":
        _mark_lost(row)
    for broker in row["brokers"]:
        names = [record.partition("@")[0] for record in broker["log"]]
        marks = {}
        for offset, name in enumerate(names):
            if guarantee == "records-stored-once" and name in names[:offset]:
                marks[offset] = "twice"
            if guarantee == "send-order-kept" and any(int(n[1:]) > int(name[1:]) for n in names[:offset]):
                marks[offset] = "late"
        if marks:
            broker["marks"] = marks


def _mark_lost(row: dict[str, Any]) -> None:
    confirmed = [one for one in row["client"]["records"] if one["status"] == "confirmed"]
    leading = [one for one in row["brokers"] if one["leads"] and one["alive"]]
    held = leading or [one for one in row["brokers"] if not one["gone"]]
    for one in confirmed:
        has = [{record.partition("@")[0] for record in broker["log"]} for broker in held]
        if not any(one["record"] in log for log in has):
            one["status"] = "lost"
            for broker in leading:
                broker.setdefault("missing", []).append(one["record"])


# -- a group -----------------------------------------------------------------------------------------------

_GOES_WRONG = (
    "killed",
    "lost",
    "left-slow",
    "member_crash",
    "drop",
    "dies",
    "loses",
)


def _has_members(trace: Sequence[Step]) -> bool:
    return all("members" in step["state"] or "owned" in step["state"] for step in trace)


def _add_group(
    drawn: dict[str, Any], rows: list[dict[str, Any]], trace: Sequence[Step], broken: bool
) -> None:
    owned = [_owned(step["state"]) for step in trace]
    every = sorted({partition for members in owned for _, _, owns in members for partition in owns})
    for row, step, members in zip(rows, trace, owned, strict=True):
        held = {partition for _, alive, owns in members for partition in owns if alive}
        row["members"] = [{"id": name, "alive": alive, "owns": owns} for name, alive, owns in members]
        row["unread"] = [partition for partition in every if partition not in held]
        event = step["event"]
        bad = event["name"] in _GOES_WRONG or event["name"].endswith("Exception")
        good = event["name"] in ("assigned", "commit", "deliver")
        row["event"] = {"member": event.get("member"), "tone": "bad" if bad else "good" if good else ""}
        if "processed" in step["state"]:
            row["partitions"] = _records(step["state"], broken and step is trace[-1])
    # What is over within the moment was never missed.
    for row, after in zip(reversed(rows[:-1]), reversed(rows[1:]), strict=True):
        if "t" in row and row["t"] == after["t"]:
            row["unread"] = [partition for partition in row["unread"] if partition in after["unread"]]
    # Before the first of a group has anything, nothing is amiss.
    for row in rows:
        if any(member["owns"] for member in row["members"]):
            break
        row["unread"] = []
    drawn["spans"] = [*_busy(trace)]


def _owned(state: Mapping[str, Any]) -> list[tuple[str, bool, list[int]]]:
    if "members" in state:
        return [
            (one["id"], one["alive"], [int(name[1:]) for name in one["positions"]])
            for one in state["members"]
        ]
    return [(name, True, list(partitions)) for name, partitions in state["owned"].items()]


def _records(state: Mapping[str, Any], last: bool) -> list[dict[str, Any]]:
    """Of each partition what became of its records, and up to where it is committed."""
    processed = state["processed"]
    in_hand = {record for one in state["members"] for record in one["in_hand"]}
    kept = state.get("stored") or state["committed"]
    positions = [one["positions"] for one in state["members"]]
    found = []
    for name, committed in kept.items():
        known = [
            int(one.partition(":")[2]) + 1 for one in (*processed, *in_hand) if one.startswith(f"{name}:")
        ]
        end = max([committed or 0, *known, *(where.get(name, 0) for where in positions), 1])
        statuses = []
        for offset in range(end):
            record = f"{name}:{offset}"
            times = processed.get(record, 0)
            status = "twice" if times > 1 else "done" if times else "hand" if record in in_hand else "waiting"
            if last and status == "waiting" and offset < (committed or 0):
                status = "skipped"
            statuses.append(status)
        found.append({"id": int(name[1:]), "records": statuses, "committed": committed})
    return found


def _busy(trace: Sequence[Step]) -> Iterator[dict[str, Any]]:
    """From which step to which a member does not poll: it stands still, or works on what it has polled."""
    for place, step in enumerate(trace):
        event = step["event"]
        if event["name"] not in ("polls", "stalls"):
            continue
        after = (n for n in range(place + 1, len(trace)) if _ends_work(trace[n]["event"], event["member"]))
        end = next(after, None)
        yield {"member": event["member"], "from": place, "to": end, "kind": event["name"]}


def _ends_work(event: Mapping[str, Any], member: str) -> bool:
    return event.get("member") == member and event["name"] != "left-slow"


# -- an outage ---------------------------------------------------------------------------------------------


# A producer hears nothing from a cluster that something of this kind has hit.
_STRIKES = ("sigstop", "kill9", "term", "isolate", "cut_off", "stop", "controller_kill9", "controller_term")


def _add_counts(drawn: dict[str, Any], rows: list[dict[str, Any]], trace: Sequence[Step]) -> None:
    outages: list[dict[str, Any]] = []
    for place, (row, step) in enumerate(zip(rows, trace, strict=True)):
        row["counts"] = _counts(step["state"])
        row["leader"], row["isr"] = _office(step["state"])
        if outages and outages[-1]["to"] is None and place:
            # It is over when something is confirmed again.
            if row["counts"].get("confirmed", 0) > rows[place - 1]["counts"].get("confirmed", 0):
                outages[-1]["to"] = max(place - 1, outages[-1]["from"] + 1)
        elif step["event"]["name"] in _STRIKES:
            outages.append({"from": place, "to": None})
    drawn["outages"] = outages


def _counts(state: Mapping[str, Any]) -> dict[str, int]:
    if "clients" in state:
        producer = state["clients"]["producer"]
        failed = sum(producer["errors"].values())
        return {"confirmed": producer["acked"], "waiting": producer["waiting"], "failed": failed}
    counts: dict[str, int] = state.get("counts", {})
    return {("confirmed" if name == "acked" else name): count for name, count in counts.items()}


def _office(state: Mapping[str, Any]) -> tuple[str, str]:
    """Who leads and who is in sync, in words."""
    if "cells" not in state:
        leader, isr = state["leader"], state["isr"]
    else:
        cells = state["cells"]
        leader = None if cells.get("leader", "none") == "none" else cells["leader"][1:]
        isr = [one[1:] for one in cells.get("ISR", "none").split(",") if one != "none"]
    told = "no leader" if leader is None else f"broker {leader} leads"
    return told, f"in sync: {', '.join(map(str, isr)) or 'nobody'}"


# -- transactions and segments -----------------------------------------------------------------------------


def _add_transactions(rows: list[dict[str, Any]], trace: Sequence[Step], guarantee: str | None) -> None:
    for row, step in zip(rows, trace, strict=True):
        state = step["state"]
        row |= {
            "log": state["log"],
            "lso": state.get("lso"),
            "position": state["reader"]["position"],
            "read": state["reader"]["read"],
            "parties": [*_parties(state)],
        }
    if guarantee == "only-committed-read":
        rows[-1]["wrong"] = [e.removeprefix("read ") for e in trace[-1]["effects"] if e.startswith("read ")]


_PHASES = {
    "dead": "failed",
    "zombie": "failed",
    "fenced": "failed",
}


def _parties(state: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    if "coordinator" in state:
        phase, epoch = state["coordinator"]["transaction"], state["coordinator"]["epoch"]
        told = "no transaction" if phase == "none" else f"transaction {phase}"
        yield {"key": "coordinator", "text": f"Coordinator: {told}, epoch {epoch}", "tone": ""}
    for name, one in state["producers"].items():
        way = f", {' '.join(one['on_the_way'])} on the way" if one["on_the_way"] else ""
        yield {"key": name, "text": f"{name}: {one['phase']}{way}", "tone": _PHASES.get(one["phase"], "")}


def _add_segments(rows: list[dict[str, Any]], trace: Sequence[Step]) -> None:
    for row, step in zip(rows, trace, strict=True):
        kept = ("base", "first_ms", "last_ms", "closed")
        row["segments"] = [
            {**{name: one[name] for name in kept}, "size": size(one["bytes"])}
            for one in step["state"]["segments"]
        ]
        row["more"] = step["state"]["more"]
