"""Records that stay too long or go too soon: overwritten values, tombstones, timestamps from the future.

The log and its passes are those of `log_compaction`; here the cleaner wakes up after writes, as its backoff
has it, and takes the log when it is due. Left out: other logs that it may be busy with, and its throttle.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...tuples import NamedTuple
from .amounts import duration
from .compaction import TOMBSTONE
from .log import Append, KeyedLog, clean, cleanable, delete_old_segments, extend, open_keyed, roll_keyed
from .segments import Batch, Log, LogConfig, append, open_log
from .story import Step, log_state, step, trimmed
from .workload import BACKOFF_MS, Flow, shape

# Writes of one segment that are drawn one by one; more are drawn as fewer and larger ones.
_DRAWN_MAX = 100
_SEGMENTS_MAX = 4
_OVERHEAD = 80
_DAY = 86_400_000


class Overwritten(NamedTuple):
    """What became of overwritten values. `stayed_ms` is the longest that one stayed after it was overwritten;
    None: after `watched_ms` all were still there, `dirty_ratio_max` being the most that the cleaner saw."""

    stayed_ms: int | None
    watched_ms: int
    passes: int
    dirty_ratio_max: float
    steps: tuple[Step, ...]


def overwritten(config: LogConfig, flow: Flow, keys: int = 1, backoff_ms: int = BACKOFF_MS) -> Overwritten:
    """Writes go round the keys. With one key, everything but the last record may go: no other traffic lets
    the cleaner come sooner."""
    drawn, labels = _drawn(config, flow, keys)
    # Writes that are drawn as one may be larger than any that the topic takes.
    watch = _Watch(replace(config, batch_bytes_max=max(config.batch_bytes_max, drawn.batch_bytes)))
    now = 0
    for number in range(_DRAWN_MAX * _SEGMENTS_MAX):
        now = drawn.at(number)
        watch.write(now, b"k%d" % (number % labels), max(0, drawn.batch_bytes - _OVERHEAD))
        if number == 0:
            watch.tell("append", "k0 is written", now, [])
        elif number == labels:
            watch.tell("append", "k0 is written again: offset 0 may go", now, [])
        watch.look(now + backoff_ms)
        # With several keys the second pass finds a clean part that the dirty one must outgrow.
        if watch.useful_passes == (1 if labels == 1 else 2):
            return watch.result(watch.stayed_ms, now)
        if len(watch.keyed.log.sealed) >= _SEGMENTS_MAX and watch.passes == 0:
            break
    watch.tell("look", "overwritten values are still there", now, [watch.why_not(now)])
    return watch.result(watch.stayed_ms, now)


def _drawn(config: LogConfig, flow: Flow, keys: int) -> tuple[Flow, int]:
    """The same bytes in the same time, in at most so many writes a segment; and as many keys as make the
    same share of them."""
    together = max(1, -(-shape(config, flow).batches // _DRAWN_MAX))
    drawn = Flow(flow.batch_records * together, flow.batch_bytes * together, flow.gap_us * together)
    return drawn, max(1, min(_DRAWN_MAX * _SEGMENTS_MAX // 2, keys // drawn.batch_records))


class _Watch:
    """The one mutable thing: the log so far, and what a reader of the story is told."""

    def __init__(self, config: LogConfig) -> None:
        self.config = config
        self.keyed: KeyedLog = open_keyed(0)
        self.checkpoint: int | None = None
        self.passes = 0
        self.ratio_max = 0.0
        self.useful_passes = 0
        self.stayed_ms: int | None = None
        self.newest: dict[bytes, int] = {}
        self.overwritten_at: dict[int, int] = {}
        self.steps: list[Step] = []
        self._told_why_not = False

    def write(self, now: int, key: bytes, value_size: int) -> None:
        before = len(self.keyed.log.sealed)
        offset = self.keyed.log.end_offset
        if key in self.newest:
            self.overwritten_at[self.newest[key]] = now
        self.newest[key] = offset
        self.keyed = extend(self.config, self.keyed, [Append(now, [(key, value_size, now)])])
        log = self.keyed.log
        self.keyed = self.keyed._replace(log=log._replace(high_watermark=log.end_offset))
        if len(log.sealed) > before:
            closed = log.sealed[-1].base
            self.tell("roll", f"a new segment begins after {closed}", now, [f"closed {closed}"])

    def look(self, now: int) -> None:
        found = cleanable(self.config, self.keyed.log, self.checkpoint, now)
        self.ratio_max = max(self.ratio_max, found.ratio or 0.0)
        if not found.due(self.config):
            if found.cleanable_bytes and not self._told_why_not:
                self._told_why_not = True
                self.tell("look", "the cleaner looks", now, [self.why_not(now)])
            return
        before = {record.offset for record in self.keyed.records}
        self.keyed, self.checkpoint = clean(
            self.config, self.keyed, now, found.first_dirty, found.first_uncleanable
        )
        self.passes += 1
        after = {record.offset for record in self.keyed.records}
        gone = sorted(before - after)
        if gone:
            self.useful_passes += 1
            stayed = now - min(self.overwritten_at[offset] for offset in gone)
            self.stayed_ms = max(stayed, self.stayed_ms or 0)
        effects = [f"{len(gone)} overwritten records are gone"] if gone else ["nothing to take away"]
        self.tell("clean", f"the cleaner cleans up to offset {found.first_uncleanable}", now, effects)

    def why_not(self, now: int) -> str:
        found = cleanable(self.config, self.keyed.log, self.checkpoint, now)
        if not found.cleanable_bytes:
            return "not cleaned: all that is dirty lies in the active segment"
        needed = f"more than {self.config.dirty_ratio_min:.0%} needed"
        return f"not cleaned: {found.ratio or 0.0:.0%} of the closed segments is dirty, {needed}"

    def tell(self, name: str, text: str, now: int, effects: list[str]) -> None:
        if len(self.steps) < 12:
            segments, more = trimmed(segments_of(self.keyed))
            self.steps.append(step(len(self.steps) + 1, name, text, now, effects, segments, more))

    def result(self, stayed: int | None, watched: int) -> Overwritten:
        return Overwritten(stayed, watched, self.passes, self.ratio_max, tuple(self.steps))


class Missed(NamedTuple):
    """A reader that was away while a key was deleted. `gone_ms` is how long after the tombstone was written
    it had left the log; `missed`: the reader came back too late to see it."""

    gone_ms: int
    missed: bool
    steps: tuple[Step, ...]


def tombstone(config: LogConfig, away_ms: int, backoff_ms: int = BACKOFF_MS) -> Missed:
    """The quickest that a tombstone can go: its segment is closed at once, a pass marks it, and the first one
    after delete.retention.ms takes it away. The reader has seen the value and is away from then on."""
    keyed = extend(config, open_keyed(0), [Append(0, [(b"k", 10, 0)])])
    steps = [step(1, "append", "k = v is written, and the reader sees it", 0, ["away reader"], _all(keyed))]
    keyed = extend(config, keyed, [Append(1000, [(b"k", TOMBSTONE, 1000)])])
    steps.append(step(2, "append", "k is deleted: a tombstone is written", 1000, [], _all(keyed)))
    now = 1000 + backoff_ms
    keyed = _other(config, keyed, now)
    keyed, dirty = clean(config, keyed, now, 0, keyed.log.active.base)
    kept = f"the tombstone may go {duration(config.tombstone_retention_ms)} from now"
    steps.append(step(3, "clean", "the cleaner takes k = v away", now, [kept], _all(keyed)))
    now += max(config.tombstone_retention_ms, backoff_ms)
    keyed = _other(config, keyed, now)
    keyed, _ = clean(config, keyed, now, dirty, keyed.log.active.base)
    gone = not any(record.key == b"k" for record in keyed.records)
    taken = step(4, "clean", "the cleaner passes again", now, ["tombstone gone"] if gone else [], _all(keyed))
    missed = gone and away_ms > now
    told = "it never learns that k was deleted" if missed else "it sees the tombstone"
    back = step(4, "read", "the reader is back", away_ms, [told], ())
    # Who is back sees the log as the last step left it.
    for one in sorted([taken, back], key=lambda one: int(one["t_ms"])):
        before = steps[-1]["state"]["segments"]
        state = one["state"] if one is taken else log_state(away_ms, before)
        steps.append({**one, "step": len(steps) + 1, "state": state})
    return Missed(now - 1000, missed, tuple(steps))


def _other(config: LogConfig, keyed: KeyedLog, now: int) -> KeyedLog:
    """Another key is written and its segment closed, so that there is something to clean."""
    keyed = roll_keyed(extend(config, keyed, [Append(now, [(b"x", 10, now)])]), now)
    return keyed._replace(log=keyed.log._replace(high_watermark=keyed.log.end_offset))


def _all(keyed: KeyedLog) -> list[dict[str, Any]]:
    return segments_of(keyed, 8)


def segments_of(keyed: KeyedLog, records_max: int = 2) -> list[dict[str, Any]]:
    """The segments as a state shows them; of many records the last few."""
    found = []
    for segment, content in zip(keyed.log.segments, keyed.contents, strict=True):
        records = [record for batch in content for record in batch.records]
        texts = [
            f"{(record.key or b'').decode()}{'=null' if record.value_size < 0 else ''}@{record.offset}"
            for record in records[-records_max:]
        ]
        if len(records) > records_max:
            texts.insert(0, f"{len(records) - records_max} more")
        found.append(
            {
                "base": segment.base,
                "bytes": segment.size,
                "first_ms": max(0, segment.first_write),
                "last_ms": max(0, segment.last_write),
                "closed": segment is not keyed.log.active,
                "records": texts,
            }
        )
    return found


def future_record(config: LogConfig, days: int = 30) -> tuple[Step, ...]:
    """A record a day, of which the second has its timestamp in microseconds: retention compares the largest
    timestamp of a segment, and stops at the first that is not due."""
    log = open_log(_DAY)
    steps: list[Step] = []
    for day in range(1, days + 1):
        now = day * _DAY
        bad = day == 2
        log = append(config, log, now, [Batch(1, 1000, now * 1000 if bad else now)])
        log, gone = delete_old_segments(config, log._replace(high_watermark=log.end_offset), now)
        effects = [f"deleted {segment.base}" for segment in gone]
        if day in (1, 2, days) or (gone and len(steps) < 6):
            text = "a record from a wrong clock is written" if bad else "a record is written"
            if day == days:
                text = "a month later"
                effects.append(f"kept {log.segments[0].base}: its newest record is from the future")
            steps.append(step(len(steps) + 1, "append", text, now - _DAY, effects, _plain(log)))
    return tuple(steps)


def _plain(log: Log) -> list[dict[str, Any]]:
    return [
        {
            "base": segment.base,
            "bytes": segment.size,
            "first_ms": max(0, segment.first_write - _DAY),
            "last_ms": max(0, segment.last_write - _DAY),
            "closed": segment is not log.active,
        }
        for segment in log.segments
    ]
