"""Settings -> simulator policy: with `fix/candidates.py`, the way back, the only place where configuration
keys meet the simulator.

Each thing the simulator asks about is a Knob: the values it may have in this deployment (one if it is in
sight, every behaviour it can take if not), and what decided it.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from ..catalog import Version
from ..join.controllers import controllers_apart, holds_partitions
from ..join.effective import by_key, effective
from ..join.racks import BROKERS_PLACED_MAX, TOO_MANY, Racks, broker_racks, worst_placement
from ..join.reader import Reader
from ..model import Deployment, Fact, Setting
from ..sim.partition.state import Policy
from ..sim.producer.policy import ProducerPolicy
from ..syntax.numbers import SHORT, fact_count, integer
from ..tuples import NamedTuple
from .knob import Knob
from .producer_knobs import producer_knobs

COMBINATIONS_MAX = 64


# How Kafka behaves at a version, whatever the settings.


def truncation_of(number: tuple[int, ...]) -> str:
    if number < (0, 11):
        return "high-watermark"
    if number < (2, 0):
        return "kip-101"
    return "kip-279" if number < (2, 1) else "kip-320"


def behaviour(version: Version, own_protocol: bool) -> dict[str, Any]:
    """Fields that the version alone decides. Without `own_protocol` logs are cut as today's Kafka cuts them:
    runs that rest on an old protocol are one note of their own and count in no other rule."""
    number = version.number
    fields: dict[str, Any] = {
        "min_isr_capped": number >= (3, 7),
        "hw_waits_for_min_isr": number >= (3, 7),
    }
    if own_protocol:
        fields["truncation"] = truncation_of(number)
        fields["joins_at_epoch_start"] = number >= (2, 0, 1)
        fields["bounce_unnoticed"] = number < (2, 2)
    return fields


class Decoded(NamedTuple):
    """A deployment in the simulator's words."""

    version: Version
    knobs: Mapping[str, Knob]
    producer: Mapping[str, Knob] | None  # None: its settings contradict each other, so it does not start
    family: str
    internal: str | None = None  # the internal topic it is about, if any
    racks: Racks | None = None  # of the brokers, where they are known
    kraft: bool = True
    racks_unplaced: bool = False  # brokers that name no rack, too many to try every placement
    minimum_with_elr: int | None = None  # min.insync.replicas with eligible leader replicas, if another
    brokers_assumed: bool = False  # no file says how many brokers there are: as of a cluster of several


class Internal(NamedTuple):
    """A topic that Kafka makes for itself: whose settings give its replication factor and minimum, and what
    it is called, or which setting names it."""

    component: str
    factor: str
    minimum: str
    name: str | None = None
    named_by: str | None = None


STREAMS_WRITES = "streams-writes"
_MINIMUM = "min.insync.replicas"
_UNCLEAN = "unclean.leader.election.enable"
INTERNAL = {
    "offsets": Internal("broker", "offsets.topic.replication.factor", _MINIMUM, "__consumer_offsets"),
    "transactions": Internal(
        "broker",
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "__transaction_state",
    ),
    "auto-created": Internal("broker", "default.replication.factor", _MINIMUM),
    # Any topic that leaves to the brokers how leaders are elected: it may be made with another factor.
    "by-default": Internal("broker", "default.replication.factor", _MINIMUM),
    "streams": Internal("streams", "replication.factor", _MINIMUM),
    # What a Streams application writes, where it says how: with acks=all unless it is told otherwise.
    STREAMS_WRITES: Internal("streams", "replication.factor", _MINIMUM),
    **{
        f"connect-{name}": Internal(
            "connect",
            f"{stem}.storage.replication.factor",
            _MINIMUM,
            named_by=f"{stem}.storage.topic",
        )
        for name, stem in (("config", "config"), ("offsets", "offset"), ("status", "status"))
    },
}


