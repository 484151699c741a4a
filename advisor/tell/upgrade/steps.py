"""An upgrade of Kafka as a checklist: what to do in which order, and which lines of these files it is about.

The order is Kafka's own (its upgrade notes, KIP-866 for the move from ZooKeeper, KIP-896 for old clients,
KIP-584 for features): clients that the new brokers would refuse come first, then a release from which the
next one can be reached, then the brokers one by one, then what cannot be taken back. The sentences are in
`steps.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from ...catalog import Version, fate, replacement
from ...join.old_clients import BASELINE, FIRST_WITHOUT, clients_too_old, stated_version
from ...model import Document, Location, Setting
from ...tuples import NamedTuple

BRIDGE = (3, 9)  # the last release with ZooKeeper, and the one to leave it from
KRAFT_READY = (3, 3)  # Kafka 4.0 starts from metadata of no older release
RELEASE_OPTION = (4, 0)  # kafka-features.sh has --release-version
ELIGIBLE_LEADERS = (4, 1)  # finalizing this release turns eligible leader replicas on
FORMAT_TWO = (3, 0)  # no older format is written, whatever a setting says
_PROTOCOL = "inter.broker.protocol.version"
_FORMATS = ("log.message.format.version", "message.format.version")

Number = tuple[int, ...]


class Step(NamedTuple):
    """`at`: the lines of the new side's files that it is about."""

    name: str
    text: str
    at: tuple[Location, ...] = ()


class Cluster(NamedTuple):
    """What the files say of the cluster that is upgraded, and of its clients."""

    brokers: tuple[Document, ...] = ()
    topics: tuple[Document, ...] = ()
    clients: tuple[Document, ...] = ()

    @property
    def zookeeper(self) -> bool:
        return any(_uses_zookeeper(broker) for broker in self.brokers)

    def lines(self, *keys: str) -> list[Setting]:
        return [s for document in (*self.brokers, *self.topics) for s in document.settings if s.key in keys]


def _uses_zookeeper(broker: Document) -> bool:
    keys = {setting.key for setting in broker.settings}
    mode = {fact.value for fact in broker.facts if fact.name == "cluster.mode"}
    return "zk" in mode or ("zookeeper.connect" in keys and "process.roles" not in keys)


def steps(old: Version, new: Version, cluster: Cluster) -> list[Step]:
    before, after = old.number[:2], new.number[:2]
    if before == after:
        return []
    if after < before:
        return list(_back(before, after, cluster))
    if not cluster.brokers:
        crosses = before < FIRST_WITHOUT <= after
        return [_step("lone-clients", java=BASELINE["java"], release=_text(FIRST_WITHOUT))] if crosses else []
    first = _clients_first(after, cluster) if before < FIRST_WITHOUT <= after else ()
    return [*first, *_brokers(before, after, cluster), _step("clients")]


@cache
def _sentences() -> dict[str, str]:
    with open(os.path.join(os.path.dirname(__file__), "steps.json"), encoding="utf-8") as file:
        found: dict[str, str] = json.load(file)
    return found


def _step(name: str, about: Iterable[Setting] = (), **fields: str) -> Step:
    places = tuple(dict.fromkeys(s.origin.at for s in about if s.origin.at is not None))
    return Step(name, _sentences()[name].format_map(fields), places)


def _text(number: Number) -> str:
    return f"{number[0]}.{number[1]}"


def _clients_first(after: Number, cluster: Cluster) -> Iterator[Step]:
    old = list(clients_too_old(cluster.clients, after))
    known = "No file here says which version a client has"
    if old:
        known = "Too old: " + ", ".join(f"{one.name} ({one.version})" for one in old)
    elif cluster.clients and all(stated_version(client) for client in cluster.clients):
        known = "Those here are new enough"
    java, librdkafka = BASELINE["java"], BASELINE["librdkafka"]
    first = _step("old-clients", java=java, librdkafka=librdkafka, release=_text(FIRST_WITHOUT), known=known)
    yield first._replace(at=tuple(one.at for one in old))
    yield _step("java")


