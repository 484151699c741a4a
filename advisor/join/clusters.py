"""Which brokers are one cluster, and which cluster a name, a label or an address leads to.

A name is not enough: a repository may have one `Kafka` called my-cluster for each environment. They are one
cluster each; a topic or node pool that names such a cluster belongs to the one in its namespace, else to the
one whose file is nearest, and to none if two are as near, which is then said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model import Document
from ..tuples import NamedTuple
from .controllers import roles_of

_QUORUMS = ("controller.quorum.bootstrap.servers", "controller.quorum.voters", "zookeeper.connect")


class Cluster(NamedTuple):
    """Broker documents that form one cluster, and what says so."""

    id: str
    brokers: tuple[Document, ...]
    why: str


class Choice(NamedTuple):
    """The cluster that is meant, if one can be told, and why or why not."""

    cluster: Cluster | None
    why: str = ""


class Clusters:
    def __init__(self, documents: Sequence[Document]) -> None:
        self.all = group_brokers(documents)
        self._labels: dict[str, list[Cluster]] = {}
        self._listeners: dict[str, list[Cluster]] = {}
        for cluster in self.all:
            hints = [hint for broker in cluster.brokers for hint in broker.hints]
            for address in dict.fromkeys(value for kind, value in hints if kind == "listener"):
                self._listeners.setdefault(address, []).append(cluster)
            for label in dict.fromkeys(value for kind, value in hints if kind in ("cluster", "compose")):
                self._labels.setdefault(label, []).append(cluster)

    def of(self, document: Document) -> Choice:
        """By its label or file, by a bootstrap server, or because there is no other."""
        unsure = ""
        for kind, value in document.hints:
            if kind in ("cluster", "compose") and value in self._labels:
                if kind == "compose" and (filled_in := _filled_in(document, self._labels[value])) is not None:
                    return Choice(None, f"{filled_in} may be any cluster")
                found, why = self._addressed(document, value)
                word = "label strimzi.io/cluster" if document.format == "strimzi" else "file"
                if found is not None:
                    return Choice(found, f"same {word}" + (f", {why}" if why else ""))
                unsure = f"{_count(self._labels[value])} called {value}"
        for kind, value in () if unsure else document.hints:
            if kind == "bootstrap" and value in self._listeners:
                found, why = nearest(document, self._listeners[value])
                if found is not None:
                    return Choice(
                        found, f"bootstrap server {value} is its listener" + (f", {why}" if why else "")
                    )
                unsure = f"{value} is a listener of {_count(self._listeners[value])}"
                break
        if unsure:
            return Choice(None, unsure)
        if len(self.all) == 1:
            other = _elsewhere(document, self.all[0])
            if other is not None:
                return Choice(None, f"{other} is no listener of {self.all[0].id}")
            return Choice(self.all[0], "the only cluster in this root")
        return Choice(None)

    def _addressed(self, document: Document, label: str) -> tuple[Cluster | None, str]:
        """Of several clusters of one file, the one whose listener is the document's bootstrap server."""
        candidates = self._labels[label]
        servers = [value for kind, value in document.hints if kind == "bootstrap"]
        reached = [one for server in servers for one in self._listeners.get(server, ())]
        named = [one for one in candidates if one in reached]
        return (named[0], "") if len(named) == 1 else nearest(document, candidates)


def _filled_in(document: Document, clusters: Sequence[Cluster]) -> str | None:
    """A bootstrap server that a variable gives, with no port of these clusters: it may be another's."""
    given = next((value for kind, value in document.hints if kind == "filled-in"), None)
    if given is None:
        return None
    ports = {
        value.rpartition(":")[2]
        for cluster in clusters
        for broker in cluster.brokers
        for kind, value in broker.hints
        if kind == "listener"
    }
    asked = {part.rpartition(":")[2] for part in given.split(",") if ":" in part}
    named = asked & ports if ports else asked
    return None if named else f"bootstrap.servers = {given}"


def _elsewhere(document: Document, cluster: Cluster) -> str | None:
    """A bootstrap server with a full name, where the cluster's own addresses are known and it is none of
    them: it is another cluster's, which is not in sight."""
    servers = [value for kind, value in document.hints if kind == "bootstrap"]
    hints = [hint for broker in cluster.brokers for hint in broker.hints]
    known = {_host(value) for kind, value in hints if kind == "listener"}
    if not servers or not known:
        return None
    strangers = [one for one in servers if "." in _host(one) and not _host(one).startswith("127.")]
    first = {host.partition(".")[0] for host in known}
    near = any(_host(one) in known or _host(one).partition(".")[0] in first for one in servers)
    return strangers[0] if len(strangers) == len(servers) and not near else None


def _host(address: str) -> str:
    return address.rpartition(":")[0].lower()


def _count(clusters: Sequence[Cluster]) -> str:
    files = sorted({broker.file for cluster in clusters for broker in cluster.brokers})
    shown = ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
    return f"{len(clusters)} clusters ({shown})"


