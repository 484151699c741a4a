"""segment_roll: UnifiedLog, one append after the other, and the segments it ends with."""

from __future__ import annotations

from typing import Any

from advisor.sim.log.segments import AppendError, Batch, Log, LogConfig, append, open_log


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What our log gives, in the form of the recorded output."""
    given = case["input"]
    config = LogConfig(
        segment_bytes=given["segment_bytes"],
        segment_ms=given["segment_ms"],
        segment_jitter_ms=given.get("segment_jitter_ms", 0),
        index_bytes_max=given["segment_index_bytes"],
        index_interval_bytes=given["index_interval_bytes"],
        batch_bytes_max=given["max_message_bytes"],
        log_append_time=given["message_timestamp_type"] == "LogAppendTime",
    )
    follower = given["role"] == "follower"
    log = open_log(given["created_at"], given["log_start_offset"])
    active, offsets, errors = [], [], []
    for entry in given["appends"]:
        batches = [_batch(batch) for batch in entry["batches"]]
        before = log.end_offset
        try:
            log = append(config, log, entry["now"], batches, follower)
            offsets.append([batches[0].base_offset if follower else before, log.end_offset - 1])
            errors.append(None)
        except AppendError as refused:
            offsets.append(None)
            errors.append(refused.error)
            log = refused.left or log
        active.append(log.active.base)
    return {
        "active_base": active,
        "offsets": offsets,
        "segments": _segments(log),
        "log_end_offset": log.end_offset,
        "errors": errors if any(errors) else None,
    }


def _batch(batch: dict[str, int]) -> Batch:
    return Batch(
        batch["records"],
        batch["size"],
        batch["max_timestamp"],
        batch["first_timestamp"],
        batch.get("base_offset", -1),
        batch.get("last_offset", -1),
    )


def _segments(log: Log) -> list[dict[str, int]]:
    return [
        {
            "base": segment.base,
            "size": segment.size,
            "offset_index_entries": segment.offset_entries,
            "time_index_entries": segment.time_entries,
            "max_timestamp": segment.max_timestamp,
        }
        for segment in log.segments
    ]


def compare(case: dict[str, Any]) -> str | None:
    """None if our log is Kafka's after every append, else the first difference."""
    ours, kafka = answer(case), case["output"]
    for field in ("errors", "offsets", "active_base"):
        if ours[field] != kafka[field]:
            return _first_difference(field, ours[field], kafka[field])
    if ours["segments"] != kafka["segments"]:
        return _first_difference("segment", ours["segments"], kafka["segments"])
    mine, theirs = ours["log_end_offset"], kafka["log_end_offset"]
    return None if mine == theirs else f"log end offset {mine}, Kafka {theirs}"


def _first_difference(what: str, ours: list[Any] | None, kafka: list[Any] | None) -> str:
    if ours is None or kafka is None or len(ours) != len(kafka):
        return f"{what}: {ours}, Kafka {kafka}"
    step = next(n for n, (mine, theirs) in enumerate(zip(ours, kafka, strict=True)) if mine != theirs)
    return f"{what} {step + 1}: {ours[step]}, Kafka {kafka[step]}"
