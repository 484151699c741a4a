"""Which Kafka version an audit is about, and why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..catalog import NEWEST, RELEASES, Version, resolve_version
from ..model import Document, UsageError

_NEWEST_MINOR = NEWEST.rpartition(".")[0]
# A release that is not out yet may be asked for; what lies further ahead is a slip of the pen.
_NEWEST_MAJOR = int(NEWEST.partition(".")[0])
LAST_WITH_ZOOKEEPER = "3.9"


def choose_version(stated: str | None, brokers: Sequence[Document]) -> tuple[Version, str]:
    """The stated version, else what the brokers' own files say, else the newest."""
    if stated is not None:
        try:
            version = resolve_version(stated)
        except ValueError as error:
            raise UsageError(str(error)) from None
        if version.number[0] > _NEWEST_MAJOR + 1:
            raise UsageError(f"there is no Kafka {stated.strip()}{_perhaps(stated.strip())}")
        return version, "stated"
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
                return _assumed(LAST_WITH_ZOOKEEPER), "it uses ZooKeeper, which went in 4.0"
    return _assumed(_NEWEST_MINOR), "not stated: the newest known"


@cache
def _assumed(name: str) -> Version:
    return resolve_version(name)._replace(assumed=True)


def _perhaps(text: str) -> str:
    """`41` is meant to be 4.1."""
    dotted = f"{text[:1]}.{text[1:]}"
    known = {release.rpartition(".")[0] for release in RELEASES}
    return f"; did you mean {dotted}?" if dotted in known else f"; the newest known is {_NEWEST_MINOR}"
