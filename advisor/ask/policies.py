"""Settings -> simulator policy: with `fix/candidates.py`, the way back, the only place where configuration
keys meet the simulator.

Each thing the simulator asks about is a Knob: the values it may have in this deployment (one if it is in
sight, every behaviour it can take if not), and what decided it.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from ..catalog import Version, librdkafka, resolve_version
from ..join.effective import bounds_of, client_layers, deployment_layers, effective
from ..join.racks import BROKERS_PLACED_MAX, TOO_MANY, Racks, broker_racks, worst_placement
from ..model import Deployment, Document, Fact, Origin, Setting
from ..sim.partition.state import Policy
from ..sim.producer.policy import ProducerPolicy
from ..syntax.numbers import fact_count, integer

COMBINATIONS_MAX = 64


class Knob(NamedTuple):
    """One field of a policy. `decided_by` are (component, Setting) pairs; `label` is the name a reader knows
    it by; `reference` is the value of the reference deployment, drawn where the real one is not in sight."""

    field: str
    values: tuple[Any, ...]
    label: str
    decided_by: tuple[tuple[str, Setting], ...] = ()
    reference: Any = None

    @property
    def seen(self) -> bool:
        return len(self.values) == 1


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


class Internal(NamedTuple):
    """A topic that Kafka makes for itself: whose settings give its replication factor and minimum, and what
    it is called, or which setting names it."""

    component: str
    factor: str
    minimum: str
    name: str | None = None
    named_by: str | None = None


_MINIMUM = "min.insync.replicas"
INTERNAL = {
    "offsets": Internal("broker", "offsets.topic.replication.factor", _MINIMUM, "__consumer_offsets"),
    "transactions": Internal(
        "broker",
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "__transaction_state",
    ),
    "auto-created": Internal("broker", "default.replication.factor", _MINIMUM),
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


def decode_internal(deployment: Deployment, topic: str) -> Decoded | None:
    """An internal topic as a deployment of its own: written with acks=all by Kafka itself. None where what
    makes it is not in sight."""
    version = resolve_version(deployment.version)
    look = _Look(deployment, version, deployment_layers(deployment))
    component, factor_key, minimum_key, *_ = INTERNAL[topic]
    if not look.in_sight(component, factor_key):
        return None
    if topic == "auto-created" and look.read("broker", "auto.create.topics.enable")[0] == "false":
        return None
    name = "cluster.brokers"
    brokers = fact_count(name, next((fact.value for fact in deployment.facts if fact.name == name), None))
    if component == "broker" and (brokers or 1) == 1:
        return None  # one broker has one replica at most, and a lone file does not say how many there are
    factor, factor_found = look.number(component, factor_key)
    if factor == -1:
        factor, factor_found = look.number("broker", "default.replication.factor")
    decided = ((component, factor_found),) if factor_found is not None else ()
    most = brokers or 3
    known = factor is not None and factor > 0
    replicas = Knob(
        "replicas", (factor,) if known else tuple(range(1, min(3, most) + 1)), factor_key, decided, 3
    )
    minimum, minimum_found = look.number("broker", minimum_key)
    decided = (("broker", minimum_found),) if minimum_found is not None else ()
    known_minimum = minimum is not None and minimum > 0
    values = (minimum,) if known_minimum else _minimums(max(replicas.values))
    knobs = {
        "acks": Knob("acks", ("all",), "acks"),
        "replicas": replicas,
        "min_isr": Knob("min_isr", values, minimum_key, decided, 1),
        "unclean": look.flag("unclean", "broker", "unclean.leader.election.enable"),
        "elr": _elr({fact.name: fact for fact in deployment.facts}, version),
    }
    return Decoded(version, knobs, {}, "java", topic)


def decode(deployment: Deployment) -> Decoded:
    version = resolve_version(deployment.version)
    layers = deployment_layers(deployment)
    facts = {fact.name: fact for fact in deployment.facts}
    look = _Look(deployment, version, layers)
    producer = look.producer()
    replicas = _replicas(look, facts)
    knobs = {
        "acks": producer["acks"] if producer else Knob("acks", ("all", "1"), "acks", (), "all"),
        "replicas": replicas,
        "min_isr": _min_isr(look, replicas),
        "unclean": look.flag("unclean", "topic", "unclean.leader.election.enable"),
        "elr": _elr(facts, version),
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
    )


class _Look:
    """What is in sight of one deployment."""

    def __init__(self, deployment: Deployment, version: Version, layers: Mapping[str, Any]) -> None:
        self.deployment, self.version, self.layers = deployment, version, layers

    def in_sight(self, component: str, key: str) -> bool:
        """A key's value is known if its own document is there and, for a topic's, either it is set there or
        the broker that gives the default is there too."""
        if component == "topic":
            if key in self.layers["topic"]:
                return True
            return self.deployment.topic is not None and self.in_sight("broker", key)
        if component == "broker":
            # A node pool counts brokers and says nothing of their settings.
            return any(document.settings for document in self.deployment.cluster)
        return component in self.layers

    def read(self, component: str, key: str) -> tuple[str | None, Setting | None]:
        """The value in force as text, or None where nobody can tell."""
        if not self.in_sight(component, key):
            return None, None
        found, _ = effective(component, key, self.version, self.layers)
        if found is None or not isinstance(found.value, str):
            return None, found
        return found.value.strip(), found

    def flag(self, field: str, component: str, key: str) -> Knob:
        text, found = self.read(component, key)
        decided = ((component, found),) if found is not None else ()
        default, _ = effective(component, key, self.version, {})
        reference = default is not None and default.value == "true"
        if text is None or text.lower() not in ("true", "false"):
            return Knob(field, (False, True), key, decided, reference)
        return Knob(field, (text.lower() == "true",), key, decided, reference)

    def number(self, component: str, key: str) -> tuple[int | None, Setting | None]:
        """The whole number, None also where Kafka refuses it: what its type cannot hold is no value."""
        text, found = self.read(component, key)
        return (None if text is None else integer(text, bounds_of(component, key, self.version))), found

    # The producer, as its client family reads its settings.

    def producer(self) -> dict[str, Knob] | None:
        document = self.deployment.producer
        if document is None:
            return {}
        if document.client == "librdkafka":
            return _librdkafka_producer(document)
        return self._java_producer()

    def _java_producer(self) -> dict[str, Knob] | None:
        acks_text, acks_found = self.read("producer", "acks")
        acks = _acks(acks_text, acks_found)
        in_flight, flight_found = self.number("producer", "max.in.flight.requests.per.connection")
        retries, retries_found = self.number("producer", "retries")
        idempotence = self._idempotence(acks, in_flight, retries)
        if idempotence is None:
            return None
        return {
            "acks": acks,
            "in_flight": _numbers(
                "in_flight", "max.in.flight.requests.per.connection", in_flight, flight_found, (1, 5), 5
            ),
            "retries": _retries(retries, retries_found),
            "idempotence": idempotence,
        }

    def _idempotence(self, acks: Knob, in_flight: int | None, retries: int | None) -> Knob | None:
        """ProducerConfig.postProcessAndValidateIdempotenceConfigs: on by default from 3.0, silently off where
        other settings speak against it; None where the producer refuses to start."""
        given = self.layers["producer"].get("enable.idempotence")
        named = "transactional.id" in self.layers["producer"]
        key = "enable.idempotence"
        decided = (("producer", given),) if given is not None else ()
        fits = "all" in acks.values and retries != 0 and (in_flight is None or in_flight <= 5)
        if given is not None and isinstance(given.value, str):
            on = given.value.strip().lower() == "true"
            return None if on and not fits else Knob("idempotence", (on,), key, decided, True)
        if given is not None or not acks.seen:
            return Knob("idempotence", (True, False) if fits else (False,), key, decided, True)
        found, _ = effective("producer", key, self.version, {})
        default = named or (found is not None and found.value == "true")
        shown = (("producer", found),) if found is not None else ()
        # What switches it off is what decides it.
        against = () if fits or not default else acks.decided_by
        return Knob("idempotence", (default and fits,), key, against or shown, default)


def _acks(text: str | None, found: Setting | None) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    value = {"-1": "all", "all": "all", "1": "1", "0": "0"}.get((text or "").lower())
    if value is None:
        return Knob("acks", ("all", "1"), "acks", decided, "all")
    return Knob("acks", (value,), "acks", decided, "all")


def _numbers(
    field: str, label: str, value: int | None, found: Setting | None, choices: tuple[int, ...], reference: int
) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    return Knob(field, (value,) if value is not None and value > 0 else choices, label, decided, reference)


def _retries(value: int | None, found: Setting | None) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    if value is None:
        return Knob("retries", (None, 0), "retries", decided, None)
    # Above one retry nothing new can happen in the bounds; a great number stands for "as long as it takes".
    return Knob("retries", (value if value <= 1 else None,), "retries", decided, None)


def _librdkafka_producer(document: Document) -> dict[str, Knob] | None:
    """librdkafka's own names and defaults: acks all, idempotence off, a million requests in flight. With
    idempotence on, whatever is left to its default is adjusted, and what contradicts it is refused."""
    settings = client_layers(document)["producer"]
    acks_text, acks_found = _rd_value(settings, "request.required.acks")
    acks = _acks(acks_text, acks_found)
    flight_text, flight_found = _rd_value(settings, "max.in.flight.requests.per.connection")
    retries_text, retries_found = _rd_value(settings, "message.send.max.retries")
    idem_text, idem_found = _rd_value(settings, "enable.idempotence")
    in_flight, retries = (None if one is None else integer(one) for one in (flight_text, retries_text))
    on = (idem_text or "").strip().lower() == "true" or "transactional.id" in settings
    if on:
        given_flight = flight_found is not None and flight_found.origin.kind != "default"
        if acks.values == ("1",) or acks.values == ("0",) or retries == 0:
            return None
        if given_flight and (in_flight or 0) > 5:
            return None
        acks = acks._replace(values=("all",))
        in_flight = in_flight if given_flight else 5
    decided = (("producer", idem_found),) if idem_found is not None else ()
    known = idem_text is not None
    return {
        "acks": acks,
        "in_flight": _numbers("in_flight", "max.in.flight", in_flight, flight_found, (1, 5), 1_000_000),
        "retries": _retries(retries, retries_found),
        "idempotence": Knob(
            "idempotence", (on,) if known else (True, False), "enable.idempotence", decided, False
        ),
    }


def _rd_value(settings: Mapping[str, Setting], name: str) -> tuple[str | None, Setting | None]:
    canonical = librdkafka(name)
    target = (canonical.alias_of or name) if canonical is not None else name
    given = settings.get(target) or settings.get(name)
    if given is not None:
        return (given.value if isinstance(given.value, str) else None), given
    known = librdkafka(target)
    default = "" if known is None or known.default is None else str(known.default).lower()
    return default, Setting(name, default, Origin("default", None, "default of librdkafka"))


def _replicas(look: _Look, facts: Mapping[str, Fact]) -> Knob:
    label = "replication factor"
    fact = facts.get("topic.replication_factor")
    factor = None if fact is None else fact_count(fact.name, fact.value)
    if fact is not None and factor is not None:
        shown = Setting(label, fact.value, fact.origin)
        return Knob("replicas", (factor,), label, (("topic", shown),), 3)
    if look.deployment.topic is not None and look.deployment.cluster:
        # A topic that names no factor takes the cluster's default when it is made.
        value, found = look.number("broker", "default.replication.factor")
        if value is not None and value > 0 and found is not None:
            return Knob("replicas", (value,), label, (("broker", found),), 3)
    brokers = facts.get("cluster.brokers")
    most = min(3, (fact_count(brokers.name, brokers.value) if brokers is not None else None) or 3)
    return Knob("replicas", tuple(range(1, most + 1)), label, (), most)


def _min_isr(look: _Look, replicas: Knob) -> Knob:
    key = "min.insync.replicas"
    value, found = look.number("topic", key)
    decided = (("topic", found),) if found is not None else ()
    if value is not None and value > 0:
        return Knob("min_isr", (value,), key, decided, 1)
    return Knob("min_isr", _minimums(max(replicas.values)), key, decided, 1)


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
