"""Documents -> Deployments: who writes where, by evidence only, each link with its reason.

Evidence, in this order: the project file, the same topic or group name, a Strimzi cluster label, bootstrap
servers against advertised listeners, the same compose file, the sole candidate in its root. Without
evidence a document stays alone; there is never a cross product.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..catalog import edit_distance
from ..model import Deployment, Document, Fact, Location, Origin, Setting, UsageError, members_of
from ..read.project import Project
from ..syntax.numbers import COUNTS_MAX, fact_count, integer
from ..tuples import NamedTuple
from .clusters import Cluster, Clusters
from .controllers import holds_partitions

CLIENTS = ("producer", "consumer", "admin", "streams", "connect", "connect-standalone", "mm2", "connector")


class Overrides(NamedTuple):
    """`--set component.key=value` and `--set fact.X=value`."""

    settings: Mapping[str, Mapping[str, Setting]]
    facts: tuple[Fact, ...]


NO_OVERRIDES = Overrides({}, ())


def link(
    documents: Sequence[Document],
    project: Project,
    version_of: Any,
    overrides: Overrides = NO_OVERRIDES,
) -> list[Deployment]:
    """All deployments of one root. `version_of(documents)` gives the Kafka version they run on."""
    linker = _Linker(documents, project, overrides)
    deployments = linker.named_deployments()
    deployments += linker.found_deployments()
    facts = linker.stated_facts()
    return with_own_ids(
        Deployment(
            id=_identity(parts),
            producer=parts.producer,
            topic=parts.topic,
            cluster=parts.cluster.brokers if parts.cluster else (),
            groups=tuple(parts.groups),
            version=version_of(parts.cluster.brokers if parts.cluster else ()),
            facts=_facts(parts, facts),
            workload=project.workload,
            joined_by=tuple(parts.joined_by),
        )
        for parts in deployments
    )


def apply_overrides(documents: Iterable[Document], overrides: Overrides) -> list[Document]:
    """Every document of the component takes the value of the command line; a component that no file
    holds gets a document of its own, so that `--set` alone describes a deployment."""
    result, seen = [], set()
    for document in documents:
        seen.add(document.component)
        changed = overrides.settings.get(document.component)
        if changed:
            kept = tuple(setting for setting in document.settings if setting.key not in changed)
            document = document._replace(settings=kept + tuple(changed.values()))
        result.append(document)
    for component, changed in sorted(overrides.settings.items()):
        if component not in seen:
            result.append(Document("--set", "set", component, component, tuple(changed.values())))
    return result


def _is_kept_elsewhere(topic: Document) -> bool:
    """Its records are in object storage (Inkless): replicas and leaders have no part in keeping them."""
    return any(one.key == "diskless.enable" and one.value == "true" for one in topic.settings)


class _Parts:
    """A deployment being put together."""

    def __init__(self, producer: Document | None, topic: Document | None, cluster: Cluster | None) -> None:
        self.producer, self.topic, self.cluster = producer, topic, cluster
        self.groups: list[Document] = []
        self.joined_by: list[str] = []


class _Linker:
    def __init__(self, documents: Sequence[Document], project: Project, overrides: Overrides) -> None:
        self.project, self.overrides = project, overrides
        self.producers = [document for document in documents if document.component == "producer"]
        self.topics = [
            document
            for document in documents
            if document.component == "topic" and not _is_kept_elsewhere(document)
        ]
        self.consumers = [
            document for document in documents if document.component in ("consumer", "connect", "streams")
        ]
        self.clusters = Clusters(documents)
        self.documents = documents
        self._taken: set[tuple[str, str, str]] = set()
        self._topics_by_name: dict[str, list[Document]] = {}
        for topic in self.topics:
            self._topics_by_name.setdefault(topic.name, []).append(topic)

    def stated_facts(self) -> tuple[Fact, ...]:
        stated = {
            name: Fact(name, str(value), Origin("project", None, "kafka-advisor.toml"))
            for name, value in ((_fact_name(key), value) for key, value in self.project.facts.items())
        }
        stated.update({fact.name: fact for fact in self.overrides.facts})
        return tuple(stated[name] for name in sorted(stated))

    # Deployments that kafka-advisor.toml names.

    def named_deployments(self) -> list[_Parts]:
        result = []
        for number, entry in enumerate(self.project.deployments, 1):
            why = f"kafka-advisor.toml, deployment {entry.get('name') or number}"
            if not any(entry.get(part) for part in ("producer", "topic", "cluster", "groups")):
                raise UsageError(f"{why}: names no producer, topic, cluster or group")
            producer = self._named(entry.get("producer"), ("producer",), why)
            topic = self._named(entry.get("topic"), ("topic",), why)
            cluster = self._named_cluster(entry.get("cluster"), why)
            if cluster is None:
                cluster, _ = self._cluster_of(topic or producer)
            parts = _Parts(producer, topic, cluster)
            parts.joined_by.append(why)
            groups = entry.get("groups") or ()
            for name in (groups,) if isinstance(groups, str) else groups:
                group = self._named(name, ("consumer", "streams"), why)
                if group is not None:
                    parts.groups.append(group)
            for document in (producer, topic, *parts.groups, *(cluster.brokers if cluster else ())):
                if document is not None:
                    self._taken.add(_key(document))
            result.append(parts)
        return result

    def _named(self, name: str | None, components: tuple[str, ...], why: str) -> Document | None:
        if not name:
            return None
        candidates = [document for document in self.documents if document.component in components]
        for document in candidates:
            if name in (document.file, document.name, f"{document.file}#{document.name}"):
                return document
        for document in candidates:
            if name in [value for kind, value in document.hints if kind in ("topic", "group")]:
                return document
        have = ", ".join(sorted({document.name for document in candidates})) or "none"
        raise UsageError(f"{why}: no {components[0]} called {name!r} (there is: {have})")

    def _named_cluster(self, name: str | None, why: str) -> Cluster | None:
        if not name:
            return None
        for cluster in self.clusters.all:
            if name == cluster.id or any(name in (broker.file, broker.name) for broker in cluster.brokers):
                return cluster
        have = ", ".join(sorted(cluster.id for cluster in self.clusters.all)) or "none"
        raise UsageError(f"{why}: no cluster called {name!r} (there is: {have})")

    # Deployments that the files themselves give.

    def found_deployments(self) -> list[_Parts]:
        result: list[_Parts] = []
        for producer in self.producers:
            if _key(producer) not in self._taken:
                result += self._of_producer(producer)
        written = {_key(parts.topic) for parts in result if parts.topic}
        for topic in self.topics:
            if _key(topic) not in self._taken and _key(topic) not in written:
                cluster, why = self._cluster_of(topic)
                parts = _Parts(None, topic, cluster)
                parts.joined_by += why
                result.append(parts)
        used = {id(parts.cluster) for parts in result if parts.cluster}
        for cluster in self.clusters.all:
            if id(cluster) not in used and not any(_key(broker) in self._taken for broker in cluster.brokers):
                parts = _Parts(None, None, cluster)
                if len(cluster.brokers) > 1:
                    parts.joined_by.append(f"{len(cluster.brokers)} brokers: {cluster.why}")
                result.append(parts)
        self._add_consumers(result)
        return result

    def _of_producer(self, producer: Document) -> list[_Parts]:
        result = []
        topics: list[tuple[Document | None, str]] = [*self._topics_of(producer)]
        for topic, why in topics or [(None, "")]:
            cluster, cluster_why = self._cluster_of(producer)
            if cluster is None and topic is not None:
                cluster, cluster_why = self._cluster_of(topic)
            parts = _Parts(producer, topic, cluster)
            parts.joined_by += [why] if why else []
            parts.joined_by += cluster_why
            result.append(parts)
        return result

    def _topics_of(self, client: Document) -> list[tuple[Document, str]]:
        if client.component == "connect":
            return []  # a worker's own topics are Kafka's to make; what its connectors read is theirs to say
        named = [value for kind, value in client.hints if kind == "topic"]
        found = [
            (topic, f"{client.name} -> {topic.name}: same topic name")
            for name in named
            for topic in self._topics_by_name.get(name, ())
        ]
        if not found and not named and len(self.topics) == 1:
            topic = self.topics[0]
            found = [(topic, f"{client.name} -> {topic.name}: the only topic in this root")]
        return found

    def _cluster_of(self, document: Document | None) -> tuple[Cluster | None, list[str]]:
        if document is None:
            return None, []
        cluster, why = self.clusters.of(document)
        if cluster is not None:
            return cluster, [f"{document.name} -> {cluster.id}: {why}"]
        return None, [f"{document.name} is joined with no cluster: {why}"] if why else []

    def _add_consumers(self, deployments: list[_Parts]) -> None:
        homes: dict[int, list[_Parts]] = {}
        for parts in deployments:
            if parts.topic is not None:
                homes.setdefault(id(parts.topic), []).append(parts)
        readers: dict[int, list[tuple[Document, str]]] = {}
        alone = _Groups()
        for consumer in self.consumers:
            if _key(consumer) in self._taken:
                continue
            read = [(topic, why) for topic, why in self._topics_of(consumer) if id(topic) in homes]
            for topic, why in read:
                readers.setdefault(id(topic), []).append((consumer, why))
            if read:
                continue
            beside = alone.beside(consumer)
            if beside is not None:
                beside.groups.append(consumer)
                beside.joined_by.append(f"{beside.groups[0].file} and {consumer.file}: the same group")
                continue
            cluster, why_cluster = self._cluster_of(consumer)
            parts = _Parts(None, None, cluster)
            parts.groups.append(consumer)
            parts.joined_by += why_cluster
            deployments.append(parts)
            alone.add(parts)
        for mark, joined in readers.items():
            _join_readers(homes[mark], joined, deployments)


# Beyond so many readers of one topic a deployment no longer holds all of them: with as many producers that
# would be a cross product.
READERS_MAX = 32


def _join_readers(
    homes: Sequence[_Parts], readers: Sequence[tuple[Document, str]], deployments: list[_Parts]
) -> None:
    """Every producer of a topic with every consumer of it. Where consumers are many, every producer is joined
    with one of each configuration, and every consumer is in one deployment: a deployment more, without a
    producer, holds those that no producer has room for."""
    if len(readers) <= READERS_MAX:
        for parts in homes:
            for reader, why in readers:
                parts.groups.append(reader)
                parts.joined_by.append(why)
        return
    kinds: dict[tuple[object, ...], tuple[Document, str]] = {}
    for reader, why in readers:
        kinds.setdefault(_configured(reader), (reader, why))
    examples = list(kinds.values())[:READERS_MAX]
    shown = {id(reader) for reader, _ in examples}
    # Members of one group stay together, as far as there is room.
    rest = sorted((pair for pair in readers if id(pair[0]) not in shown), key=lambda pair: _group(pair[0]))
    room = max(1, min(READERS_MAX, -(-len(rest) // len(homes))))
    shares = [rest[start : start + room] for start in range(0, len(rest), room)]
    first = homes[0]
    more = [_Parts(None, first.topic, first.cluster) for _ in shares[len(homes) :]]
    deployments += more
    name = first.topic.name if first.topic is not None else ""
    for number, parts in enumerate((*homes, *more)):
        own = shares[number] if number < len(shares) else []
        for reader, why in (*(examples if parts.producer is not None else ()), *own):
            parts.groups.append(reader)
            parts.joined_by.append(why)
        parts.joined_by.append(
            f"{len(readers)} consumers read {name}: here is one of each configuration, "
            "the others are joined with other deployments"
            if parts.producer is not None
            else f"{len(readers)} consumers read {name}: these are some of them"
        )


def _configured(reader: Document) -> tuple[object, ...]:
    """How a consumer is configured, but for what names it."""
    settings = [(one.key, one.value) for one in reader.settings if one.key not in _NAMING]
    facts = tuple((fact.name, fact.value) for fact in reader.facts)
    return reader.component, reader.client, tuple(sorted(settings, key=str)), facts


def _group(reader: Document) -> str:
    return next((value for kind, value in reader.hints if kind == "group"), "")


_NAMING = frozenset(("client.id", "group.id", "group.instance.id", "application.id", "bootstrap.servers"))
# What members of one group must agree on, or must not share.
_SHARED = frozenset(("partition.assignment.strategy", "group.instance.id", "group.protocol"))


class _Groups:
    """Consumers that read no topic in sight, by what makes two of them one group: the same group on the same
    cluster. They are judged together if one says something of what members must agree on; others have nothing
    to do with each other but the name. Profiles of one application (one file) do not meet."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[_Parts]] = {}
        self._telling: dict[tuple[str, str], list[_Parts]] = {}
        self._order: dict[int, int] = {}

    def add(self, parts: _Parts) -> None:
        self._order[id(parts)] = len(self._order)
        first = parts.groups[0]
        for mark in _marks(first):
            self._found.setdefault(mark, []).append(parts)
            if _tells(first):
                self._telling.setdefault(mark, []).append(parts)

    def beside(self, consumer: Document) -> _Parts | None:
        """The first that this one is of the same group with, if it has room."""
        known = self._found if _tells(consumer) else self._telling
        met = []
        for mark in _marks(consumer):
            for parts in known.get(mark, ()):
                if parts.groups[0].file != consumer.file and len(parts.groups) < READERS_MAX:
                    met.append(parts)
                    break
        return min(met, key=lambda parts: self._order[id(parts)], default=None)


