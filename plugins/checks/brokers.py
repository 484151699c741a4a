"""What a broker's file shows by itself or against the size of its cluster: where its log lies, and whether
the internal topics can be made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from advisor.api import (
    Edit,
    Hit,
    Location,
    Origin,
    Setting,
    fact_count,
    holds_partitions,
    integer,
    lookup,
    resolve_version,
)

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document

# Emptied by a reboot (systemd-tmpfiles, tmpfs), as far as nobody mounts a volume there.
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_LASTING = "/var/lib/kafka/data"


def log_in_temporary_folder(document: Document, context: Context) -> Iterable[Hit]:
    if document.format in ("compose", "envfile") or any(
        fact.name == "broker.place" for fact in document.facts
    ):
        return  # a container's folders live as long as it does, whatever they are called
    given = {setting.key for setting in document.settings}
    in_use = "log.dirs" if "log.dirs" in given else "log.dir"
    for setting in document.settings:
        if setting.key != in_use or not isinstance(setting.value, str):
            continue
        folders = [folder.strip() for folder in setting.value.split(",")]
        lost = [folder for folder in folders if _is_temporary(folder)]
        if not lost:
            continue
        lasting = [folder for folder in folders if folder not in lost]
        moved = ",".join([*lasting, *([] if lasting else [_LASTING])])
        fields = {"broker": document.name, "key": setting.key, "value": setting.value}
        yield Hit(
            setting.origin.at or Location(document.file, document.line),
            (setting.key,),
            fields,
            (("broker", setting),),
            edits=(Edit("log_dirs", "broker", setting.key, moved),),
            advice=(
                f"before the broker starts with it, move what is in {', '.join(lost)}: "
                "a broker whose folder is empty copies every partition anew",
            ),
        )


def _is_temporary(folder: str) -> bool:
    return any(folder == root or folder.startswith(f"{root}/") for root in _TEMPORARY)


# What cannot be made, what follows, and the minimum that would be too high for fewer replicas.
_INTERNAL = {
    "offsets.topic.replication.factor": ("__consumer_offsets", "no group finds a coordinator", None),
    "transaction.state.log.replication.factor": (
        "__transaction_state",
        "no producer can use transactions",
        "transaction.state.log.min.isr",
    ),
}
# Made when it is used: a default that is too high harms nobody who does not.
_USED_BY = {"transaction.state.log.replication.factor": "transactional.id"}
_WORKER = {
    f"{name}.storage.replication.factor": f"the worker's topic of {words}"
    for name, words in (("config", "configurations"), ("offset", "offsets"), ("status", "statuses"))
}


def internal_topic_cannot_be_made(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """Factors that are written down, and defaults where nothing else (an image, an operator) can set them.
    Before 0.11 Kafka made the topic with as many replicas as there were brokers (KIP-115)."""
    name = "cluster.brokers"
    brokers = fact_count(name, next((fact.value for fact in deployment.facts if fact.name == name), None))
    if brokers is None or resolve_version(deployment.version).number < (0, 11):
        return
    cluster = [document for document in deployment.cluster if holds_partitions(document)]
    for key, (topic, consequence, minimum) in _INTERNAL.items():
        found = _written(cluster, key)
        if found is None and _is_used(deployment, key):
            found = _default(cluster, key, context)
        edits = [Edit("replicas", "broker", key, str(brokers))]
        # One copy is enough only where there is no second broker to hold one.
        edits += [Edit("min_isr", "broker", minimum, "1")] if minimum and brokers == 1 else []
        if found is not None:
            yield from _too_many(found, brokers, topic, consequence, edits)
    workers = [document for document in deployment.groups if document.component == "connect"]
    for key, topic in _WORKER.items():
        found = _written(workers, key) or _default(workers, key, context)
        edits = [Edit("replicas", "connect", key, str(brokers))]
        if found is not None:
            yield from _too_many(found, brokers, topic, "the worker does not start", edits)


def _too_many(
    found: tuple[Document, Setting], brokers: int, topic: str, consequence: str, edits: Sequence[Edit]
) -> Iterable[Hit]:
    document, setting = found
    factor = _number(setting)
    if factor is None or factor <= brokers:
        return
    by_default = ", the default," if setting.origin.kind == "default" else ""
    yield Hit(
        setting.origin.at or Location(document.file, document.line),
        (setting.key,),
        {
            "broker": document.name,
            "key": setting.key,
            "value": f"{factor}{by_default}",
            "brokers": "1 broker" if brokers == 1 else f"{brokers} brokers",
            "topic": topic,
            "consequence": consequence,
        },
        ((document.component, setting),),
        edits=tuple(edits),
        advice=(f"with {factor} brokers, running before anybody uses {topic}, it can stay",),
    )


def _written(documents: Iterable[Document], key: str) -> tuple[Document, Setting] | None:
    given = ((document, one) for document in documents for one in document.settings if one.key == key)
    return next(given, None)


def _default(documents: Sequence[Document], key: str, context: Context) -> tuple[Document, Setting] | None:
    for document in documents:
        spec = context.formats.get(document.format)
        told = any(fact.name == "settings.whole" for fact in document.facts)
        if not told and (spec is None or not spec.whole):
            return None
    for document in documents:
        known = lookup(document.component, key, context.version_of(document))
        if known is not None and known.default is not None:
            return document, Setting(key, str(known.default), Origin("default"))
    return None


def _is_used(deployment: Deployment, key: str) -> bool:
    used_by = _USED_BY.get(key)
    producer = deployment.producer
    return used_by is None or (
        producer is not None and any(setting.key == used_by for setting in producer.settings)
    )


def _number(setting: Setting) -> int | None:
    text = setting.value.strip() if isinstance(setting.value, str) else ""
    return integer(text)


def fragile_quorum(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """Told once for a cluster, at the first node that names its voters."""
    written = [
        (document, setting)
        for document in deployment.cluster
        for setting in document.settings
        if setting.key == "controller.quorum.voters" and isinstance(setting.value, str)
    ]
    if not written:
        return
    first, setting = written[0]
    voters = [part for part in str(setting.value).split(",") if part.strip()]
    # Who tells it is looked up last: an answer that looks at other deployments is not shared.
    sound = len(voters) % 2 and len(voters) > 2
    if sound or context.deployments_of(first)[0].id != deployment.id:
        return
    spare = (len(voters) - 1) // 2
    consequence = (
        "the cluster stops with it" if len(voters) == 1 else f"it stops with {spare + 1} of them away"
    )
    places = [one.origin.at for _, one in written if one.origin.at is not None]
    yield Hit(
        places[0] if places else Location(first.file, first.line),
        (setting.key,),
        {
            "broker": first.name,
            "count": "one voter" if len(voters) == 1 else f"{len(voters)} voters",
            "consequence": consequence,
            "voters": ", ".join(part.strip() for part in voters),
        },
        (("broker", setting),),
        also_at=tuple(place for place in dict.fromkeys(places[1:]) if place != places[0]),
    )
