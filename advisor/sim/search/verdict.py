"""What the simulator answers: a verdict, its bounds, and the run that breaks a guarantee.

A trace is plain data (words, numbers, lists), made once when a run is found: it prints as a table, goes
into the JSON report as it is, and comes back from a cache as it went in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ...tuples import NamedTuple


class Effect(NamedTuple):
    """What an event did, in the past participle: `acked r0`, `elected b1 clean`."""

    name: str
    subject: str = ""
    how: str = ""

    def text(self) -> str:
        return " ".join(part for part in self if part)


class Bounds(NamedTuple):
    """The smallest model that can break a guarantee, and how far it is searched.

    `note` says in words what was scaled down ("RF 5 searched at 3 with the same margin").
    """

    replicas: int
    records: int
    elections: int
    fetch: str = "atomic"  # atomic: one event brings a follower level; rounds: request and answer are two
    follower_hw: bool = False  # followers keep a high watermark of their own, one round behind the leader's
    isr_changes: str = "atomic"  # atomic, or proposed: the leader proposes, the controller confirms
    committed: int = 0  # records that every replica holds, committed and on disk, before the run begins
    # Beyond it the verdict is unknown. So many are the same on every machine; a second or two are not.
    states: int = 50_000
    note: str = ""

    def text(self) -> str:
        records = f"{self.records} record" + ("" if self.records == 1 else "s")
        if self.replicas == 1 and not self.elections:
            return f"{records}, {self.note}"  # a model without replication
        parts = [
            f"{self.replicas} replicas",
            records,
            f"{self.elections} election" + ("" if self.elections == 1 else "s"),
            "atomic fetch" if self.fetch == "atomic" else "fetch in rounds",
        ]
        if self.follower_hw:
            parts.append("follower HW kept")
        if self.committed:
            parts.insert(2, f"{self.committed} committed before")
        if self.isr_changes != "atomic":
            parts.append("ISR changes proposed and confirmed")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


class Step(NamedTuple):
    """One event of a run with what it did and the state after it, as in the JSON report."""

    number: int
    event: Mapping[str, Any]  # {name, text, ...}
    effects: tuple[str, ...]
    state: Mapping[str, Any]  # leader, epoch, isr, elr, hw, replicas, remote_leo, clients; or kind and cells
    t_ms: int | None = None  # only in runs on a clock

    def text(self) -> str:
        return "  ".join(cell for cell in cells(self, bool(self.state["remote_leo"])) if cell)

    def as_dict(self) -> dict[str, Any]:
        return {
            "step": self.number,
            **({} if self.t_ms is None else {"t_ms": self.t_ms}),
            "event": dict(self.event),
            "effects": list(self.effects),
            "state": dict(self.state),
        }


Trace: TypeAlias = tuple[Step, ...]


class Holds(NamedTuple):
    """No run found within these bounds. Never "proved", never "safe"."""

    bounds: Bounds
    states: int
    witnesses: tuple[str, ...]

    @property
    def verdict(self) -> str:
        return "holds"

    def text(self) -> str:
        return f"holds: no run found within {self.bounds.text()} ({self.states:,} states)"


class Broken(NamedTuple):
    guarantee: str
    trace: Trace
    faults: Mapping[str, int]  # those the run spends, slow followers and the like included
    states: int
    bounds: Bounds
    reason: str

    @property
    def verdict(self) -> str:
        return "broken"

    def text(self) -> str:
        return f"broken {self.guarantee}: {self.reason}"


class Unknown(NamedTuple):
    reason: str
    decided_by: tuple[str, ...] = ()
    bounds: Bounds | None = None
    states: int = 0

    @property
    def verdict(self) -> str:
        return "unknown"

    def text(self) -> str:
        return f"unknown: {self.reason}"


Verdict: TypeAlias = Holds | Broken | Unknown


def as_dict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON-able data, for the cache on disk."""
    match verdict:
        case Holds(bounds, states, witnesses):
            return {
                "verdict": "holds",
                "bounds": bounds._asdict(),
                "states": states,
                "witnesses": list(witnesses),
            }
        case Broken(guarantee, trace, faults, states, bounds, reason):
            return {
                "verdict": "broken",
                "guarantee": guarantee,
                "trace": [step.as_dict() for step in trace],
                "faults": dict(faults),
                "states": states,
                "bounds": bounds._asdict(),
                "reason": reason,
            }
        case Unknown(reason, decided_by, bounds_or_none, states):
            return {
                "verdict": "unknown",
                "reason": reason,
                "decided_by": list(decided_by),
                "bounds": None if bounds_or_none is None else bounds_or_none._asdict(),
                "states": states,
            }


def from_dict(data: Mapping[str, Any]) -> Verdict:
    """The verdict that `as_dict` wrote. Raises KeyError, TypeError or ValueError on anything else."""
    kind = data["verdict"]
    if kind == "holds":
        return Holds(Bounds(**data["bounds"]), data["states"], tuple(data["witnesses"]))
    if kind == "broken":
        trace = tuple(
            Step(step["step"], step["event"], tuple(step["effects"]), step["state"]) for step in data["trace"]
        )
        return Broken(
            data["guarantee"], trace, data["faults"], data["states"], Bounds(**data["bounds"]), data["reason"]
        )
    if kind == "unknown":
        bounds = data["bounds"]
        return Unknown(
            data["reason"],
            tuple(data["decided_by"]),
            None if bounds is None else Bounds(**bounds),
            data["states"],
        )
    raise ValueError(f"no verdict is called {kind!r}")


def table(trace: Sequence[Step]) -> list[str]:
    """The run as aligned lines, one a step."""
    # A model that keeps the leader's view of its followers keeps their high watermarks too.
    detailed = any(step.state["remote_leo"] for step in trace)
    rows = [cells(step, detailed) for step in trace]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(6)]
    lines = []
    for row in rows:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        lines.append(("  " + "  ".join(padded)).rstrip())
    return lines


def cells(step: Step, detailed: bool) -> tuple[str, str, str, str, str, str]:
    """The columns of a step: number, event, leadership, in-sync replicas, logs, effects."""
    state = step.state
    leader = "--" if state["leader"] is None else f"b{state['leader']}"
    leading = f"leader={leader}"
    if state["epoch"]:
        leading += f" epoch={state['epoch']}"
    isr = "isr=" + (",".join(f"b{broker}" for broker in state["isr"]) or "--")
    if state["elr"]:
        isr += " elr=" + ",".join(f"b{broker}" for broker in state["elr"])
    logs = " ".join(_log(replica, detailed) for replica in state["replicas"])
    if detailed:
        leading += f" hw={state['hw']}"
    if state["remote_leo"]:
        heard = (f"b{broker}={'?' if leo is None else leo}" for broker, leo in state["remote_leo"].items())
        logs += "  remote " + " ".join(heard)
    return (str(step.number), step.event["text"], leading, isr, logs, ", ".join(step.effects))


def _log(replica: Mapping[str, Any], detailed: bool) -> str:
    mark = "" if replica["alive"] else "!"
    records = list(replica["log"])
    if detailed:
        # The bar stands at the high watermark: what is left of it is committed as far as this replica knows.
        records.insert(min(replica["hw"], len(records)), "|")
    return f"b{replica['id']}{mark}:[{' '.join(records)}]"
