"""What compaction leaves of a compacted topic: the newest record of each key, as the trace has them, and how
often the cleaner comes at the trace's own rate (`sim/log/workload.compacted`).

Which records a single pass takes away would need every key of every segment; the bounds need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...sim.log.workload import compacted, flow_of
from ...tuples import NamedTuple
from ..plan import TopicPlan

# Bytes of a record besides its contents: length, attributes, deltas of time and offset.
_RECORD_OVERHEAD = 7


class Live(NamedTuple):
    """Of one topic: distinct keys, the bytes of the newest record of each, and the records that have one."""

    keys: int
    contents: int
    records: int

    @property
    def bytes(self) -> int:
        return self.contents + self.keys * _RECORD_OVERHEAD


def compaction_of(
    topic: TopicPlan, totals: Mapping[str, Any], live: Live | None, seconds: float
) -> dict[str, Any] | None:
    """None: the topic is not compacted, or has no keys in the trace."""
    if not topic.log.compact or live is None or not totals.get("records"):
        return None
    rate = totals["records"] / max(1.0, seconds) / topic.partitions
    flow = flow_of(rate, max(1, totals["bytes"] // totals["records"]))
    told = compacted(topic.log, flow, max(1, live.keys // topic.partitions))
    return {
        "distinct_keys": live.keys,
        "live_bytes": live.bytes,
        "live_share": min(1.0, live.bytes / max(1, totals["bytes"])),
        "pass_every_ms": told.stays_max_ms,
        "partition_bytes_max": told.bytes_max,
        "partition_segments_max": told.segments_max,
    }
