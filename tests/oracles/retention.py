"""retention: UnifiedLog.deleteOldSegments, run once a step on a log that takes no appends."""

from __future__ import annotations

import contextlib
from typing import Any

from advisor.sim.log.retention import (
    OffsetOutOfRange,
    delete_old_segments,
    delete_records,
    move_high_watermark,
)
from advisor.sim.log.segments import Log, LogConfig, Segment


def answer(case: dict[str, Any]) -> list[dict[str, Any]]:
    """What our log gives after each step, in the form of the recorded output."""
    given = case["input"]
    policies = given["cleanup_policy"].split(",")
    config = LogConfig(
        segment_bytes=given["segment_bytes"],
        retention_bytes=given["retention_bytes"],
        retention_ms=given["retention_ms"],
        delete="delete" in policies,
        compact="compact" in policies,
    )
    *sealed, active = [_segment(segment) for segment in given["segments"]]
    log = Log(
        tuple(sealed), active, given["log_start_offset"], given["log_end_offset"], given["high_watermark"]
    )
    steps = []
    for step in given["steps"]:
        if "delete_records_to" in step:
            # What is refused changes nothing, and the step goes on.
            with contextlib.suppress(OffsetOutOfRange):
                log = delete_records(log, step["delete_records_to"])
        if "high_watermark" in step:
            log = move_high_watermark(log, step["high_watermark"])
        log, deleted = delete_old_segments(config, log, step["now"])
        steps.append(
            {
                "deleted": len(deleted),
                "remaining": [segment.base for segment in log.segments],
                "size": log.size,
                "log_start_offset": log.start_offset,
                "log_end_offset": log.end_offset,
            }
        )
    return steps


def _segment(segment: dict[str, int]) -> Segment:
    written = segment["largest_timestamp"]
    return Segment(
        segment["base"],
        written,
        segment["size"],
        max_timestamp=segment["max_record_timestamp"],
        first_write=written,
        last_write=written,
    )


def compare(case: dict[str, Any]) -> str | None:
    """None if we delete as Kafka did at every step, else the first difference."""
    for number, (mine, theirs) in enumerate(zip(answer(case), case["output"], strict=True), start=1):
        if mine != theirs:
            return f"step {number}: {mine}, Kafka {theirs}"
    return None
