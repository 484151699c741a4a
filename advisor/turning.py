"""From a policy field back to the few values a person would write, and a deployment with them made."""

from .catalog import librdkafka
from .decode import INTERNAL, Decoded
from .model import Deployment, Document, Edit, Fact, Origin, Setting

# What no key sets: an edit's field, the fact it changes, and what a reader calls it.
FACTS = {
    "replicas": ("topic.replication_factor", "replication factor"),
    "elr": ("cluster.elr", "eligible leader replicas"),
    "partitions": ("topic.partitions", "partitions"),
    "brokers": ("cluster.brokers", "brokers"),
    "members": ("group.members", "members"),
    "version": ("kafka.version", "Kafka version"),
}


def edits(decoded: Decoded, deployment: Deployment) -> list[Edit]:
    """The values a person would try, in a fixed order; only knobs that are not there already."""
    if decoded.internal is not None:
        return _internal_edits(decoded)
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
    if knobs["replicas"].values != (3,) and max(knobs["replicas"].values) < 3:
        command = (
            "kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --execute "
            "--reassignment-json-file three-replicas.json"
        )
        found.append(Edit("replicas", "topic", None, "3", command))
    if True not in knobs["elr"].values or len(knobs["elr"].values) > 1:
        command = "kafka-features.sh upgrade --feature eligible.leader.replicas.version=1"
        if decoded.version.number >= (4, 0):
            found.append(Edit("elr", "broker", None, "on", command))
    return found


def _internal_edits(decoded: Decoded) -> list[Edit]:
    component, factor_key, minimum_key = INTERNAL[decoded.internal or ""]
    knobs = decoded.knobs
    found = []
    if knobs["unclean"].values != (False,):
        found.append(Edit("unclean", "broker", "unclean.leader.election.enable", "false"))
    if max(knobs["replicas"].values) < 3:
        # The setting counts when the topic is made; one that is there must be reassigned as well.
        found.append(Edit("replicas", component, factor_key, "3"))
    found += [
        Edit("min_isr", "broker", minimum_key, value)
        for value in ("2", "1")
        if knobs["min_isr"].values != (int(value),)
    ]
    return found


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
    if any(group.component == edit.component for group in deployment.groups):
        groups = (
            edited(group, edit) if group.component == edit.component else group for group in deployment.groups
        )
        return deployment._replace(groups=tuple(groups))
    if edit.component == "topic" and deployment.topic is not None:
        return deployment._replace(topic=edited(deployment.topic, edit))
    return deployment._replace(cluster=tuple(edited(broker, edit) for broker in deployment.cluster))


def edited(document: Document, edit: Edit) -> Document:
    """The document with the edit's key set, or taken out."""
    assert edit.key is not None
    same = {edit.key}
    if document.client == "librdkafka":
        known = librdkafka(edit.key)
        same |= {known.alias_of} if known is not None and known.alias_of else set()
        same |= {one.key for one in document.settings if alias_of(one.key) == edit.key}
    kept = tuple(one for one in document.settings if one.key not in same)
    if edit.value is None:
        return document._replace(settings=kept)
    return document._replace(
        settings=(*kept, Setting(edit.key, edit.value, Origin("assumed", None, "the fix")))
    )


def alias_of(key: str) -> str | None:
    known = librdkafka(key)
    return known.alias_of if known is not None else None
