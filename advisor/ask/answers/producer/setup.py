"""Settings -> the timeline's setup: sessions, lags, buffers and timeouts as brokers and producer apply
them, each with what decided it.

What is not in sight is the reference deployment's (the defaults of the version) and listed in `assumed`;
what a template fills in is listed in `unknown`, and nothing may be concluded from it.
"""

from __future__ import annotations

from typing import Any

from ....catalog import Version, librdkafka
from ....join.effective import by_key, shows_brokers
from ....join.reader import Reader
from ....model import Deployment, Origin, Setting
from ....packs.conditions import number
from ....sim.clock.producer.policy import ClientPolicy
from ....sim.clock.quorum import Control, Ensemble, Quorum
from ....sim.clock.replicas import ClusterPolicy
from ....sim.clock.timeline import Setup
from ....sim.partition.state import Policy
from ....syntax.numbers import LONG
from ....tuples import NamedTuple
from ...policies import behaviour, decode

MILLISECOND = 1_000
NEVER = (1 << 31) - 1
# tickTime of ZooKeeper's own sample, which Kafka's brokers do not see.
TICK = 2_000 * MILLISECOND
# Values of recorded and of simulated sends are one letter again and again: any codec makes little of them.
COMPRESSED = 0.01

Pair = tuple[str, Setting]

# What is looked at or tried again without a pause keeps the clock at one moment for ever. No outage is so
# short that this one matters.
LEAST_PAUSE = 10 * MILLISECOND
# As many as a schedule may name.
REPLICAS_PLAYED = 8

# Fields of the producer: Kafka's key, librdkafka's key, and the factors from each to the field.
_FIELDS: tuple[tuple[str, str, str | None, int, int], ...] = (
    ("batch_size", "batch.size", "batch.size", 1, 1),
    ("linger", "linger.ms", "queue.buffering.max.ms", MILLISECOND, MILLISECOND),
    ("max_request_size", "max.request.size", "message.max.bytes", 1, 1),
    ("buffer_memory", "buffer.memory", "queue.buffering.max.kbytes", 1, 1024),
    ("max_block", "max.block.ms", None, MILLISECOND, 0),
    ("request_timeout", "request.timeout.ms", "request.timeout.ms", MILLISECOND, MILLISECOND),
    ("delivery_timeout", "delivery.timeout.ms", "message.timeout.ms", MILLISECOND, MILLISECOND),
    ("retry_backoff", "retry.backoff.ms", "retry.backoff.ms", MILLISECOND, MILLISECOND),
    ("retry_backoff_max", "retry.backoff.max.ms", "retry.backoff.max.ms", MILLISECOND, MILLISECOND),
    (
        "metadata_max_age",
        "metadata.max.age.ms",
        "topic.metadata.refresh.interval.ms",
        MILLISECOND,
        MILLISECOND,
    ),
)


class Timed(NamedTuple):
    """A deployment on the clock. `settings` are those that time hangs on, with their origins."""

    setup: Setup
    settings: tuple[Pair, ...]
    assumed: tuple[str, ...]
    unknown: tuple[str, ...]

    def setting(self, component: str, *keys: str) -> Setting | None:
        """Under the first of these names that there is."""
        found = {setting.key: setting for of, setting in self.settings if of == component}
        return next((found[key] for key in keys if key in found), None)


# Several guarantees ask for it, one deployment after another: the last one's is kept.
_last: dict[bool, tuple[Deployment, Timed | None]] = {}


def timed(deployment: Deployment, compressible: bool = False) -> Timed | None:
    """None where the producer does not start. `compressible`: values are one letter again and again."""
    last = _last.get(compressible)
    if last is None or last[0] is not deployment:
        last = _last[compressible] = deployment, _timed(deployment, compressible)
    return last[1]


