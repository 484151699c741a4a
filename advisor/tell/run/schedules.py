"""Runs on the clock: a schedule's cluster and producer second by second, and the outages of `audit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import brokers
from .brokers import broker, name_of
from .build import made
from .values import Cell, Column, Run, Said

Step = Mapping[str, Any]

# The words of a schedule file on the left, an operator's on the right.
_EVENTS = {
    "sigstop": "{b} freezes",
    "sigcont": "{b} goes on",
    "kill9": "{b} is killed",
    "term": "{b} begins to shut down",
    "start": "{b} is started",
    "wipe": "{b} loses its disk",
    "return": "{b} is back",
    "fence": "the cluster misses {b}",
    "heal": "{b} is reachable again",
    "lead": "{b} starts to lead",
    "follow": "{b} follows",
    "fetch": "{b} fetches",
    "shrink": "{b} falls out of sync",
    "stop": "{b} has shut down",
    "move": "leadership moves to {b}",
    "elect": "a leader is elected",
    "confirm": "the controller confirms the new ISR",
    "unisolate": "the network heals",
    "controller_kill9": "the controller is killed",
    "controller_start": "a controller is started",
    "controller_term": "the controller is shut down",
    "cut_off": "{b} is cut off",
}
_CUTS = {
    "brokers": "the leader is cut off from the other brokers and the controller",
    "minority": "the leader is cut off with a minority",
    "controller-only": "the leader cannot reach the controller",
    "replication-only": "followers cannot reach the leader",
}
_LEGEND_ENDS = (
    "15/5: the log ends at offset 15 (LEO), and up to 5 it is known to be on all in-sync replicas (HW)",
    "15: both",
)
_LEGEND_WAITING = "waiting: records sent, not answered yet"


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    told = [say(step) for step in trace]
    if "replicas" in trace[0]["state"] and "clients" in trace[0]["state"]:
        cells = brokers.broker_cells(trace, ends=True, logs=False)
        cells = [[cell._replace(text=_short(cell)) for cell in row] for row in cells]
        columns, rows = brokers.joined(
            brokers.broker_columns(trace),
            cells,
            [*_producer(trace), *brokers.cluster_facts(trace, knows=False)],
        )
        legend = [*brokers.legend(cells, False, False, logs=False), *_LEGEND_ENDS, _LEGEND_WAITING]
        run = made("schedule", trace, columns, rows, told, "", legend, brokers.subject(trace[0]))
        return _marked_by_role(run)
    names = list(dict.fromkeys(name for step in trace for name in step["state"]["cells"]))
    shown = {"acked": "confirmed"}
    columns = [Column(shown.get(name, name), shown.get(name, name), _kind(name)) for name in names]
    rows = [[_counted(step, name) for name in names] for step in trace]
    return made("timeline", trace, columns, rows, told, _ending(trace), [_LEGEND_WAITING])


def _marked_by_role(run: Run) -> Run:
    """Of brokers only who leads, who is in sync and who is down counts as a change: offsets move in every
    row."""
    rows = []
    for place, row in enumerate(run.rows):
        old = run.rows[place - 1].cells if place else row.cells
        cells = tuple(
            cell._replace(changed=cell.marks != before.marks) if column.kind == "broker" else cell
            for column, cell, before in zip(run.columns, row.cells, old, strict=True)
        )
        rows.append(row._replace(cells=cells))
    return run._replace(rows=tuple(rows))


def _short(cell: Cell) -> str:
    """Offsets grow all the time: the high watermark is told where it is behind."""
    leo, hw = cell.data["leo"], cell.data["hw"]
    return cell.text.replace(f"{leo}/{hw}", str(leo)) if leo == hw else cell.text


def _counted(step: Step, name: str) -> Cell:
    counts = step["state"].get("counts", {})
    data = {"count": counts[name]} if name in counts else {}
    return Cell(step["state"]["cells"].get(name, ""), data=data)


def _kind(name: str) -> str:
    return "fact" if name in ("leader", "ISR") else "client"


def _ending(trace: Sequence[Step]) -> str:
    failed = str(trace[-1]["state"]["cells"].get("failed", "0"))
    return "" if failed == "0" else f"{failed} records failed"


def _producer(trace: Sequence[Step]) -> list[tuple[Column, list[Cell]]]:
    """What the application has heard: counts, as the page's curves need them."""
    found = []
    for name, key in (("confirmed", "acked"), ("waiting", "waiting"), ("failed", "errors")):
        counts = [step["state"]["clients"]["producer"][key] for step in trace]
        numbers = [sum(one.values()) if isinstance(one, Mapping) else one for one in counts]
        if any(numbers):
            cells = [Cell(str(number) if number else "", data={"count": number}) for number in numbers]
            found.append((Column(name, name, "client"), cells))
    return found


def say(step: Step) -> Said:
    event = step["event"]
    notes = [note for effect in step["effects"] if (note := _effect(effect))]
    match event["name"]:
        case "send":
            return Said(f"{_many(event['records'])} are sent", tuple(notes))
        case "replicate":
            return Said(_copied(event), tuple(notes))
        case "isolate":
            kind = str(event.get("text", "")).partition(" ")[2]
            return Said(_CUTS.get(kind, "the network is cut"), tuple(notes))
        case "topic_config":
            return Said(f"the topic gets {str(event.get('text', '')).partition(' ')[2]}", tuple(notes))
        case "elect" if step["effects"]:
            who = step["effects"][0].split()[1]
            return Said(f"{name_of(who)} takes over", tuple(notes))
    text = _EVENTS.get(event["name"], event["name"].replace("_", " "))
    return Said(text.format(b=_who(event)), tuple(notes))


def _who(event: Mapping[str, Any]) -> str:
    return broker(event["broker"]) if "broker" in event else "a broker"


def _many(count: int) -> str:
    return f"{count} record" + ("" if count == 1 else "s")


def _copied(event: Mapping[str, Any]) -> str:
    if event.get("acked"):
        return f"{_many(event['acked'])} confirmed"
    return "records wait" if event.get("waits") else "records are copied"


def _effect(text: str) -> str:
    name, _, rest = text.partition(" ")
    what, _, how = rest.partition(" ")
    match name:
        case "elected":
            return "it is not in sync" if how == "unclean" else ""
        case "joined":
            return f"{name_of(what)} is in sync again"
        case "truncated":
            return f"{name_of(what)} cuts its log at {how.removeprefix('to ')}"
        case "failed":
            return f"{what} fails: {how}"
    return text
