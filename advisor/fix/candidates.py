"""From a policy field back to the few values a person would write, and a deployment with them made."""

from ..ask.policies import INTERNAL, Decoded
from ..ask.regions import Region
from ..catalog import librdkafka
from ..join.racks import NAMED, Racks
from ..model import Deployment, Document, Edit, Fact, Origin, Setting
from ..syntax.numbers import fact_count

# What no key sets: an edit's field, the fact it changes, and what a reader calls it.
FACTS = {
    "replicas": ("topic.replication_factor", "replication factor"),
    "elr": ("cluster.elr", "eligible leader replicas"),
    "racks": ("cluster.racks", "racks named in broker.rack"),
    "partitions": ("topic.partitions", "partitions"),
    "brokers": ("cluster.brokers", "brokers"),
    "members": ("group.members", "members"),
    "version": ("kafka.version", "Kafka version"),
}
_ELR_FEATURE = "kafka-features.sh upgrade --feature eligible.leader.replicas.version=1"


def edits(decoded: Decoded, deployment: Deployment) -> list[Edit]:
    """The values a person would try, in a fixed order; only knobs that are not there already."""
    if decoded.internal is not None:
        return _internal_edits(decoded, deployment)
    found: list[Edit] = []
    knobs = {**decoded.knobs, **(decoded.producer or {})}
    if deployment.producer is not None:
        if knobs["acks"].values != ("all",):
            found.append(Edit("acks", "producer", "acks", "all"))
        if decoded.producer is None or knobs["idempotence"].values != (True,):
            found.append(Edit("idempotence", "producer", "enable.idempotence", "true"))
        if decoded.producer is not None and max(knobs["in_flight"].values) > 5:
            key = "max.in.flight.requests.per.connection"
            found.append(Edit("in_flight", "producer", key, "5"))
    home = "topic" if deployment.topic is not None else "broker" if deployment.cluster else None
    if home is not None:
        if knobs["unclean"].values != (False,):
            found.append(Edit("unclean", home, "unclean.leader.election.enable", "false"))
        found += [
            Edit("min_isr", home, "min.insync.replicas", str(value))
            for value in (2, 1)
            if knobs["min_isr"].values != (value,)
        ]
    wanted = min(3, _brokers(deployment) or 3)
    if max(knobs["replicas"].values) < wanted:
        found.append(Edit("replicas", "topic", None, str(wanted), _reassign(wanted)))
    if knobs["elr"].values != (True,) and decoded.version.number >= (4, 0):
        found.append(Edit("elr", "broker", None, "on", _ELR_FEATURE))
    return found


def _reassign(replicas: int) -> str:
    name = {1: "one", 2: "two", 3: "three", 4: "four"}[replicas]
    return (
        "kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --execute "
        f"--reassignment-json-file {name}-replicas.json"
    )


def last_resorts(decoded: Decoded, deployment: Deployment, guarantee: str, racks: bool) -> list[Edit]:
    """What is tried where no setting helps: brokers moved, added or upgraded."""
    found = []
    if racks and decoded.racks is not None:
        found += _rack_edits(decoded.racks)
    three = decoded.internal is None and decoded.knobs["replicas"].values == (3,)
    if three and guarantee == "writes-available":
        first = "add a fourth broker, then run " if _brokers(deployment) == 3 else ""
        found.append(Edit("replicas", "topic", None, "4", first + _reassign(4)))
    number = decoded.version.number
    if number < (2, 2):
        found.append(Edit("version", "broker", None, "2.2", "upgrade the brokers to Kafka 2.2 or later"))
    if number < (4, 0):
        found.append(Edit("version", "broker", None, "4.1", "upgrade the brokers to Kafka 4.1 or later"))
        found.append(Edit("elr", "broker", None, "on", _ELR_FEATURE))
    return found


def _rack_edits(racks: Racks) -> list[Edit]:
    count, wanted = len(set(racks.of_brokers)), min(3, len(racks.of_brokers))
    found = []
    if not racks.named:
        step = "set broker.rack on every broker to the rack or zone it stands in"
        found.append(Edit("racks", "broker", None, f"{NAMED}{count}", f"{step}; {_MOVE}"))
    if count < wanted:
        step = f"spread the brokers over {wanted} racks or zones, each named in broker.rack"
        found.append(Edit("racks", "broker", None, f"{NAMED}{wanted}", f"{step}; {_MOVE}"))
    return found


