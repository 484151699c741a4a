"""Compacted topics: whether the cleaner comes, and whether what was to be kept for good is.

The cleaner never touches the active segment, takes a log only when enough of it is dirty, and removes
tombstones after delete.retention.ms. A topic that holds state must be compacted and nothing else.
"""

from __future__ import annotations

from typing import Any

from ....context import Context, Hit, Judgement
from .settings import KEYS, LONG_MAX, Reading, nice_ms
from .state_topics import state_owner

_DAY = 86_400_000
_COMPACTION_KEYS = ("cleanup.policy", "segment.ms", "min.cleanable.dirty.ratio", "max.compaction.lag.ms")
_ONE_KEY = "steady traffic, every record overwrites the one before"
_POLICY_KEYS = ("cleanup.policy", "retention.ms")


def compaction(reading: Reading, context: Context) -> Judgement | None:
    """How long do overwritten values stay?"""
    if "compact" not in reading.policies or not reading.written("cleanup.policy"):
        return None
    lag = reading.number("max.compaction.lag.ms")
    never = reading.written("min.cleanable.dirty.ratio") and reading.ratio >= 1 and lag >= LONG_MAX
    limit = int(context.params.get("overwritten_max_ms", 8 * _DAY))
    longest = min(reading.number("segment.ms"), lag)
    if reading.missing_traffic and not never:
        if not reading.written("segment.ms") or longest <= limit:
            return None
        return Judgement(
            "unknown",
            depends_on=reading.missing_traffic,
            reason="how long overwritten values stay depends on how soon a segment is full: state "
            "records_per_second and record_bytes",
        )
    from ....sim.log.workload import compacted, flow_of, shape

    config = reading.config(delete=False)
    flow = reading.flow() or flow_of(1, 1024)
    rolls_ms = shape(config, flow).period_us // 1000
    bounds = f"steady traffic, {reading.keys:,} keys written in turn" if reading.keys else _ONE_KEY
    if not never and rolls_ms <= limit and reading.ratio <= 0.9 and not reading.keys:
        return Judgement("holds", bounds=bounds)
    keys = reading.keys or 1
    between = compacted(config, flow, keys).stays_max_ms
    if keys > 1 and between is not None:
        # More than can be drawn: from one pass to the next, and as long as a segment is open.
        stayed, watched, steps = between + rolls_ms, 0, []
    else:
        stayed, watched, steps = context.remember(
            "storage-overwritten", repr((config, flow)), lambda: _overwritten(config, flow)
        )
    if stayed is not None and stayed <= limit:
        return Judgement("holds", bounds=bounds)
    if stayed is not None and stayed - rolls_ms <= limit and reading.unseen("segment.ms"):
        return None
    return Judgement(
        "broken",
        _compaction_hit(reading, stayed, watched, limit, rolls_ms),
        tuple(steps),
        bounds=bounds,
    )


def _overwritten(config: Any, flow: Any) -> list[Any]:
    from ....sim.log.cleaning import overwritten

    found = overwritten(config, flow)
    return [found.stayed_ms, found.watched_ms, list(found.steps)]