def _brokers(before: Number, after: Number, cluster: Cluster) -> Iterator[Step]:
    here = before
    if cluster.zookeeper:
        there = min(after, BRIDGE)
        if here < there:
            yield from _under_zookeeper(here, there, cluster)
        if after < FIRST_WITHOUT:
            return
        yield from _out_of_zookeeper(cluster)
        here = BRIDGE
    elif here < KRAFT_READY and after >= FIRST_WITHOUT:
        yield _step("bridge-kraft", bridge=_text(BRIDGE), before=_text(here), after=_text(after))
        yield _finalized(BRIDGE)
        here = BRIDGE
    elif here < FIRST_WITHOUT <= after:
        release, ready = _text(FIRST_WITHOUT), _text(KRAFT_READY)
        yield _step("check-metadata", release=release, ready=ready, before=_text(here))
    gone = _gone(after, cluster)
    if gone:
        yield _step("gone", gone, after=_text(after), keys="; ".join(_told(gone)))
    yield _step("roll", after=_text(after))
    yield _step("watch")
    minimum = cluster.lines("min.insync.replicas")
    of_brokers = [s for broker in cluster.brokers for s in broker.settings if s in minimum]
    if here < ELIGIBLE_LEADERS <= after and of_brokers:
        yield _step("minimum", of_brokers, value=str(of_brokers[0].value))
    yield _finalized(after)
    if here < FIRST_WITHOUT <= after:
        features = "group.version=1 and transaction.version=2"
        if after >= ELIGIBLE_LEADERS:
            features = "group.version=1, transaction.version=2 and eligible.leader.replicas.version=1"
        yield _step("features", features=features)


def _under_zookeeper(before: Number, after: Number, cluster: Cluster) -> Iterator[Step]:
    """Two rolls: the software first, then the protocol between brokers, when all of them have it."""
    stated = cluster.lines(_PROTOCOL)
    kept = stated and all(str(one.value).startswith(_text(before)) for one in stated)
    yield _step("keep-protocol", stated, verb="keep" if kept else "set", before=_text(before))
    yield _step("roll-zookeeper", after=_text(after))
    formats = cluster.lines(*_FORMATS)
    if after >= FORMAT_TWO and formats:
        keys = " and ".join(dict.fromkeys(setting.key for setting in formats))
        yield _step("raise-protocol-and-format", [*stated, *formats], after=_text(after), keys=keys)
    else:
        yield _step("raise-protocol", stated, after=_text(after))


def _out_of_zookeeper(cluster: Cluster) -> Iterator[Step]:
    """Each step but the last can be taken back."""
    yield _step("migration-controllers", bridge=_text(BRIDGE))
    yield _step("migration-brokers", cluster.lines("zookeeper.connect"))
    leaving = [s for broker in cluster.brokers for s in broker.settings if _leaves_with_zookeeper(s.key)]
    yield _step("migration-kraft", leaving)
    authorizer = [s for s in cluster.lines("authorizer.class.name") if "AclAuthorizer" in str(s.value)]
    if authorizer:
        yield _step("migration-authorizer", authorizer)
    yield _step("migration-end")


def _leaves_with_zookeeper(key: str) -> bool:
    return key in ("broker.id", _PROTOCOL) or key.startswith("zookeeper.")


def _gone(after: Number, cluster: Cluster) -> list[Setting]:
    """What the new release does not read; what leaves with ZooKeeper is told there."""
    told = _FORMATS if cluster.zookeeper else ()
    return [
        setting
        for document in (*cluster.brokers, *cluster.topics)
        for setting in document.settings
        if fate(document.component, setting.key, _text(after)).status == "removed"
        and setting.key not in told
        and not (cluster.zookeeper and _leaves_with_zookeeper(setting.key))
    ]


def _told(settings: Sequence[Setting]) -> Iterator[str]:
    for key in dict.fromkeys(setting.key for setting in settings):
        instead = replacement("broker", key) or replacement("topic", key)
        yield key + (f" ({instead.text()})" if instead is not None else "")


def _finalized(release: Number) -> Step:
    name = "finalize-release" if release >= RELEASE_OPTION else "finalize-metadata"
    return _step(name, after=_text(release))


def _back(before: Number, after: Number, cluster: Cluster) -> Iterator[Step]:
    yield _step("back", before=_text(before), after=_text(after))
    if cluster.brokers:
        yield _step("roll-back", after=_text(after))
