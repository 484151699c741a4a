"""From a policy field back to the few values a person would write."""

from ..ask.policies import INTERNAL, Decoded
from ..ask.regions import Region
from ..join.effective import by_key
from ..join.racks import NAMED, Racks
from ..model import Deployment, Edit, Unknown, members_of
from ..syntax.numbers import INT, fact_count

_PERSISTENT = (
    "give every broker a disk that outlives its pod (Strimzi: storage of the type persistent-claim, in a "
    "node pool beside the old one), and move the partitions with kafka-reassign-partitions.sh"
)
_ELR_FEATURE = "kafka-features.sh upgrade --feature eligible.leader.replicas.version=1"


def edits(decoded: Decoded, deployment: Deployment) -> list[Edit]:
    """The values a person would try, in a fixed order; only knobs that are not there already, and nothing
    that is filled in elsewhere: its owner writes another file."""
    found = (
        _internal_edits(decoded, deployment) if decoded.internal is not None else _edits(decoded, deployment)
    )
    return [edit for edit in found if not _is_filled_in(edit, deployment)]


def _is_filled_in(edit: Edit, deployment: Deployment) -> bool:
    return any(
        setting.key == edit.key and isinstance(setting.value, Unknown)
        for document in members_of(deployment)
        if document.component == edit.component
        for setting in document.settings
    )


def _edits(decoded: Decoded, deployment: Deployment) -> list[Edit]:
    found: list[Edit] = []
    knobs = {**decoded.knobs, **(decoded.producer or {})}
    if deployment.producer is not None:
        if knobs["acks"].values != ("all",):
            found.append(Edit("acks", "producer", "acks", "all"))
        if decoded.producer is None or knobs["idempotence"].values != (True,):
            found.append(Edit("idempotence", "producer", "enable.idempotence", "true"))
        if decoded.producer is not None and knobs["retries"].values == (0,):
            # Without a retry there is no idempotence.
            found.append(Edit("retries", "producer", "retries", str(INT[1])))
        if decoded.producer is not None and max(knobs["in_flight"].values) > 5:
            key = "max.in.flight.requests.per.connection"
            found.append(Edit("in_flight", "producer", key, "5"))
    home = "topic" if deployment.topic is not None else "broker" if deployment.cluster else None
    if home is not None:
        if knobs["unclean"].values != (False,):
            found.append(Edit("unclean", home, "unclean.leader.election.enable", "false"))
        found += [
            Edit("min_isr", home, "min.insync.replicas", str(value))
            for value in _minimums(decoded)
            if knobs["min_isr"].values != (value,)
        ]
    wanted = min(3, _brokers(deployment) or 3)
    if max(knobs["replicas"].values) < wanted:
        found.append(Edit("replicas", "topic", None, str(wanted), _reassign(wanted)))
    if "ephemeral" in knobs:
        found.append(Edit("storage", "broker", None, "persistent", _PERSISTENT))
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
    if knobs["acks"].values != ("all",):
        found.append(Edit("acks", internal.component, knobs["acks"].label, "all"))
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
            Edit("min_isr", "broker", internal.minimum, str(value))
            for value in _minimums(decoded)
            if knobs["min_isr"].values != (value,)
        ]
    if "ephemeral" in knobs:
        found.append(Edit("storage", "broker", None, "persistent", _PERSISTENT))
    return found


def _minimums(decoded: Decoded) -> tuple[int, ...]:
    """One copy is enough only where there is no second: with more, a minimum of 1 gives up the copy that is
    there when a broker is lost, however records are acknowledged today."""
    return (2,) if max(decoded.knobs["replicas"].values) > 1 else (2, 1)


def topic_name(decoded: Decoded, deployment: Deployment) -> str | None:
    """What the internal topic is called; None for the topics that are made by their first use."""
    internal = INTERNAL[decoded.internal or ""]
    if internal.name is not None or internal.named_by is None:
        return internal.name
    found = (by_key(d).get(internal.named_by) for d in deployment.groups if d.component == internal.component)
    given = next((one.value for one in found if one is not None), None)
    return given if isinstance(given, str) else None


def unseen_step(decoded: Decoded, deployment: Deployment, region: Region | None) -> str | None:
    """A command that makes an internal topic's minimum what the answer depends on."""
    values = (region or {}).get("min_isr", ())
    name = topic_name(decoded, deployment) if decoded.internal is not None else None
    if name is None or set(values) == set(decoded.knobs["min_isr"].values) or not values:
        return None
    return set_minimum(name, 2 if 2 in values else max(values))


def set_minimum(topic: str, value: int | str) -> str:
    """The step that gives a topic a minimum of its own."""
    return (
        "run kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type topics "
        f"--entity-name {topic} --add-config min.insync.replicas={value}"
    )
