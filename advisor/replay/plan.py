"""The audited configuration as the models take it: for each topic of the trace its partitions, where they
lie, its log, and how its producer batches.

What no file in sight says has Kafka's default; `assumed` names it, so that a reader knows what the result
rests on. A sweep is several plans, made by the same way of reading with another value set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..ask.answers.storage.settings import Reading
from ..catalog import lookup
from ..engine import Options, load_deployments
from ..join.versions import choose_version
from ..model import Deployment, UsageError
from ..registry import load_registry
from ..sim.log.log import LogConfig, Schedule
from ..sim.placing.partitioner import SCHEMES
from ..sim.placing.placement import Broker, assign_replicas
from ..sim.producer.accumulator import Batching
from ..sim.wire.compression import CODECS
from ..tuples import NamedTuple
from .options import ReplayOptions

# Compressed bytes by bytes where nothing is measured and nothing stated: JSON-like records, as often
# published.
ASSUMED_RATIOS = {"gzip": 0.35, "snappy": 0.5, "lz4": 0.5, "zstd": 0.33}
ROUND_ROBIN, STICKY, UNIFORM = "round-robin", "sticky", "uniform-sticky"


class TopicPlan(NamedTuple):
    """One topic. Places are numbers of partitions across all topics, from `first_place` on."""

    topic: str
    deployment: str
    first_place: int
    replicas: tuple[tuple[int, ...], ...]
    scheme: str
    keyless: str
    batching: Batching
    codec: str
    log: LogConfig
    schedule: Schedule
    consumer: Consumer
    assumed: tuple[str, ...]

    @property
    def partitions(self) -> int:
        return len(self.replicas)


class Consumer(NamedTuple):
    """How the group reads: None where the workload does not say how long a record takes."""

    group: str = ""
    members: int = 1
    processing_ms: float | None = None
    max_poll_records: int = 500
    max_poll_interval_ms: int = 300_000
    fetch_min_bytes: int = 1
    fetch_wait_ms: int = 500


class Plan(NamedTuple):
    """One variant: `label` is empty for the configuration as it is, else `key=value` of a sweep."""

    label: str
    topics: tuple[TopicPlan, ...]
    brokers: int

    @property
    def places(self) -> int:
        return sum(topic.partitions for topic in self.topics)

    @property
    def leaders(self) -> list[int]:
        return [replicas[0] for topic in self.topics for replicas in topic.replicas]

    def named(self, place: int) -> tuple[TopicPlan, int]:
        topic = max((one for one in self.topics if one.first_place <= place), key=lambda one: one.first_place)
        return topic, place - topic.first_place


def plans(options: ReplayOptions, topics: Mapping[str, int | None], ratio: float | None) -> list[Plan]:
    """The configuration as it is, then each value of each sweep. `topics` are those of the trace, with the
    largest partition that was recorded; `ratio` is what the trace itself shows of compression."""
    made = [_plan(options, "", (), topics, ratio)]
    for key, values in options.sweep.items():
        for value in values:
            changed = f"{key}={value}"
            made.append(_plan(options, changed, (_override(key, value),), topics, ratio))
    return made


def schemes(options: ReplayOptions) -> dict[str, str]:
    """How producers hash keys, by the topics that the configuration names; "" stands for all others."""
    found, clients = _found(options, ())
    named = {one.topic.name for one in found if one.topic is not None and one.topic.name}
    return {topic: _Topic(_deployment_of(topic, found), clients).scheme() for topic in ("", *sorted(named))}


def _override(key: str, value: str) -> str:
    """As `--set` takes it: the component is found by the key."""
    if key == "partitions":
        return f"fact.partitions={value}"
    newest = choose_version(None, ())[0]
    head, _, rest = key.partition(".")
    if head in ("producer", "topic", "broker", "consumer", "fact") and rest:
        return f"{key}={value}"
    if key == "compression.type":
        return f"producer.{key}={value}"
    for component in ("topic", "producer", "consumer", "broker"):
        if lookup(component, key, newest) is not None:
            return f"{component}.{key}={value}"
    raise UsageError(f"{key} is no key of a topic, a producer, a consumer or a broker")


def _plan(
    options: ReplayOptions,
    label: str,
    sets: Sequence[str],
    topics: Mapping[str, int | None],
    ratio: float | None,
) -> Plan:
    found, clients = _found(options, sets)
    made: list[TopicPlan] = []
    place = 0
    brokers = max([_Topic(one, clients).brokers for one in found], default=1)
    named = {one.topic.name for one in found if one.topic is not None}
    # Topics that no file names are alike, but for what was recorded of them and where their replicas begin.
    alike: dict[tuple[int | None, int], TopicPlan] = {}
    for number, topic in enumerate(sorted(topics)):
        key = topics[topic], number % brokers
        one = None if topic in named else alike.get(key)
        if one is None:
            reader = _Topic(_deployment_of(topic, found), clients)
            one = reader.plan(topic, number, place, topics[topic], options, ratio, brokers)
            if topic not in named:
                alike[key] = one
        made.append(one._replace(topic=topic, first_place=place))
        place += one.partitions
    return Plan(label, tuple(made), brokers)


def _found(options: ReplayOptions, sets: Sequence[str]) -> tuple[list[Deployment], Mapping[str, Any]]:
    """The deployments of the audited paths, and the client families that are known."""
    asked = Options(
        paths=options.config,
        kafka_version=options.kafka_version,
        sets=(*_set_words(options.sets), *sets),
        cache=options.cache,
    )
    scope, roots = load_deployments(asked)
    if scope.missing:
        raise UsageError("\n".join(scope.missing))
    found = [deployment for root in roots for deployment in root.deployments]
    if not found:
        raise UsageError("--config: no Kafka configuration among these paths")
    return found, load_registry().clients


def _set_words(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--set {word}: write KEY=VALUE")
        yield _override(key, value)


def _deployment_of(topic: str, found: Sequence[Deployment]) -> Deployment:
    """The topic's own, with a producer if one is in sight; else what writes to no topic in particular."""

    def rank(deployment: Deployment) -> tuple[int, int, int, int]:
        named = deployment.topic is not None and deployment.topic.name == topic
        other = deployment.topic is not None and not named
        return (
            -named,
            other,
            -(deployment.producer is not None),
            -len(deployment.cluster) - len(deployment.groups),
        )

    best = min(found, key=rank)
    other = best.topic
    if other is None or other.name == topic:
        return best
    # Another topic's settings and counts are not this one's.
    return best._replace(topic=None, facts=tuple(fact for fact in best.facts if fact not in other.facts))


