"""leader_epoch: LeaderEpochFileCache, one operation after the other."""

from __future__ import annotations

from typing import Any

from advisor.sim.partition.leader_epochs import EpochCache

# Operations that answer with the entries after them, and those that only ask.
_CHANGES = {
    "assign": EpochCache.assign,
    "truncateFromEnd": EpochCache.truncate_from_end,
    "truncateFromStart": EpochCache.truncate_from_start,
}
_QUESTIONS = {
    "endOffsetFor": EpochCache.end_offset_for,
    "latestEpoch": EpochCache.latest_epoch,
    "previousEpoch": EpochCache.previous_epoch,
    "nextEpoch": EpochCache.next_epoch,
    "epochForOffset": EpochCache.epoch_for_offset,
    "epochEntry": EpochCache.entry,
    "epochEntriesInRange": EpochCache.in_range,
}


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What our cache gives, in the form of the recorded output."""
    cache = EpochCache()
    results: list[Any] = []
    for name, *arguments in case["input"]["ops"]:
        try:
            if name in _CHANGES:
                cache = _CHANGES[name](cache, *arguments)
                results.append(_plain(cache.entries))
            else:
                results.append(_plain(_QUESTIONS[name](cache, *arguments)))
        except ValueError:
            results.append({"error": "IllegalArgumentException"})
    return {"results": results, "final": _plain(cache.entries)}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def compare(case: dict[str, Any]) -> str | None:
    """None if we answer as Kafka did, else the first difference."""
    ours, kafka = answer(case), case["output"]
    for step, (operation, mine, theirs) in enumerate(
        zip(case["input"]["ops"], ours["results"], kafka["results"], strict=True), start=1
    ):
        if mine != theirs:
            return f"operation {step}, {operation}: {mine}, Kafka {theirs}"
    return None if ours["final"] == kafka["final"] else f"at the end {ours['final']}, Kafka {kafka['final']}"
