"""`storage-bounded`: a log keeps no more, and no longer, than its settings say, in no more files than a
broker can hold, and it does not delete what it was to keep for good.

A rule names the part of it that it asks. Each part is a function of one Reading that gives a Judgement, or
None where nothing in sight points to it: a topic on Kafka's defaults costs a few look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ....context import Context, Judgement
from ....model import Deployment
from . import compaction as storage_compaction
from . import retention as storage_retention
from . import segments as storage_segments
from .settings import Reading

Part = Callable[[Reading, Context], Judgement | None]

PARTS: Mapping[str, Part] = {
    "age": storage_retention.age,
    "size": storage_retention.size,
    "total-size": storage_retention.total_size,
    "future-timestamps": storage_retention.future_timestamps,
    "segments": storage_segments.segments,
    "jitter": storage_segments.jitter,
    "rolls-together": storage_segments.rolls_together,
    "partitions": storage_segments.partitions,
    "compaction": storage_compaction.compaction,
    "cleaner": storage_compaction.cleaner,
    "state": storage_compaction.state,
    "quiet-keys": storage_compaction.quiet_keys,
    "tombstones": storage_compaction.tombstones,
}


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    if deployment.topic is None and not deployment.cluster:
        return
    found = PARTS[context.part](Reading(deployment), context)
    if found is not None:
        yield found