def _marks(consumer: Document) -> list[tuple[str, str]]:
    """Each pair of its group and a bootstrap server."""
    groups = [value for kind, value in consumer.hints if kind == "group"]
    servers = [value for kind, value in consumer.hints if kind == "bootstrap"]
    return [(group, server) for group in groups for server in servers]


def _tells(consumer: Document) -> bool:
    return any(setting.key in _SHARED for setting in consumer.settings) or any(
        fact.name == "consumer.subscription" for fact in consumer.facts
    )


def _key(document: Document) -> tuple[str, str, str]:
    return document.file, document.component, document.name


def _fact_name(short: str) -> str:
    """`brokers` -> `cluster.brokers`: the project file and --set leave the first part out."""
    homes = {
        "partitions": "topic",
        "replication_factor": "topic",
        "members": "group",
        "version": "kafka",
    }
    return f"{homes.get(short, 'cluster')}.{short}"


FACT_NAMES = ("brokers", "racks", "mode", "elr", "storage", "partitions", "replication_factor", "members")


COUNTED = ("brokers", "partitions", "replication_factor", "members")


def stated_fact(short: str, value: str) -> Fact:
    if short not in FACT_NAMES:
        near = next((name for name in FACT_NAMES if edit_distance(name, short, 2) <= 2), None)
        hint = f"did you mean {near}?" if near else f"there is {', '.join(FACT_NAMES)}"
        raise UsageError(f"--set fact.{short}: no such fact; {hint}")
    name = _fact_name(short)
    if short in COUNTED and fact_count(name, value) is None:
        raise UsageError(f"--set fact.{short}: must be a whole number from 1 to {COUNTS_MAX[name]}")
    return Fact(name, value, Origin("set", None, "--set"))


