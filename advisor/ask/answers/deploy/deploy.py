"""One configuration deployed over another: what is different after it, document by document.

`kafka-advisor compare` asks; an audit, which sees one configuration, has nothing to ask (`judge`). Each
answer is a Judgement whose hit names its rule. What a roll does to a group is in `rolls`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....catalog import Version, keys
from ....context import Context, Hit, Judgement
from ....join.effective import shown_default
from ....model import Deployment, Document, Fix, Location
from ....syntax.numbers import fact_count
from ...key_placement import placer_of
from .growth import skipped_by_groups
from .rolls import Side, change, place_of, rolled

DEFAULT_MOVED = "default-moved"
KEYS = 10_000
PARTITIONS_ASSUMED = 12

# Keys whose default is spelt otherwise and means the same, or names the release itself.
_SPELLING_ONLY = frozenset(
    {
        "inter.broker.protocol.version",
        "log.message.format.version",
        "message.format.version",
        "metric.reporters",  # JmxReporter was included by another key
        "group.consumer.assignors",  # short names instead of classes
        "listener.security.protocol.map",
        "listeners",
        "node.id",
        "principal.builder.class",
        "process.roles",
        "remote.log.manager.copier.thread.pool.size",  # took another key's value before
        "remote.log.manager.expiration.thread.pool.size",
    }
)


# Keys that came later, with a default that has moved since: what Kafka did before it had them.
_BEFORE_THE_KEY = {
    "log.message.timestamp.after.max.ms": "9223372036854775807",
    "message.timestamp.after.max.ms": "9223372036854775807",
    "metadata.recovery.strategy": "none",
}


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    """In an audit nothing is deployed over anything."""
    return ()


def compared(old: Side, new: Side) -> Iterator[Judgement]:
    """Everything that the change from one document to the other is asked."""
    component = new.document.component
    if component == "consumer":
        yield from rolled(old, new)
    elif component == "producer":
        yield from _partitioner(old, new)
    elif component == "topic":
        yield from _partitions(old, new)
    yield from _defaults(old, new)


# Keys and partitions


def _count(document: Document) -> tuple[int | None, Location | None]:
    fact = next((fact for fact in document.facts if fact.name == "topic.partitions"), None)
    count = None if fact is None else fact_count(fact.name, fact.value)
    return (None, None) if fact is None or count is None else (count, fact.origin.at)


def _partitions(old: Side, new: Side) -> Iterator[Judgement]:
    before, _ = _count(old.document)
    after, at = _count(new.document)
    if not before or not after or before == after:
        return
    place = at or Location(new.document.file, new.document.line)
    fields = {"old": str(before), "new": str(after), "resource": new.document.name}
    if after < before:
        hit = Hit(place, ("partitions",), fields, check="partitions-taken-away", advice=_FEWER)
        yield Judgement("broken", hit)
        return
    from ....sim.placing.partitioner import moved_keys

    moved = len(moved_keys((f"key-{n}".encode() for n in range(KEYS)), before, after))
    numbers = (("keys that move", f"{moved} of {KEYS} (key-0 to key-{KEYS - 1}, murmur2)"),)
    cause = f"the topic grows from {before} to {after} partitions"
    fields |= {"cause": cause, "share": f"{round(100 * moved / KEYS)} %"}
    hit = Hit(place, ("partitions",), fields, (), (), numbers, check="keys-change-partition", advice=_KEYED)
    yield Judgement("broken", hit)
    yield from skipped_by_groups(new, before, after)


_KEYED = (
    "if order by key matters: stop the producers, let the consumers read to the end, change, start again",
    "or write to a new topic and move the readers when they have read the old one to the end",
)


_FEWER = ("keep the count, or make a new topic and move writers and readers to it",)


def _partitioner(old: Side, new: Side) -> Iterator[Judgement]:
    before = placer_of(old.document, old.partitioner)
    after = placer_of(new.document, new.partitioner)
    if before is None or after is None or before.name == after.name:
        return
    stated = new.look.count("topic.partitions")
    count = stated or PARTITIONS_ASSUMED
    names = [f"key-{n}".encode() for n in range(KEYS)]
    moved = sum(before.place(key, count) != after.place(key, count) for key in names)
    if not moved:
        return
    cause = f"keys are placed by {after.name} where they were placed by {before.name}"
    numbers = (
        ("partitions", str(count) if stated else f"{count} (assumed)"),
        ("keys that move", f"{moved} of {KEYS} (key-0 to key-{KEYS - 1})"),
    )
    fields = {"cause": cause, "share": f"{round(100 * moved / KEYS)} %", "resource": new.document.name}
    fixes: tuple[Fix, ...] = ()
    if new.document.client == "librdkafka" and before.name == "java":
        fixes = (Fix((change(new, "partitioner", "murmur2_random"),), ("keys-co-located",), None, True),)
    setting = next((s for s in new.document.settings if s.key == after.key), None)
    hit = Hit(
        place_of(new, setting), (after.key,), fields, (), fixes, numbers, check="keys-change-partition",
        advice=() if fixes else _KEYED,
    )  # fmt: skip
    yield Judgement("broken", hit)


# Defaults


def _defaults(old: Side, new: Side) -> Iterator[Judgement]:
    """Defaults that move with the release, of keys that nobody sets on either side."""
    component = new.document.component
    if old.version.release == new.version.release or new.document.client == "librdkafka":
        return
    if old.document.client == "librdkafka":
        return
    before, after = keys(component, old.version), keys(component, new.version)
    for key in sorted(after.keys() - _SPELLING_ONLY):
        was = before[key].default if key in before else _BEFORE_THE_KEY.get(key)
        now = after[key].default
        if was is None or now is None or shown_default(was) == shown_default(now):
            continue
        if old.look.is_set(component, key) or new.look.is_set(component, key):
            continue
        if component == "topic" and new.look.in_sight("broker", key):
            continue  # told at the broker, whose default it is
        fields = {
            "key": key,
            "old": shown_default(was) or '""',
            "new": shown_default(now) or '""',
            "from": _minor(old.version),
            "to": _minor(new.version),
            "resource": new.document.name,
        }
        place = Location(new.document.file, new.document.line)
        yield Judgement("broken", Hit(place, (key,), fields, check=DEFAULT_MOVED))


def _minor(version: Version) -> str:
    return version.release.rpartition(".")[0]
