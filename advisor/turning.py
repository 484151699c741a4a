"""From a policy field back to the few values a person would write, and a deployment with them made."""

from typing import NamedTuple

from .catalog import librdkafka
from .decode import INTERNAL, Decoded
from .model import Deployment, Document, Fact, Origin, Setting


class Edit(NamedTuple):
    """A value that a person would write to turn a knob. An edit without a key is advice: `command` says what
    to run, because no file can set it."""

    field: str
    component: str
    key: str | None
    value: str
    command: str | None = None


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
        name = {"replicas": "topic.replication_factor", "elr": "cluster.elr"}[edit.field]
        kept = tuple(fact for fact in deployment.facts if fact.name != name)
        return deployment._replace(facts=(*kept, Fact(name, edit.value, Origin("assumed", None, "the fix"))))
    setting = Setting(edit.key, edit.value, Origin("assumed", None, "the fix"))
    if edit.component == "producer" and deployment.producer is not None:
        return deployment._replace(producer=_with(deployment.producer, setting))
    if edit.component == "connect":
        return deployment._replace(groups=tuple(_with(group, setting) for group in deployment.groups))
    if edit.component == "topic" and deployment.topic is not None:
        return deployment._replace(topic=_with(deployment.topic, setting))
    return deployment._replace(cluster=tuple(_with(broker, setting) for broker in deployment.cluster))


def _with(document: Document, setting: Setting) -> Document:
    same = {setting.key}
    if document.client == "librdkafka":
        known = librdkafka(setting.key)
        same |= {known.alias_of} if known is not None and known.alias_of else set()
        same |= {one.key for one in document.settings if alias_of(one.key) == setting.key}
    kept = tuple(one for one in document.settings if one.key not in same)
    return document._replace(settings=(*kept, setting))


def alias_of(key: str) -> str | None:
    known = librdkafka(key)
    return known.alias_of if known is not None else None
