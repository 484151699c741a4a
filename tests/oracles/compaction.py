"""compaction: Cleaner.clean, pass after pass on one log."""

from __future__ import annotations

from typing import Any

from advisor.sim.log.compaction import Append, KeyedLog, clean, cleanable, extend, open_keyed, roll_keyed
from advisor.sim.log.segments import LogConfig


def answer(case: dict[str, Any]) -> list[dict[str, Any]]:
    """What our log gives at each pass: what the cleaner saw before it, and the recorded output after it."""
    given = case["input"]
    config = LogConfig(
        segment_bytes=given["segment_bytes"],
        index_bytes_max=given["segment_index_bytes"],
        index_interval_bytes=given["index_interval_bytes"],
        tombstone_retention_ms=given["delete_retention_ms"],
        compact=True,
    )
    keyed = open_keyed(_first_timestamp(given))
    checkpoint = None
    passes = []
    for step in given["passes"]:
        keyed = extend(config, keyed, [_append(entry) for entry in step["appends"]])
        if step["rolled_before_clean"]:
            keyed = roll_keyed(keyed, step["now"])
        log = keyed.log
        seen = cleanable(config, log, checkpoint, step["now"], log.end_offset)
        if seen.first_dirty < seen.first_uncleanable:
            keyed, checkpoint = clean(config, keyed, step["now"], seen.first_dirty, seen.first_uncleanable)
        passes.append(
            {
                "first_dirty_offset": seen.first_dirty,
                "first_uncleanable_offset": seen.first_uncleanable,
                "segments_before": [segment.base for segment in log.segments],
                "clean_bytes": seen.clean_bytes,
                "cleanable_bytes": seen.cleanable_bytes,
                "cleanable_ratio": seen.ratio,
                "next_dirty_offset": seen.first_dirty if checkpoint is None else checkpoint,
                **_left(keyed),
            }
        )
    return passes


def _first_timestamp(given: dict[str, Any]) -> int:
    return next((entry["ts"] for step in given["passes"] for entry in step["appends"]), 0)


def _append(entry: dict[str, Any]) -> Append:
    return Append(entry["ts"], [(key.encode(), size, entry["ts"]) for _, key, size in entry["records"]])


def _left(keyed: KeyedLog) -> dict[str, Any]:
    return {
        "records": [[r.offset, (r.key or b"").decode(), r.value_size] for r in keyed.records],
        "segments": [{"base": segment.base, "size": segment.size} for segment in keyed.log.segments],
        "log_end_offset": keyed.log.end_offset,
    }


def compare(case: dict[str, Any]) -> str | None:
    """None if each pass saw and left what Kafka's did, else the first difference."""
    recorded = zip(case["input"]["passes"], case["output"], strict=True)
    for number, (mine, (before, after)) in enumerate(zip(answer(case), recorded, strict=True), start=1):
        kafka = {**before, **after}
        for field, ours in mine.items():
            if field in kafka and ours != kafka[field]:
                return f"pass {number}, {field}: {ours}, Kafka {kafka[field]}"
    return None
