"""What a broker's file shows by itself or against the size of its cluster: where its log lies, and whether
the internal topics can be made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Edit, Hit, Location, fact_count, integer

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document, Setting

# Emptied by a reboot (systemd-tmpfiles, tmpfs), as far as nobody mounts a volume there.
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_LASTING = "/var/lib/kafka/data"


def log_in_temporary_folder(document: Document, context: Context) -> Iterable[Hit]:
    for setting in document.settings:
        if setting.key not in ("log.dirs", "log.dir") or not isinstance(setting.value, str):
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


def internal_topic_cannot_be_made(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """Only factors that are written down: an image or an operator may set what the file does not."""
    name = "cluster.brokers"
    brokers = fact_count(name, next((fact.value for fact in deployment.facts if fact.name == name), None))
    if brokers is None:
        return
    told = set()
    for document in deployment.cluster:
        for setting in document.settings:
            factor = _number(setting)
            if setting.key not in _INTERNAL or setting.key in told or factor is None or factor <= brokers:
                continue
            told.add(setting.key)
            topic, consequence, minimum = _INTERNAL[setting.key]
            edits = [Edit("replicas", "broker", setting.key, str(brokers))]
            edits += [Edit("min_isr", "broker", minimum, "1")] if minimum else []
            yield Hit(
                setting.origin.at or Location(document.file, document.line),
                (setting.key,),
                {
                    "broker": document.name,
                    "key": setting.key,
                    "value": str(factor),
                    "brokers": str(brokers),
                    "topic": topic,
                    "consequence": consequence,
                },
                (("broker", setting),),
                edits=tuple(edits),
                advice=(f"another way: run {factor} brokers before anybody uses {topic}",),
            )


def _number(setting: Setting) -> int | None:
    text = setting.value.strip() if isinstance(setting.value, str) else ""
    return integer(text)
