"""What a replay is asked."""

from __future__ import annotations

from collections.abc import Mapping

from ..tuples import NamedTuple


class ReplayOptions(NamedTuple):
    """`config` are the paths that are audited, `sets` values instead of theirs, `sweep` keys with the
    values to try; `ratios` codec -> compressed bytes by bytes, `lateness_ms` how late a record may be,
    `latency_ms` how long a produce request takes, `watch_ms` how long logs are watched after the last
    record, `topic` the topic of a trace that names none, `checked` one
    producer in so many also goes through the simulator's own models."""

    config: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    sweep: Mapping[str, tuple[str, ...]] = {}
    ratios: Mapping[str, float] = {}
    kafka_version: str | None = None
    source_format: str | None = None
    source_options: Mapping[str, str] = {}
    columns: Mapping[str, str] = {}
    topic: str | None = None
    lateness_ms: int = 60_000
    latency_ms: int = 0
    watch_ms: int = 0
    checked: int = 64
    keep_batches: bool = False
    partitions: int | None = None
    cache: bool = True
    resume: bool = False
    now: str = ""