def _facts(parts: _Parts, stated: tuple[Fact, ...]) -> tuple[Fact, ...]:
    brokers = parts.cluster.brokers if parts.cluster else ()
    return facts_of(brokers, parts.topic, parts.groups, stated)


# Counts the brokers of a file itself, where they can be all.
_COUNT_THEMSELVES = ("compose",)


def facts_of(
    brokers: Sequence[Document], topic: Document | None, groups: Sequence[Document], stated: tuple[Fact, ...]
) -> tuple[Fact, ...]:
    """What the documents of one deployment say that is no setting; what was stated wins."""
    found: dict[str, Fact] = {}
    for document in (*brokers, *(d for d in (topic,) if d), *groups):
        for fact in document.facts:
            if fact.name == "pool.brokers":
                before = integer(found[fact.name].value) if fact.name in found else 0
                fact = fact._replace(value=str((before or 0) + (integer(fact.value) or 0)))
            found[fact.name] = fact
    pools = found.pop("pool.brokers", None)
    if pools is not None:
        found["cluster.brokers"] = Fact("cluster.brokers", pools.value, pools.origin)
    counted = [document for document in brokers if holds_partitions(document)]
    if "cluster.brokers" not in found and len(counted) > 1 and counted[0].format not in _COUNT_THEMSELVES:
        # A lone server.properties says nothing about how many there are; several of one quorum do.
        first = counted[0]
        found["cluster.brokers"] = Fact(
            "cluster.brokers", str(len(counted)), Origin("file", Location(first.file, first.line), "counted")
        )
    found.update({fact.name: fact for fact in stated})
    return tuple(found[name] for name in sorted(found))