def _compaction_hit(reading: Reading, stayed: int | None, watched: int, limit: int, rolls_ms: int) -> Hit:
    from ....sim.log.amounts import duration

    by_ratio = stayed is None or stayed - rolls_ms > limit
    at = reading.place("min.cleanable.dirty.ratio" if by_ratio else "segment.ms", *_COMPACTION_KEYS)
    told = f"were all there after {duration(watched)}" if stayed is None else f"stay {duration(stayed)}"
    edits = []
    if reading.ratio >= 0.9:
        edits.append(reading.edit("min.cleanable.dirty.ratio", "0.5"))
    edits.append(reading.edit("segment.ms", nice_ms(min(limit // 2, _DAY))))
    if reading.version.number >= (2, 3):
        edits.append(reading.edit("max.compaction.lag.ms", nice_ms(min(limit // 2, _DAY))))
    assumed = reading.assumptions() or (("assumed", "one record of 1 KiB a second"),)
    return Hit(
        at,
        ("min.cleanable.dirty.ratio",) if by_ratio else ("segment.ms",),
        {"subject": reading.subject(*_COMPACTION_KEYS), "told": told},
        reading.shown(_COMPACTION_KEYS),
        numbers=(
            ("overwritten values", told),
            ("a segment is closed", f"every {duration(rolls_ms)}; the cleaner leaves the open one alone"),
            ("limit", f"{duration(limit)} (params.overwritten_max_ms)"),
            (KEYS, f"{reading.keys:,} on each partition, written in turn")
            if reading.keys
            else ("drawn", "writes to one key, at most a hundred a segment"),
            *assumed,
        ),
        also_at=reading.also(at, *_COMPACTION_KEYS),
        edits=tuple(edits),
        advice=("write a record now and then: a segment is closed by an append alone",)
        if stayed is not None and rolls_ms > 2 * min(reading.number("segment.ms"), limit)
        else (),
    )


def cleaner(reading: Reading, context: Context) -> Judgement | None:
    """log.cleaner.enable=false: nothing is compacted, __consumer_offsets least of all."""
    if not reading.written("log.cleaner.enable", "broker"):
        return None
    found, _ = reading.setting("log.cleaner.enable", "broker")
    assert found is not None
    if reading.text("log.cleaner.enable", "broker").lower() != "false":
        return Judgement("holds", bounds="arithmetic")
    from ....sim.log.amounts import size

    commits, record = float(context.params.get("commits_per_second", 20)), 150
    daily = int(commits * record * 86_400)
    at = found.origin.at or reading.place()
    hit = Hit(
        at,
        ("log.cleaner.enable",),
        {"subject": reading.cluster, "year": size(daily * 365)},
        (("broker", found),),
        numbers=(
            ("__consumer_offsets grows", f"{size(daily)} a day, {size(daily * 365)} a year, on each replica"),
            ("assumed", f"{commits:g} offsets committed a second, {record} bytes each"),
        ),
        edits=(reading.broker_edit("log.cleaner.enable", "true"),),
    )
    return Judgement("broken", hit, bounds="arithmetic")


def state(reading: Reading, context: Context) -> Judgement | None:
    """A topic that others keep their state in: is any of it deleted by age or size?"""
    topic = reading.deployment.topic
    if topic is None:
        return None
    owner = _owner(reading, context)
    if owner is None:
        return None
    policies = reading.policies
    if policies == {"compact"}:
        return Judgement("holds", bounds="a compacted log keeps the last value of every key")
    retention, limit = reading.number("retention.ms", -1), reading.number("retention.bytes", -1)
    if retention < 0 and limit < 0:
        return Judgement("holds", bounds="nothing is ever deleted")
    unseen = reading.unseen("cleanup.policy")
    if unseen:
        return Judgement(
            "unknown",
            depends_on=unseen,
            reason=f"{topic.name} holds the state of {owner}, which Kafka's default cleanup.policy deletes",
        )
    from ....sim.log.amounts import duration

    at = reading.place(*_POLICY_KEYS)
    after = duration(retention) if retention >= 0 else "its size limit is reached"
    hit = Hit(
        at,
        ("cleanup.policy",),
        {"subject": topic.name, "owner": owner, "after": after, "policy": reading.text("cleanup.policy")},
        reading.shown(_POLICY_KEYS),
        numbers=(
            ("state written once is gone", f"after {after}, at the next check"),
            ("assumed", "a key that is written once and not again"),
        ),
        also_at=reading.also(at, *_POLICY_KEYS),
        edits=(reading.edit("cleanup.policy", "compact"),),
    )
    return Judgement("broken", hit, _written_once(reading, context), bounds="a key written once")


def _owner(reading: Reading, context: Context) -> str | None:
    return state_owner(reading.deployment, context.params.get("state_topics", ()), context)


def quiet_keys(reading: Reading, context: Context) -> Judgement | None:
    """compact,delete: the latest value of a key that is not written again goes, too."""
    if reading.policies != {"compact", "delete"} or not reading.written("cleanup.policy"):
        return None
    retention = reading.number("retention.ms", -1)
    if not reading.written("retention.ms") or retention < 0:
        return None
    if retention >= int(context.params.get("retention_min_ms", _DAY)):
        return Judgement("holds", bounds="a key written once")
    topic = reading.deployment.topic
    if topic is not None and _owner(reading, context) is not None:
        return None  # the rule on state topics tells it
    from ....sim.log.amounts import duration

    at = reading.place("retention.ms", "cleanup.policy")
    hit = Hit(
        at,
        _POLICY_KEYS,
        {"subject": reading.subject(*_POLICY_KEYS), "after": duration(retention)},
        reading.shown(_POLICY_KEYS),
        numbers=(("assumed", "a key that is written once and not again"),),
        also_at=reading.also(at, *_POLICY_KEYS),
        edits=(reading.edit("cleanup.policy", "compact"), reading.edit("retention.ms", 7 * _DAY)),
    )
    return Judgement("broken", hit, _written_once(reading, context), bounds="a key written once")


def _written_once(reading: Reading, context: Context) -> tuple[Any, ...]:
    from ....sim.log.story import written_once

    config, schedule = reading.config(), reading.schedule()
    return tuple(
        context.remember(
            "storage-once", repr((config, schedule)), lambda: list(written_once(config, schedule))
        )
    )


def tombstones(reading: Reading, context: Context) -> Judgement | None:
    """Can a reader be away for so long that it never learns that a key was deleted?"""
    if "compact" not in reading.policies:
        return None
    away = max(reading.stated("longest_catch_up") or 0, reading.stated("longest_outage") or 0)
    if not away:
        return None
    kept = reading.number("delete.retention.ms")
    if away <= kept:
        return Judgement("holds", bounds="the stated time away")
    unseen = reading.unseen("delete.retention.ms", "cleanup.policy")
    if unseen:
        return Judgement(
            "unknown",
            depends_on=unseen,
            reason="with Kafka's default delete.retention.ms a reader that is away as long as stated misses "
            "tombstones",
        )
    from ....sim.log.amounts import duration

    config = reading.config(delete=False)
    gone, missed, steps = context.remember(
        "storage-tombstone", repr((config, int(away))), lambda: _tombstone(config, int(away))
    )
    if not missed:
        return Judgement("holds", bounds="the stated time away")
    keys = ("delete.retention.ms", "cleanup.policy")
    at = reading.place(*keys)
    hit = Hit(
        at,
        ("delete.retention.ms",),
        {"subject": reading.subject(*keys), "kept": duration(kept), "away": duration(int(away))},
        reading.shown(keys),
        numbers=(
            ("a tombstone may be gone", f"{duration(gone)} after it was written"),
            ("stated", f"a reader is away, or behind, for {duration(int(away))}"),
            ("assumed", "traffic that closes segments at once, so that the cleaner comes as soon as it may"),
        ),
        also_at=reading.also(at, *keys),
        edits=(reading.edit("delete.retention.ms", _at_least(int(away))),),
    )
    return Judgement("broken", hit, tuple(steps), bounds="the stated time away")


def _tombstone(config: Any, away: int) -> list[Any]:
    from ....sim.log.cleaning import tombstone

    found = tombstone(config, away)
    return [found.gone_ms, found.missed, list(found.steps)]


def _at_least(ms: int) -> int:
    """Whole days, and one to spare."""
    return (-(-ms // _DAY) + 1) * _DAY