def decode_internal(deployment: Deployment, topic: str, several: bool = False) -> Decoded | None:
    """An internal topic as a deployment of its own: written with acks=all by Kafka itself. None where what
    makes it is not in sight. `several`: a cluster that no file counts is taken to have more than a broker."""
    look = Reader(deployment)
    version = look.version
    component, factor_key, minimum_key, *_ = INTERNAL[topic]
    if not look.in_sight(component, factor_key):
        return None
    if topic == "auto-created" and look.text("broker", "auto.create.topics.enable")[0] == "false":
        return None
    acks = Knob("acks", ("all",), "acks")
    if topic == STREAMS_WRITES:
        given = _streams_acks(look)
        if given is None and not several:
            return None
        acks = given or acks
    name = "cluster.brokers"
    brokers = fact_count(name, next((fact.value for fact in deployment.facts if fact.name == name), None))
    # Where more brokers may stand elsewhere, those in sight are not all, and are several all the same.
    counted = brokers is not None or sum(map(holds_partitions, deployment.cluster)) > 1
    if component == "broker" and (brokers == 1 or not (counted or several)):
        return None  # one broker has one replica at most, and a lone file does not say how many there are
    factor, factor_found = look.number(component, factor_key)
    if factor == -1:
        factor, factor_found = look.number("broker", "default.replication.factor")
    decided = ((component, factor_found),) if factor_found is not None else ()
    most = brokers or 3
    known = factor is not None and factor > (1 if topic == "by-default" else 0)
    replicas = Knob(
        "replicas",
        (factor,) if known else tuple(range(1, min(3, most) + 1)),
        "replication factor" if topic == "by-default" else factor_key,
        decided,
        3,
        look.of_cluster(component, factor_key),
    )
    minimum, minimum_found = look.number("broker", minimum_key)
    decided = (("broker", minimum_found),) if minimum_found is not None else ()
    known_minimum = minimum is not None and minimum > 0
    values = (minimum,) if known_minimum else _minimums(max(replicas.values))
    knobs = {
        "acks": acks,
        "replicas": replicas,
        "min_isr": Knob("min_isr", values, minimum_key, decided, 1, look.of_cluster("broker", minimum_key)),
        "unclean": _internal_unclean(look, topic),
        "elr": _elr({fact.name: fact for fact in deployment.facts}, version),
        **_storage({fact.name: fact for fact in deployment.facts}),
    }
    minimum_with_elr = None
    if minimum_key == _MINIMUM:
        knobs["min_isr"], minimum_with_elr = _with_elr(look, knobs["min_isr"], knobs["elr"])
    return Decoded(
        version,
        knobs,
        {},
        "java",
        topic,
        minimum_with_elr=minimum_with_elr,
        brokers_assumed=component == "broker" and not counted,
    )


def _streams_acks(look: Reader) -> Knob | None:
    """How the producers of a Streams application write, where its file says so. What is exactly once is
    written with acks=all, or refused."""
    layer = look.layers["streams"]
    exactly_once = layer.get("processing.guarantee")
    found = layer.get("producer.acks") or layer.get("acks")
    if found is None or not isinstance(found.value, str):
        return None
    if exactly_once is not None and str(exactly_once.value).strip().startswith("exactly_once"):
        return None
    value = {"-1": "all", "all": "all", "1": "1", "0": "0"}.get(found.value.strip().lower())
    return None if value is None else Knob("acks", (value,), found.key, (("streams", found),), "all")


def _internal_unclean(look: Reader, topic: str) -> Knob:
    """TransactionStateManager.transactionTopicConfigs: unclean election is off, whatever the brokers say."""
    if topic == "transactions":
        return Knob("unclean", (False,), _UNCLEAN, (), False)
    return _unclean(look, "broker", {fact.name: fact for fact in look.deployment.facts})


def _unclean(look: Reader, component: str, facts: Mapping[str, Fact]) -> Knob:
    """KRaft elects no unclean leader by itself before 3.9, whatever is set
    (ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic)."""
    mode = facts.get("cluster.mode")
    if mode is not None and mode.value == "kraft" and look.version.number < (3, 9):
        return Knob("unclean", (False,), _UNCLEAN, (), False)
    return _flag(look, "unclean", component, _UNCLEAN)


