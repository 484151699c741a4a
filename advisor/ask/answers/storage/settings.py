"""What a topic's log goes by, read from a deployment: settings in force, traffic, copies, and what is unseen.

A key that nobody in sight writes has Kafka's default if the broker's own file is there; else the default is
only assumed, and an answer that rests on it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....catalog import lookup
from ....context import Again, Context, Step
from ....join.effective import bounds_of, by_key
from ....join.reader import Reader
from ....model import Deployment, Edit, Location, Setting, in_file_order, members_of
from ....packs.conditions import number
from ....syntax.numbers import integer

if TYPE_CHECKING:
    from ....sim.log.log import LogConfig, Schedule
    from ....sim.log.workload import Flow

LONG_MAX = 2**63 - 1
RATE, SIZE, KEYS = "records_per_second", "record_bytes", "distinct_keys"
_MINUTE = 60_000
_NICE_MS = [n * _MINUTE for n in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 4320, 10080)]
_BROKER_NAMES = {
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.index.bytes": "log.index.size.max.bytes",
    "retention.ms": "log.retention.ms",
    "retention.bytes": "log.retention.bytes",
    "cleanup.policy": "log.cleanup.policy",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "message.timestamp.type": "log.message.timestamp.type",
    "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
    "message.timestamp.difference.max.ms": "log.message.timestamp.difference.max.ms",
}


class Reading:
    """One deployment as storage sees it; nothing is read before it is asked for."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.look = Reader(deployment)
        self.version = self.look.version

    # Settings.

    def setting(self, key: str, component: str = "topic") -> tuple[Setting | None, bool]:
        return self.look.in_force(component, key)

    def text(self, key: str, component: str = "topic") -> str:
        """The value in force, Kafka's default where it is not in sight, empty where there is none."""
        found, _ = self.setting(key, component)
        if found is None or not isinstance(found.value, str):
            found = self.look.of_release(component, key)
        return str(found.value).strip() if found is not None else ""

    def number(self, key: str, missing: int = LONG_MAX, component: str = "topic") -> int:
        """What Kafka refuses is told by other rules: here it is the nearest number that Kafka would take."""
        value = integer(self.text(key, component), bounds_of(component, key, self.version))
        if value is None:
            return missing
        known = lookup(component, key, self.version)
        least = -LONG_MAX if known is None or known.min is None else int(known.min)
        most = LONG_MAX if known is None or known.max is None else int(known.max)
        return max(least, min(most, value))

    def written(self, key: str, component: str = "topic") -> bool:
        """Somebody in sight wrote it, as a value and not as a template."""
        found, written = self.setting(key, component)
        return written and found is not None and isinstance(found.value, str)

    def seen(self, key: str, component: str = "topic") -> bool:
        found, written = self.setting(key, component)
        if written:
            return found is not None and isinstance(found.value, str)
        return self.look.in_sight("broker", key)

    def unseen(self, *keys: str) -> tuple[str, ...]:
        return tuple(key for key in keys if not self.seen(key))

    def shown(self, keys: Iterable[str], component: str = "topic") -> tuple[tuple[str, Setting], ...]:
        found = [self.setting(key, component)[0] for key in keys]
        return tuple((component, setting) for setting in found if setting is not None)

    @property
    def policies(self) -> set[str]:
        return {part.strip().lower() for part in self.text("cleanup.policy").split(",")}

    # Traffic and copies.

    def stated(self, name: str) -> float | None:
        value = self.look.workload(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def partitions(self) -> int | None:
        return self.look.count("topic.partitions") or self._made_with("num.partitions")

    @property
    def replicas(self) -> int | None:
        return self.look.count("topic.replication_factor") or self._made_with("default.replication.factor")

    def _made_with(self, key: str) -> int | None:
        """A topic that says nothing of it is made as the broker in sight has it."""
        if not self.seen(key, "broker"):
            return None
        count = self.number(key, 0, "broker")
        return count if count > 0 else None

    @property
    def brokers(self) -> int | None:
        return self.look.count("cluster.brokers")

    @property
    def replicas_a_broker(self) -> int | None:
        """Of this topic's, on the broker with most of them."""
        partitions, replicas, brokers = self.partitions, self.replicas, self.brokers
        if partitions is None or replicas is None or brokers is None:
            return None
        return -(-partitions * replicas // brokers)

    @property
    def missing_traffic(self) -> tuple[str, ...]:
        return tuple(f"[workload] {name}" for name in (RATE, SIZE) if not self.stated(name))

    @property
    def keys(self) -> int | None:
        """Different keys of one partition, as stated for the topic."""
        stated = self.stated(KEYS)
        return None if stated is None else max(1, int(stated) // (self.partitions or 1))

    def flow(self, unknown_partitions: int = 1) -> Flow | None:
        """The traffic of one partition. Partitions that are not known are taken as one, which is the busiest
        that it can be; None where the workload does not say enough."""
        from ....sim.log.workload import flow_of

        rate, size = self.stated(RATE), self.stated(SIZE)
        if not rate or not size:
            return None
        return flow_of(rate / (self.partitions or unknown_partitions), int(size))

    def assumptions(self) -> tuple[tuple[str, str], ...]:
        """What the numbers rest on, for the evidence."""
        rate, size = self.stated(RATE), self.stated(SIZE)
        spread = f"spread evenly over {self.partitions} partitions" if self.partitions else "on one partition"
        if not rate or not size:
            return ()
        return (
            (
                "workload",
                f"{rate:g} record{'' if rate == 1 else 's'} a second of {size:g} bytes on disk, {spread}",
            ),
        )

    # The simulator's values.

    def config(self, **changes: Any) -> LogConfig:
        from ....sim.log.log import LogConfig

        policies = self.policies
        known: dict[str, Any] = {
            "segment_bytes": self.number("segment.bytes"),
            "segment_ms": self.number("segment.ms"),
            "index_bytes_max": self.number("segment.index.bytes"),
            "index_interval_bytes": self.number("index.interval.bytes"),
            "delete": "delete" in policies,
            "compact": "compact" in policies,
            "retention_ms": self.number("retention.ms", -1),
            "retention_bytes": self.number("retention.bytes", -1),
            "tombstone_retention_ms": self.number("delete.retention.ms"),
            "dirty_ratio_min": self.ratio,
            "compaction_lag_min_ms": self.number("min.compaction.lag.ms", 0),
            "compaction_lag_max_ms": self.number("max.compaction.lag.ms"),
        }
        return LogConfig(**{**known, **changes})

    @property
    def ratio(self) -> float:
        """From 0 to 1: Kafka refuses another."""
        found = number(self.text("min.cleanable.dirty.ratio"))
        return float(found) if found is not None and 0 <= found <= 1 else 0.5

    def schedule(self) -> Schedule:
        from ....sim.log.log import Schedule

        return Schedule(
            check_interval_ms=max(1, self.number("log.retention.check.interval.ms", 300_000, "broker")),
            file_delete_delay_ms=max(0, self.number("file.delete.delay.ms", 60_000)),
        )

    # Where to look, and what to write.

    def place(self, *keys: str) -> Location:
        for key in keys:
            found, written = self.setting(key)
            if written and found is not None and found.origin.at is not None:
                return found.origin.at
        document = self.deployment.topic or members_of(self.deployment)[0]
        return Location(document.file, document.line)

    def also(self, at: Location, *keys: str) -> tuple[Location, ...]:
        found = [self.setting(key)[0] for key in keys]
        places = [one.origin.at for one in found if one is not None and one.origin.at is not None]
        return in_file_order(place for place in places if place != at)

    def subject(self, *keys: str) -> str:
        """Who is at fault: the topic, or the cluster where its file decides for every topic."""
        topic = self.deployment.topic
        own = by_key(topic)
        if topic is None or (
            self.deployment.cluster and not any(key in own for key in keys) and any(map(self.written, keys))
        ):
            return self.cluster
        return topic.name

    @property
    def cluster(self) -> str:
        names = [broker.name for broker in self.deployment.cluster]
        return names[0] if names else self.deployment.id

    def edit(self, key: str, value: int | str) -> Edit:
        """Written for the topic where it has a file of its own, else for the whole cluster."""
        if self.deployment.topic is not None:
            return Edit(key, "topic", key, str(value))
        return self.broker_edit(_BROKER_NAMES[key], value)

    def broker_edit(self, key: str, value: int | str) -> Edit:
        return Edit(key, "broker", key, str(value))


def nice_ms(most: int) -> int:
    """The largest duration, not above `most`, that a person would write."""
    return max([ms for ms in _NICE_MS if ms <= most], default=_NICE_MS[0])


def nice_bytes(most: int) -> int:
    """The largest power of two, not above `most`, that is a sane segment: 1 MiB to 1 GiB."""
    return 1 << max(20, min(30, max(1, most).bit_length() - 1))


def traffic_bounds(reading: Reading) -> str:
    return "steady traffic" if not reading.missing_traffic else "steady traffic, assumed"


def story_again(context: Context, segments: int = 2) -> Again:
    """The same traffic on the topic of another deployment."""

    def played(changed: Deployment) -> Sequence[Step]:
        reading = Reading(changed)
        flow = reading.flow()
        return life_story(context, reading.config(), flow, reading.schedule(), segments) if flow else ()

    return played


def life_story(
    context: Context, config: LogConfig, flow: Flow, schedule: Schedule, segments: int = 2
) -> tuple[Any, ...]:
    """The first segments of such a log, step by step."""
    from ....sim.log.story import steady_story

    def told() -> list[Any]:
        return list(steady_story(config, flow, schedule, segments))

    return tuple(context.remember("storage-life", repr((config, flow, schedule, segments)), told))