def nearest(document: Document, clusters: Sequence[Cluster]) -> tuple[Cluster | None, str]:
    """The one in the document's namespace, else the one whose file shares most folders with its own."""
    if len(clusters) == 1:
        return clusters[0], ""
    here = _hinted(document, "namespace")
    spaces = [(one, _hinted(one.brokers[0], "namespace")) for one in clusters]
    fitting = [one for one, space in spaces if not here or not space or space == here]
    exact = [one for one, space in spaces if here and space == here]
    if len(exact) == 1:
        return exact[0], f"namespace {here}"
    candidates = exact or fitting
    shared = [(_shared(document.file, one.brokers[0].file), one) for one in candidates]
    most = max((count for count, _ in shared), default=0)
    best = [one for count, one in shared if count == most]
    if len(best) > 1:
        here = document.file.rpartition("/")[0]
        best = [one for one in best if one.brokers[0].file.rpartition("/")[0] == here]
    return (best[0], "the nearest file") if len(best) == 1 else (None, "")


def _hinted(document: Document, kind: str) -> str:
    return next((value for hint, value in document.hints if hint == kind), "")


def _shared(one: str, other: str) -> int:
    """How many folders two files have in common; the same file counts as one more."""
    count = int(one == other)
    for left, right in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count


def group_brokers(documents: Iterable[Document]) -> list[Cluster]:
    """Brokers that belong together: one resource with its pools, one compose file, one quorum or one
    ZooKeeper."""
    grouped: dict[tuple[str, str], list[Document]] = {}
    for document in documents:
        if document.component == "broker":
            grouped.setdefault(_mark(document), []).append(document)
    clusters: list[Cluster] = []
    for (kind, value), members in grouped.items():
        if kind == "cluster":
            clusters += _resources(value, members)
        elif kind == "quorum" and _are_alternatives(members):
            clusters += [Cluster(one.name, (one,), "") for one in members]
        else:
            why = {"compose": f"file {value}", "quorum": f"the same {value.partition('=')[0]}", "file": ""}
            name = value if kind == "compose" else members[0].name
            clusters.append(Cluster(name, tuple(members), why[kind]))
    return clusters


def _mark(document: Document) -> tuple[str, str]:
    for kind in ("cluster", "compose"):
        value = _hinted(document, kind)
        if value:
            return kind, value
    if not _is_alone(document):
        for key in _QUORUMS:
            for setting in document.settings:
                if setting.key == key and isinstance(setting.value, str):
                    folder = document.file.rpartition("/")[0]
                    # localhost says nothing across folders: two developers' sandboxes are two clusters.
                    return "quorum", f"{key}={setting.value}@{folder}"
    return "file", f"{document.file}#{document.name}"


def _is_alone(document: Document) -> bool:
    """A node that is its own and only controller."""
    values = {one.key: one.value for one in document.settings}
    voters, node = values.get("controller.quorum.voters"), values.get("node.id")
    return (
        {"broker", "controller"} <= roles_of(document)
        and isinstance(voters, str)
        and isinstance(node, str)
        and "," not in voters
        and voters.strip().startswith(f"{node.strip()}@")
    )


def _are_alternatives(members: Sequence[Document]) -> bool:
    """Two nodes of one id cannot run together: files for one or the other."""
    ids = [
        one.value.strip()
        for document in members
        for one in document.settings
        if one.key in ("broker.id", "node.id") and isinstance(one.value, str) and one.value.strip() != "-1"
    ]
    return len(set(ids)) < len(ids) and len(ids) >= len(members)


def _resources(name: str, members: Sequence[Document]) -> list[Cluster]:
    """Each Kafka resource of a name with its node pools; pools without one by their folders."""
    heads = [one for one in members if not _hinted(one, "pool")]
    pools = [one for one in members if _hinted(one, "pool")]
    if members[0].format != "strimzi" or (len(heads) <= 1 and _one_folder(pools, heads)):
        return [Cluster(name, tuple(members), f"cluster {name}")]
    found = [Cluster(_own_name(name, one, heads), (one,), f"cluster {name}") for one in heads]
    loose: dict[str, list[Document]] = {}
    for pool in pools:
        home = nearest(pool, found)[0] if found else None
        if home is None:
            loose.setdefault(pool.file.rpartition("/")[0], []).append(pool)
        else:
            found[found.index(home)] = home._replace(brokers=(*home.brokers, pool))
    many = len(found) + len(loose) > 1
    found += [
        Cluster(f"{name} ({folder or '.'})" if many else name, tuple(these), f"cluster {name}")
        for folder, these in loose.items()
    ]
    return found


def _one_folder(pools: Sequence[Document], heads: Sequence[Document]) -> bool:
    return bool(heads) or len({pool.file.rpartition("/")[0] for pool in pools}) <= 1


def _own_name(name: str, head: Document, heads: Sequence[Document]) -> str:
    spaces = [_hinted(one, "namespace") for one in heads]
    own = _hinted(head, "namespace")
    return f"{name} ({own if own and spaces.count(own) == 1 else head.file})" if len(heads) > 1 else name