def _with_elr(look: Reader, min_isr: Knob, elr: Knob) -> tuple[Knob, int | None]:
    """Of a topic that names no minimum: with eligible leader replicas the cluster's counts, which is that of
    its controllers (join/controllers.py). The second is that minimum, if it is another than the brokers'."""
    controllers = controllers_apart(look.deployment.cluster)
    if True not in elr.values or not controllers or not min_isr.seen:
        return min_isr, None
    found, _ = effective("broker", _MINIMUM, look.version, {"broker": by_key(controllers[0])})
    text = found.value if found is not None and isinstance(found.value, str) else ""
    theirs = integer(text.strip(), (1, SHORT[1]))
    if found is None or theirs is None or min_isr.values == (theirs,):
        return min_isr, None
    if elr.values == (True,):
        return min_isr._replace(values=(theirs,), decided_by=(("broker", found),)), None
    return min_isr._replace(
        values=(*min_isr.values, theirs),
        decided_by=(*min_isr.decided_by, ("broker", found)),
        reference=theirs if elr.reference else min_isr.values[0],
    ), theirs


def decode(deployment: Deployment) -> Decoded:
    look = Reader(deployment)
    version = look.version
    facts = {fact.name: fact for fact in deployment.facts}
    producer = producer_knobs(look)
    replicas = _replicas(look, facts)
    elr = _elr(facts, version)
    min_isr, minimum_with_elr = _min_isr(look, replicas), None
    if _MINIMUM not in look.layers["topic"]:
        min_isr, minimum_with_elr = _with_elr(look, min_isr, elr)
    knobs = {
        "acks": producer["acks"] if producer else Knob("acks", ("all", "1"), "acks", (), "all"),
        "replicas": replicas,
        "min_isr": min_isr,
        "unclean": _unclean(look, "topic", facts),
        "elr": elr,
        **_storage(facts),
    }
    family = deployment.producer.client if deployment.producer is not None else "java"
    mode = facts.get("cluster.mode")
    kraft = mode.value == "kraft" if mode is not None else version.number >= (3, 3)
    racks = broker_racks(deployment)
    return Decoded(
        version,
        knobs,
        producer,
        "librdkafka" if family == "librdkafka" else "java",
        racks=None if racks is TOO_MANY else racks,
        kraft=kraft,
        racks_unplaced=racks is TOO_MANY,
        minimum_with_elr=minimum_with_elr,
    )


def _flag(look: Reader, field: str, component: str, key: str) -> Knob:
    given, found = look.flag(component, key)
    decided = ((component, found),) if found is not None else ()
    reference = look.default(component, key) == "true"
    if given is None:
        return Knob(field, (False, True), key, decided, reference, look.of_cluster(component, key))
    return Knob(field, (given,), key, decided, reference)


def _replicas(look: Reader, facts: Mapping[str, Fact]) -> Knob:
    label = "replication factor"
    fact = facts.get("topic.replication_factor")
    factor = None if fact is None else fact_count(fact.name, fact.value)
    if fact is not None and factor is not None:
        shown = Setting(label, fact.value, fact.origin)
        return Knob("replicas", (factor,), label, (("topic", shown),), 3)
    topic = look.deployment.topic
    if fact is None and topic is not None and not topic.partial and look.deployment.cluster:
        # A topic that names no factor takes the cluster's default when it is made.
        value, found = look.number("broker", "default.replication.factor")
        if value is not None and value > 0 and found is not None:
            return Knob("replicas", (value,), label, (("broker", found),), 3)
    brokers = facts.get("cluster.brokers")
    most = min(3, (fact_count(brokers.name, brokers.value) if brokers is not None else None) or 3)
    default = look.of_cluster("broker", "default.replication.factor")
    return Knob("replicas", tuple(range(1, most + 1)), label, (), most, default)


def _min_isr(look: Reader, replicas: Knob) -> Knob:
    key = "min.insync.replicas"
    value, found = look.number("topic", key)
    decided = (("topic", found),) if found is not None else ()
    if value is not None and value > 0:
        return Knob("min_isr", (value,), key, decided, 1)
    return Knob("min_isr", _minimums(max(replicas.values)), key, decided, 1, look.of_cluster("topic", key))