def _timed(deployment: Deployment, compressible: bool) -> Timed | None:
    reader = _Noting(deployment)
    decoded = decode(deployment)
    if decoded.producer is None:
        return None
    chosen = {
        name: reader.choose(knob.label, knob.values, knob.reference, knob.decided_by)
        for name, knob in {**decoded.knobs, **decoded.producer}.items()
    }
    partition = Policy(
        **{name: chosen[name] for name in decoded.knobs}, **behaviour(decoded.version, own_protocol=True)
    )
    partition = _few_replicas(partition)
    session = "broker.session.timeout.ms" if decoded.kraft else "zookeeper.session.timeout.ms"
    session_timeout = reader.number("broker", session) * MILLISECOND
    heartbeat = session_timeout // 3
    if decoded.kraft:
        heartbeat = reader.number("broker", "broker.heartbeat.interval.ms") * MILLISECOND
    cluster = ClusterPolicy(
        session_timeout=session_timeout,
        lag_time_max=max(LEAST_PAUSE, reader.number("broker", "replica.lag.time.max.ms") * MILLISECOND),
        max_message_bytes=reader.number("topic", "max.message.bytes"),
        heartbeat_interval=heartbeat,
        heartbeat_patience=_heartbeat_patience(decoded.version, decoded.kraft, session_timeout, heartbeat),
        session_tick=0 if decoded.kraft else TICK,
        rebalance_interval=_rebalance(reader),
        lag_messages=_lag_messages(reader),
        **_control(reader, decoded.kraft, partition.replicas, session_timeout),
    )
    client = _client(reader, reader.reader.version_of("producer"), chosen, compressible)
    setup = Setup(partition, cluster, client)
    return Timed(setup, tuple(reader.settings), tuple(reader.assumed), tuple(reader.unknown))


def _few_replicas(partition: Policy) -> Policy:
    """No run loses more than a few brokers, and each replica costs time: more are played as REPLICAS_PLAYED,
    with as many to spare."""
    more = partition.replicas - REPLICAS_PLAYED
    if more <= 0:
        return partition
    spare = partition.replicas - partition.min_isr
    min_isr = partition.min_isr - more if spare < REPLICAS_PLAYED // 2 else REPLICAS_PLAYED // 2
    return partition._replace(
        replicas=REPLICAS_PLAYED,
        min_isr=min(min_isr, partition.min_isr),
        racks=partition.racks[:REPLICAS_PLAYED],
    )


def _heartbeat_patience(version: Version, kraft: bool, session: int, interval: int) -> int:
    """How long a broker waits for an answer before it connects to the controller anew (BrokerServer's
    channel for heartbeats; ZooKeeper's ClientCnxn.readTimeout)."""
    if not kraft:
        return session * 2 // 3
    return interval if version.number >= (4, 1) else session // 2


def _control(reader: _Noting, kraft: bool, replicas: int, session_timeout: int) -> dict[str, Any]:
    """Who elects the controller, which replicas' brokers vote too, and how many brokers hold no replica. A
    cluster whose brokers nobody counts has three, or as many as there are replicas."""
    brokers = max(replicas, reader.brokers())
    control: Control = Ensemble(brokers, session_timeout, TICK)
    voters_at: tuple[int, ...] = ()
    if kraft:
        voters = reader.voters()
        control = Quorum(
            voters or 1,
            *(reader.default(f"controller.quorum.{name}.ms") * MILLISECOND for name in _QUORUM_TIMES),
        )
        if voters is not None and reader.combined():
            voters_at = tuple(range(min(voters, replicas)))
    return {"control": control, "voters_at": voters_at, "others": brokers - replicas}


_QUORUM_TIMES = ("fetch.timeout", "election.timeout", "election.backoff.max")


def _rebalance(reader: _Noting) -> int:
    """How often leadership is moved back, 0 for never."""
    found, _ = reader.reader.in_force("broker", "auto.leader.rebalance.enable")
    if found is None or found.value != "true":
        return 0
    return max(0, reader.default("leader.imbalance.check.interval.seconds")) * 1_000 * MILLISECOND


def _lag_messages(reader: _Noting) -> int | None:
    """replica.lag.max.messages counts before 0.9 alone (KAFKA-1546); its default there was 4,000."""
    if reader.version.number >= (0, 9):
        return None
    given = reader.layers.get("broker", {}).get("replica.lag.max.messages")
    return _whole(given) or 4_000