_MOVE = "partitions that are there already stay where they are until kafka-reassign-partitions.sh moves them"


def _brokers(deployment: Deployment) -> int | None:
    name = "cluster.brokers"
    return fact_count(name, next((fact.value for fact in deployment.facts if fact.name == name), None))


def _internal_edits(decoded: Decoded, deployment: Deployment) -> list[Edit]:
    internal = INTERNAL[decoded.internal or ""]
    knobs = decoded.knobs
    found = []
    if deployment.cluster and knobs["unclean"].values != (False,):
        found.append(Edit("unclean", "broker", "unclean.leader.election.enable", "false"))
    wanted = min(3, _brokers(deployment) or 3)
    if max(knobs["replicas"].values) < wanted:
        name = topic_name(decoded, deployment)
        # The setting counts when the topic is made.
        step = f"where {name} is there already, run {_reassign(wanted)}" if name else None
        found.append(Edit("replicas", internal.component, internal.factor, str(wanted), step))
    if deployment.cluster:
        found += [
            Edit("min_isr", "broker", internal.minimum, value)
            for value in ("2", "1")
            if knobs["min_isr"].values != (int(value),)
        ]
    return found


def topic_name(decoded: Decoded, deployment: Deployment) -> str | None:
    """What the internal topic is called; None for the topics that are made by their first use."""
    internal = INTERNAL[decoded.internal or ""]
    if internal.name is not None or internal.named_by is None:
        return internal.name
    given = [
        setting.value
        for document in deployment.groups
        for setting in document.settings
        if document.component == internal.component and setting.key == internal.named_by
    ]
    return given[0] if given and isinstance(given[0], str) else None


def unseen_step(decoded: Decoded, deployment: Deployment, region: Region | None) -> str | None:
    """A command that makes an internal topic's minimum what the answer depends on."""
    values = (region or {}).get("min_isr", ())
    name = topic_name(decoded, deployment) if decoded.internal is not None else None
    if name is None or set(values) == set(decoded.knobs["min_isr"].values) or not values:
        return None
    value = 2 if 2 in values else max(values)
    return (
        "run kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type topics "
        f"--entity-name {name} --add-config min.insync.replicas={value}"
    )


def turned(deployment: Deployment, edit: Edit) -> Deployment:
    """The deployment as it would be with the edit made."""
    if edit.key is None:
        if edit.field == "version":
            return deployment._replace(version=edit.value or deployment.version)
        name = FACTS[edit.field][0]
        kept = tuple(fact for fact in deployment.facts if fact.name != name)
        made = Fact(name, edit.value or "", Origin("assumed", None, "the fix"))
        return deployment._replace(facts=(*kept, made))
    if edit.component == "producer" and deployment.producer is not None:
        return deployment._replace(producer=edited(deployment.producer, edit))
    if any(is_meant(group, edit) for group in deployment.groups):
        groups = (edited(group, edit) if is_meant(group, edit) else group for group in deployment.groups)
        return deployment._replace(groups=tuple(groups))
    if edit.component == "topic" and deployment.topic is not None:
        return deployment._replace(topic=edited(deployment.topic, edit))
    return deployment._replace(cluster=tuple(edited(broker, edit) for broker in deployment.cluster))


def is_meant(group: Document, edit: Edit) -> bool:
    return group.component == edit.component and edit.of in (None, (group.file, group.name))


def edited(document: Document, edit: Edit) -> Document:
    """The document with the edit's key set, or taken out."""
    assert edit.key is not None
    kept = tuple(one for one in document.settings if not is_same_key(one.key, edit.key, document.client))
    if edit.value is None:
        return document._replace(settings=kept)
    return document._replace(
        settings=(*kept, Setting(edit.key, edit.value, Origin("assumed", None, "the fix")))
    )


def is_same_key(one: str, other: str, client: str) -> bool:
    """librdkafka has two names for some settings: acks is its request.required.acks."""
    if one == other or client != "librdkafka":
        return one == other
    return _first_name(one) == _first_name(other)


def _first_name(key: str) -> str:
    known = librdkafka(key)
    return (known.alias_of or key) if known is not None else key