def _minimums(replicas: int) -> tuple[int, ...]:
    """What min.insync.replicas may be where nobody says. Of many, those at either end: one in the middle has
    more copies than the faults of any question take, and more replicas to spare."""
    if replicas <= 6:
        return tuple(range(1, replicas + 1))
    return (1, 2, 3, replicas - 2, replicas - 1, replicas)


def _elr(facts: Mapping[str, Fact], version: Version) -> Knob:
    label = "eligible leader replicas"
    if version.number < (4, 0):
        return Knob("elr", (False,), label)
    fact = facts.get("cluster.elr")
    if fact is not None and fact.value in ("on", "off"):
        shown = Setting(label, fact.value, fact.origin)
        return Knob("elr", (fact.value == "on",), label, (("broker", shown),))
    # A feature of the cluster, in no file: off by default in 4.0, on where it was formatted at 4.1 or later.
    return Knob("elr", (True, False), label, (), version.number >= (4, 1))


def _storage(facts: Mapping[str, Fact]) -> dict[str, Knob]:
    """Named only where it is ephemeral: brokers keep their disks, as far as nobody says otherwise."""
    fact = facts.get("cluster.storage")
    if fact is None or fact.value != "ephemeral":
        return {}
    shown = Setting("storage", fact.value, fact.origin)
    return {"ephemeral": Knob("ephemeral", (True,), "ephemeral storage", (("broker", shown),), False)}


# From knobs to policies.


class Combination(NamedTuple):
    """One way the unseen may be, and the policy it makes."""

    policy: Any
    choices: Mapping[str, Any]


def replication_policies(decoded: Decoded, own_protocol: bool = False) -> list[Combination]:
    """Every distinct behaviour the deployment can have, the reference one first."""
    fixed = behaviour(decoded.version, own_protocol)
    names = list(decoded.knobs)
    found: list[Combination] = []
    for values in _choices([decoded.knobs[name] for name in names]):
        choices = dict(zip(names, values, strict=True))
        if not decoded.knobs["min_isr"].seen and choices["min_isr"] > choices["replicas"]:
            continue  # as min.insync.replicas = RF, or no writes at all: never what saves a deployment
        with_elr = decoded.minimum_with_elr
        if with_elr is not None and (choices["min_isr"] == with_elr) != choices["elr"]:
            continue
        found.append(Combination(Policy(**choices, **fixed), choices))
    return found


RACKS_UNPLACED = (
    f"more than {BROKERS_PLACED_MAX} brokers that name no rack: where Kafka places replicas is not tried; "
    "set broker.rack"
)


def rack_policies(decoded: Decoded) -> list[Combination]:
    """The same with the replicas placed on the racks, as Kafka places them, the worst partition taken."""
    found: list[Combination] = []
    if decoded.racks is None:
        return found
    for combination in replication_policies(decoded):
        placed = worst_placement(decoded.racks, combination.policy.replicas, decoded.kraft)
        if placed is not None:
            numbers = {rack: number for number, rack in enumerate(dict.fromkeys(decoded.racks.of_brokers))}
            racks = tuple(numbers[rack] for rack in placed.racks)
            found.append(combination._replace(policy=combination.policy._replace(racks=racks)))
    return found


def producer_policies(decoded: Decoded) -> list[Combination]:
    """Empty where the producer does not start or none is in sight."""
    if not decoded.producer:
        return []
    names = list(decoded.producer)
    found = []
    for values in _choices([decoded.producer[name] for name in names]):
        choices = dict(zip(names, values, strict=True))
        if choices["idempotence"] and (choices["acks"] != "all" or choices["retries"] == 0):
            continue
        if choices["idempotence"] and choices["in_flight"] > 5:
            continue
        found.append(Combination(ProducerPolicy(client_family=decoded.family, **choices), choices))
    return found


def _choices(knobs: list[Knob]) -> Iterator[tuple[Any, ...]]:
    ordered = []
    for knob in knobs:
        values = sorted(knob.values, key=lambda value: value != knob.reference)
        ordered.append(values)
    yield from product(*ordered)
