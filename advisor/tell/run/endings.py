"""What a run comes to, in a few words: "r0 is lost". One function a guarantee, read from the last state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .values import clock

Step = Mapping[str, Any]


def ending_of(guarantee: str | None, trace: Sequence[Step]) -> str:
    """Empty where the guarantee is not known here, or not broken by the last step."""
    found = _ENDINGS.get(guarantee or "")
    return found(trace) if found is not None and trace else ""


def _list(records: Sequence[str], verb: str, verbs: str) -> str:
    """r0 is lost; r0 and r1 are lost."""
    if len(records) == 1:
        return f"{records[0]} {verb}"
    return f"{', '.join(records[:-1])} and {records[-1]} {verbs}"


def _records(log: Sequence[str]) -> list[str]:
    return [record.partition("@")[0] for record in log]


def _lost(trace: Sequence[Step]) -> str:
    state = trace[-1]["state"]
    logs = {one["id"]: _records(one["log"]) for one in state["replicas"]}
    up = {one["id"] for one in state["replicas"] if one["alive"]}
    acked = state.get("clients", {}).get("acked", [])
    leader = state["leader"]
    missing = [record for record in acked if leader in up and record not in logs[leader]]
    missing = missing or [record for record in acked if not any(record in log for log in logs.values())]
    # Nobody that can return has it: of the brokers that are down, those hold it that are lost for good.
    missing = missing or [record for record in acked if not any(record in logs[one] for one in up)]
    return _list(missing, "is lost", "are lost") if missing else ""


def _disagree(trace: Sequence[Step]) -> str:
    replicas = [one for one in trace[-1]["state"]["replicas"] if one["alive"]]
    for place, one in enumerate(replicas):
        for other in replicas[place + 1 :]:
            for offset in range(min(one["hw"], other["hw"], len(one["log"]), len(other["log"]))):
                a, b = one["log"][offset], other["log"][offset]
                if a != b:
                    a, b = _records([a, b])
                    return f"offset {offset} holds {a} on broker {one['id']}, {b} on broker {other['id']}"
    return ""


def _always(what: str) -> Callable[[Sequence[Step]], str]:
    return lambda trace: what


def _twice(trace: Sequence[Step]) -> str:
    for one in trace[-1]["state"]["replicas"]:
        records = _records(one["log"])
        found = sorted({record for record in records if records.count(record) > 1})
        if found:
            return _list(found, "is stored twice", "are stored twice")
    return ""


def _reordered(trace: Sequence[Step]) -> str:
    for one in trace[-1]["state"]["replicas"]:
        records = _records(one["log"])
        for first, second in pairwise(records):
            # Sent in the order of their numbers: r2 after r1.
            if first[1:] > second[1:]:
                return f"{second} is stored after {first}"
    return ""


def _processed(trace: Sequence[Step]) -> Mapping[str, int]:
    found: Mapping[str, int] = trace[-1]["state"].get("processed", {})
    return found


def _skipped(trace: Sequence[Step]) -> str:
    state = trace[-1]["state"]
    if "committed" not in state or "processed" not in state:
        return _last_effect(trace)
    kept = state.get("stored") or state["committed"]
    missing = [
        f"{partition}:{offset}"
        for partition, end in kept.items()
        for offset in range(end or 0)
        if not state["processed"].get(f"{partition}:{offset}")
    ]
    return _list(missing, "is skipped", "are skipped") if missing else _last_effect(trace)


def _repeated(trace: Sequence[Step]) -> str:
    again = [record for record, times in _processed(trace).items() if times > 1]
    return _list(again, "is processed twice", "are processed twice") if again else _last_effect(trace)


def _out_of_order(trace: Sequence[Step]) -> str:
    done = [
        effect.removeprefix("processed ")
        for step in trace
        for effect in step["effects"]
        if "processed" in effect
    ]
    return f"{done[-1]} was processed first" if len(done) == 1 else _last_effect(trace)


def _read(trace: Sequence[Step]) -> str:
    """The last record of the application that the reader has processed."""
    read = [record for record in trace[-1]["state"].get("reader", {}).get("read", ()) if record[0] == "r"]
    return f"{read[-1]} was processed, and its work is never finished" if read else ""


def _unread(trace: Sequence[Step]) -> str:
    """The partition that was longest without a reader."""
    since: dict[int, int] = {}
    longest, which = 0, 0
    seen: set[int] = set()
    for step in trace:
        if "owned" not in step["state"] or "t_ms" not in step:
            return ""
        owned = {partition for mine in step["state"]["owned"].values() for partition in mine}
        for partition in sorted(seen - owned):
            since.setdefault(partition, step["t_ms"])
        for partition in sorted(owned):
            waited = step["t_ms"] - since.pop(partition, step["t_ms"])
            if waited > longest:
                longest, which = waited, partition
        seen |= owned
    return f"p{which} was unread for {clock(longest)}" if longest else ""


def _thrown_out(trace: Sequence[Step]) -> str:
    for step in trace:
        if step["event"]["name"] in ("left-slow", "lost"):
            return f"member {step['event']['member'][1:]} lost its partitions, and it lives"
    return ""


def _held(trace: Sequence[Step]) -> str:
    state = trace[-1]["state"]
    return "the reader is held back" if "lso" in state and state["lso"] < state["hw"] else ""


def _last_effect(trace: Sequence[Step]) -> str:
    """Kinds whose effects are sentences end with the last of them."""
    if "cells" not in trace[-1]["state"] or "members" in trace[-1]["state"]:
        return ""
    return str(trace[-1]["effects"][-1]) if trace[-1]["effects"] else ""


_ENDINGS: Mapping[str, Callable[[Sequence[Step]], str]] = {
    "acked-records-survive": _lost,
    "replicas-agree": _disagree,
    "writes-available": _always("writes stop"),
    "group-available": _always("the group stops"),
    "records-stored-once": _twice,
    "send-order-kept": _reordered,
    "every-record-processed": _skipped,
    "processed-once": _repeated,
    "processed-in-order": _out_of_order,
    "only-committed-read": _read,
    "records-visible": _held,
    "rebalance-pause": _unread,
    "group-stable": _thrown_out,
}