def _client(reader: _Noting, version: Version, chosen: dict[str, Any], compressible: bool) -> ClientPolicy:
    fields = {name: reader.producer(java, rdkafka, *factors) for name, java, rdkafka, *factors in _FIELDS}
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in ("retry_backoff", "metadata_max_age"):
        given[name] = max(LEAST_PAUSE, given[name])
    of_librdkafka = reader.family == "librdkafka"
    given.setdefault("retry_backoff_max", given["retry_backoff"])
    given["retry_backoff_max"] = max(given["retry_backoff"], given["retry_backoff_max"])
    least = given["linger"] + given["request_timeout"]
    if "delivery_timeout" not in given:
        # Before 2.1 there is no delivery.timeout.ms: a batch expires request.timeout.ms after it was ready
        # (ProducerBatch.maybeExpire).
        given["delivery_timeout"] = least
    elif not of_librdkafka and not reader.is_set("delivery.timeout.ms"):
        # KafkaProducer.configureDeliveryTimeout: a default that is too short is raised, with a warning.
        given["delivery_timeout"] = max(given["delivery_timeout"], least)
    elif of_librdkafka and given["delivery_timeout"] == 0:
        given["delivery_timeout"] = NEVER * MILLISECOND
    if of_librdkafka:
        given |= reader.librdkafka_mechanics(given)
    retries = reader.producer("retries", "message.send.max.retries", 1, 1)
    if chosen.get("idempotence") and not of_librdkafka and not reader.is_set("retries"):
        retries = None  # in 2.0, where the default is 0, idempotence raises it
    codec = reader.text("compression.type", "compression.codec")
    return ClientPolicy(
        acks=chosen["acks"],
        idempotence=chosen.get("idempotence", version.number >= (3,) and chosen["acks"] == "all"),
        in_flight=chosen.get("in_flight", 5),
        retries=None if retries is None or retries >= NEVER else retries,
        backoff_grows=of_librdkafka or version.number >= (3, 7),
        # librdkafka never forgets the brokers that it was given.
        rebootstraps=of_librdkafka or version.number >= (4,),
        leader_in_answer=version.number >= (3, 7),
        compression_ratio=COMPRESSED if compressible and codec not in (None, "none") else None,
        **given,
    )