def _identity(parts: _Parts) -> str:
    documents = [document for document in (parts.producer, parts.topic) if document is not None]
    names = [document.name or document.file for document in documents]
    if parts.cluster is not None:
        names.append(parts.cluster.id or parts.cluster.brokers[0].file)
    if not parts.producer and not parts.topic:
        names += [group.name or group.file for group in parts.groups]
    return " -> ".join(names)


def with_own_ids(deployments: Iterable[Deployment]) -> list[Deployment]:
    """Two services may both call their file producer.properties: then the path tells them apart. Where the
    path of the first part does not, the client's does, or those of several; what has all in common is
    numbered."""
    found = list(deployments)
    names = [deployment.id for deployment in found]
    for files_of in (_first_file, _client_file, _own_files, _all_files):
        counts = _counts(names)
        if len(counts) == len(names):
            break
        names = [
            f"{deployment.id} ({', '.join(files_of(deployment))})" if counts[name] > 1 else name
            for deployment, name in zip(found, names, strict=True)
        ]
    result, seen, numbers = [], set(names), dict.fromkeys(names, 0)
    for deployment, name in zip(found, names, strict=True):
        numbers[name] += 1
        if numbers[name] > 1:
            while (own := f"{name} #{numbers[name]}") in seen:
                numbers[name] += 1
            seen.add(own)
            name = own
        result.append(deployment if name == deployment.id else deployment._replace(id=name))
    return result


def _counts(names: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _first_file(deployment: Deployment) -> list[str]:
    return [members_of(deployment)[0].file]


def _client_file(deployment: Deployment) -> list[str]:
    """Of several consumers the last is the one that no other deployment has."""
    client = deployment.producer or next(reversed(deployment.groups), None)
    return [client.file] if client is not None else _first_file(deployment)


def _own_files(deployment: Deployment) -> list[str]:
    """A producer may write to two topics of one name."""
    files = [part.file for part in (deployment.producer, deployment.topic) if part is not None]
    return list(dict.fromkeys(files)) or _client_file(deployment)


def _all_files(deployment: Deployment) -> list[str]:
    parts = (deployment.producer, deployment.topic, *deployment.cluster[:1], *deployment.groups[-1:])
    return list(dict.fromkeys(part.file for part in parts if part is not None))
