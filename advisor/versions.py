"""Which Kafka version an audit is about, and why."""

from __future__ import annotations

from collections.abc import Sequence

from .catalog import NEWEST, Version, resolve_version
from .model import Document, UsageError

_NEWEST_MINOR = NEWEST.rpartition(".")[0]
LAST_WITH_ZOOKEEPER = "3.9"


def choose_version(stated: str | None, brokers: Sequence[Document]) -> tuple[Version, str]:
    """The stated version, else what the brokers' own files say, else the newest."""
    if stated is not None:
        try:
            return resolve_version(stated), "stated"
        except ValueError as error:
            raise UsageError(str(error)) from None
    for document in brokers:
        for fact in document.facts:
            if fact.name == "kafka.version":
                try:
                    return resolve_version(fact.value), f"{fact.origin}"
                except ValueError:
                    continue
    for document in brokers:
        for fact in document.facts:
            if fact.name == "cluster.mode" and fact.value == "zk":
                return resolve_version(LAST_WITH_ZOOKEEPER), "it uses ZooKeeper, which went in 4.0"
    return resolve_version(_NEWEST_MINOR), "not stated: the newest known"