class _Noting:
    """A reader that notes what each value came from, and what had to be assumed."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment, self.reader = deployment, Reader(deployment)
        self.version, self.layers = self.reader.version, self.reader.layers
        document = deployment.producer
        self.family = document.client if document is not None else "java"
        self.rdkafka = self.layers.get("producer", {})
        self.settings: list[Pair] = []
        self.assumed: list[str] = []
        self.unknown: list[str] = []

    def choose(
        self, label: str, values: tuple[Any, ...], reference: Any, decided_by: tuple[Pair, ...]
    ) -> Any:
        self._keep(*decided_by)
        if len(values) == 1:
            return values[0]
        written = any(not isinstance(setting.value, str) for _, setting in decided_by)
        (self.unknown if written else self.assumed).append(label)
        return reference if reference in values else values[0]

    def is_set(self, key: str) -> bool:
        return key in self.layers.get("producer", {})

    def number(self, component: str, key: str) -> int:
        """Of a broker or a topic, which every version has."""
        found, _ = self.reader.in_force(component, key)
        if found is not None and not isinstance(found.value, str):
            self.unknown.append(key)
            found = self.reader.of_release(component, key)
        elif found is not None and found.origin.kind == "default" and not self._in_sight(component):
            self.assumed.append(f"{key}={found.value}")
        number = _whole(found)
        if number is None:
            self.unknown.append(key)
            found = self.reader.of_release(component, key)
            number = _whole(found) or 0
        if found is not None:
            self._keep((component, found))
        return number

    # Of the cluster, for what only some faults ask about: not shown among the settings, nothing is assumed.

    def default(self, key: str) -> int:
        """As it is set, or as the release has it; 0 where it has no such key."""
        found, _ = self.reader.in_force("broker", key)
        return _whole(found) or 0

    def brokers(self) -> int:
        return self.reader.count("cluster.brokers") or 3

    def voters(self) -> int | None:
        """None where no file tells. The voters of a dynamic quorum (KIP-853) are in its own log: they are
        taken to be those that a node starts from, and the brokers in sight that are controllers too."""
        layer = self.layers.get("broker", {})
        listed = _listed(layer.get("controller.quorum.voters"))
        if listed:
            return listed
        starts_from = _listed(layer.get("controller.quorum.bootstrap.servers"))
        return max(starts_from, sum(self._combined())) if starts_from else None

    def combined(self) -> bool:
        """Every broker in sight is a controller too."""
        found = self._combined()
        return bool(found) and all(found)

    def _combined(self) -> list[bool]:
        both = {"broker", "controller"}
        given = (by_key(document).get("process.roles") for document in self.deployment.cluster)
        return [
            isinstance(setting.value, str) and {part.strip() for part in setting.value.split(",")} == both
            for setting in given
            if setting is not None
        ]

    def producer(self, java: str, rdkafka: str | None, factor: int, rdkafka_factor: int) -> int | None:
        """None: this release has no such key."""
        if self.family == "librdkafka":
            found, factor = (self._rdkafka(rdkafka) if rdkafka is not None else None), rdkafka_factor
        else:
            found, _ = self.reader.in_force("producer", java)
        if found is None:
            return None
        number = _whole(found)
        if number is None:
            self.unknown.append(java)
            default = self.reader.of_release("producer", java)
            number = _whole(default) or 0
        elif self.deployment.producer is None:
            self.assumed.append(f"{java}={found.value}")
        self._keep(("producer", found))
        return number * factor

    def librdkafka_mechanics(self, given: dict[str, Any]) -> dict[str, Any]:
        """Where its clock differs from the Java client's. No send() waits for memory: rd_kafka_produce() says
        QUEUE_FULL at once, unless asked to block."""
        found = {
            name: _whole(self._rdkafka(key))
            for name, key in (
                ("socket", "socket.timeout.ms"),
                ("records", "queue.buffering.max.messages"),
                ("backoff", "reconnect.backoff.ms"),
                ("backoff_max", "reconnect.backoff.max.ms"),
            )
        }
        return {
            "max_block": 0,
            "batches_late": True,
            "acks_timeout": given["request_timeout"],
            "request_timeout": (found["socket"] or 60_000) * MILLISECOND,
            "records_max": found["records"] or None,
            "reconnect_backoff": (found["backoff"] or 1) * MILLISECOND,
            "reconnect_backoff_max": (found["backoff_max"] or 10_000) * MILLISECOND,
        }

    def text(self, java: str, rdkafka: str) -> str | None:
        if self.family == "librdkafka":
            found: Setting | None = self._rdkafka(rdkafka)
        else:
            found, _ = self.reader.in_force("producer", java)
        return found.value if found is not None and isinstance(found.value, str) else None

    def _rdkafka(self, key: str) -> Setting:
        given = self.rdkafka.get(key)
        if given is not None:
            return given
        known = librdkafka(key)
        default = "" if known is None or known.default is None else str(known.default)
        return Setting(key, default, Origin("default", None, "default of librdkafka"))

    def _in_sight(self, component: str) -> bool:
        return shows_brokers(self.deployment)

    def _keep(self, *pairs: Pair) -> None:
        self.settings += [pair for pair in pairs if pair not in self.settings]


def _whole(setting: Setting | None) -> int | None:
    if setting is None or not isinstance(setting.value, str):
        return None
    found = number(setting.value)
    return None if found is None or abs(found) > LONG[1] else int(found)


def _listed(setting: Setting | None) -> int:
    """How many a list names, 0 if nobody wrote one or a template fills it in."""
    if setting is None or not isinstance(setting.value, str):
        return 0
    return sum(bool(part.strip()) for part in setting.value.split(","))