class _Topic:
    """Reads one deployment, and notes what it does not say."""

    def __init__(self, deployment: Deployment, clients: Mapping[str, Any]) -> None:
        self.deployment = deployment
        self.reading = Reading(deployment)
        self.look = self.reading.look
        self.look.clients = clients
        self.assumed: list[str] = []

    @property
    def brokers(self) -> int:
        return self.reading.brokers or max(1, self.reading.replicas or 1)

    def _number(self, key: str, missing: int) -> int:
        return self.reading.number(key, missing, "producer")

    def plan(
        self,
        topic: str,
        number: int,
        place: int,
        recorded: int | None,
        options: ReplayOptions,
        ratio: float | None,
        brokers: int,
    ) -> TopicPlan:
        if self.deployment.topic is None:
            self.assumed.append("no file of this topic in sight, so the brokers' defaults count")
        partitions = self.reading.partitions
        if partitions is None:
            partitions = 1 if recorded is None else recorded + 1
            self.assumed.append(f"partitions = {partitions}, which no file says")
        factor = min(self.reading.replicas or 1, brokers)
        if self.reading.replicas is None:
            self.assumed.append(f"replication factor {factor}, which no file says")
        placed = assign_replicas(
            [Broker(one) for one in range(brokers)], partitions, factor, start_index=number % brokers
        )
        codec, batching = self._batching(options, ratio)
        return TopicPlan(
            topic,
            self.deployment.id,
            place,
            tuple(placed[partition] for partition in range(partitions)),
            self.scheme(),
            self._keyless(),
            batching,
            codec,
            self._log(),
            self.reading.schedule(),
            self._consumer(),
            tuple(self.assumed),
        )

    def _batching(self, options: ReplayOptions, measured: float | None) -> tuple[str, Batching]:
        codec = self.reading.text("compression.type", "producer").lower() or "none"
        codec = codec if codec in CODECS else "none"
        ratio = None
        if codec != "none":
            if codec in options.ratios:
                ratio = options.ratios[codec]
            elif measured is not None:
                ratio = measured
            else:
                ratio = ASSUMED_RATIOS[codec]
                self.assumed.append(
                    f"{codec} makes {ratio:g} bytes of one: assumed; state yours with --ratio {codec}=X"
                )
        if self.deployment.producer is None:
            self.assumed.append("no producer in sight: Kafka's defaults for batches")
        return codec, Batching(
            batch_size=max(0, self._number("batch.size", 16_384)),
            linger_ms=max(0, self._number("linger.ms", 0)),
            max_request_size=max(1, self._number("max.request.size", 1 << 20)),
            in_flight_max=max(1, self._number("max.in.flight.requests.per.connection", 5)),
            compression_ratio=ratio,
        )

    def scheme(self) -> str:
        producer = self.deployment.producer
        if producer is not None and producer.client == "librdkafka":
            told = self.reading.text("partitioner", "producer") or "consistent_random"
            return told if told in SCHEMES else "consistent_random"
        return "java"

    def _keyless(self) -> str:
        version = self.reading.version
        named = self.reading.text("partitioner.class", "producer")
        if named.endswith("RoundRobinPartitioner"):
            return ROUND_ROBIN
        if named.endswith("UniformStickyPartitioner"):
            return STICKY
        parts = _release(version.asked)
        return ROUND_ROBIN if parts < [2, 4] else STICKY if parts < [3, 3] else UNIFORM

    def _log(self) -> LogConfig:
        reading = self.reading
        append_time = reading.text("message.timestamp.type").lower() == "logappendtime"
        return reading.config(
            batch_bytes_max=reading.number("max.message.bytes", 1_048_588), log_append_time=append_time
        )

    def _consumer(self) -> Consumer:
        reading = self.reading
        groups = self.deployment.groups
        takes = reading.stated("processing_ms")
        members = reading.stated("members")

        def number(key: str, missing: int) -> int:
            return max(1, reading.number(key, missing, "consumer"))

        return Consumer(
            groups[0].name if groups else "",
            1 if members is None else max(1, round(members)),
            takes,
            number("max.poll.records", 500),
            number("max.poll.interval.ms", 300_000),
            number("fetch.min.bytes", 1),
            number("fetch.max.wait.ms", 500),
        )


def _release(text: str) -> list[int]:
    from ..syntax.numbers import integer

    return [integer(part, (0, 10_000)) or 0 for part in text.split(".")[:2]]
