"""A running cluster as `audit --bootstrap-server HOST:PORT --save FILE` wrote it: brokers, topics and groups.

Each setting stands on a line of its own, its source in a table beside. What the cluster hides is unknown; a
broker or topic whose settings could not be read proves nothing by what it lacks. Of a group only what its
coordinator knows is known: its assignor, protocol and members, not how its clients commit.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.api import (
    Document,
    Fact,
    Loaded,
    Location,
    Node,
    Origin,
    Setting,
    Source,
    Unknown,
    parse_json,
    setting,
)

from ..properties import hints, stem_of

FORMAT = "snapshot"
_MARK = "kafka_advisor_snapshot"
_HIDDEN = "hidden by the cluster"
# The classes behind the names that a coordinator tells.
_ASSIGNORS = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}


def claim(name: str, text: str) -> int:
    return 99 if f'"{_MARK}"' in text[:200] else 0


def load(source: Source) -> Loaded:
    (tree,) = parse_json(source.text)
    found = tuple(_Snapshot(source.file, tree).documents())
    unknown = [
        f"{one.text_at('what')}: {one.text_at('reason')}"
        for one in _items(tree, "unknown")
        if one.kind == "mapping"
    ]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        return Loaded(found, "partial", "not known: " + "; ".join(unknown[:3]) + more)
    return Loaded(found)


class _Snapshot:
    def __init__(self, file: str, tree: Node) -> None:
        self.file, self.tree = file, tree
        self.cluster = tree.get("cluster")
        servers = (self._word(self.cluster, "bootstrap") if self.cluster is not None else None) or ""
        self.label = servers.split(",")[0].strip() or stem_of(file)

    def documents(self) -> Iterator[Document]:
        for broker in _items(self.tree, "brokers"):
            settings = tuple(self._settings(broker))
            name = f"broker {broker.text_at('id')}"
            rack = self._word(broker, "rack")
            if rack:
                settings = (
                    *settings,
                    setting("broker.rack", rack, self.file, broker.line, "as the cluster tells"),
                )
            told = self._word(broker, "address")
            address = (("listener", told),) if told else ()
            yield self._document(
                "broker", name, broker, settings, self._of_cluster(), (*hints("broker", settings), *address)
            )
        for topic in _items(self.tree, "topics"):
            facts = [
                Fact(f"topic.{name}", value, self._origin(topic))
                for name in ("partitions", "replication_factor")
                if (value := self._word(topic, name))
            ]
            name = topic.text_at("name") or ""
            yield self._document(
                "topic", name, topic, tuple(self._settings(topic)), facts, (("topic", name),)
            )
        for group in _items(self.tree, "groups"):
            yield self._group(group)

    def _group(self, group: Node) -> Document:
        name = group.text_at("id") or ""
        settings = [setting("group.id", name, self.file, group.line)]
        assignor, protocol = self._word(group, "assignor"), self._word(group, "protocol")
        if protocol == "consumer":
            settings.append(setting("group.protocol", "consumer", self.file, group.line))
        elif assignor in _ASSIGNORS:
            key = "partition.assignment.strategy"
            settings.append(setting(key, _ASSIGNORS[assignor], self.file, group.line, "as the group chose"))
        members = self._word(group, "members")
        facts = [Fact("group.members", members, self._origin(group))] if members and members != "0" else []
        topics = tuple(("topic", one.text()) for one in _items(group, "topics") if one.kind == "scalar")
        made = self._document("consumer", name, group, tuple(settings), facts, (("group", name), *topics))
        return made._replace(partial=True)

    def _of_cluster(self) -> list[Fact]:
        if self.cluster is None:
            return []
        facts = [("brokers", "cluster.brokers"), ("kafka_version", "kafka.version")]
        origin = self._origin(self.cluster)
        return [Fact(name, value, origin) for key, name in facts if (value := self._word(self.cluster, key))]

    def _settings(self, holder: Node) -> Iterator[Setting]:
        table = holder.get("settings")
        sources = holder.get("sources")
        for key, at, value in table.pairs() if table is not None and table.kind == "mapping" else ():
            told = sources.text_at(key) if sources is not None else "topic"
            if value.is_null:
                hidden = Origin("file", Location(self.file, at.line), told or "")
                yield Setting(key, Unknown(_HIDDEN), hidden)
            elif value.kind == "scalar":
                yield setting(key, value.text(), self.file, at.line, told or "")

    def _document(
        self,
        component: str,
        name: str,
        node: Node,
        settings: tuple[Setting, ...],
        facts: list[Fact],
        more: tuple[tuple[str, str], ...],
    ) -> Document:
        return Document(
            self.file,
            FORMAT,
            component,
            name,
            settings,
            line=node.line,
            facts=tuple(facts),
            hints=tuple(dict.fromkeys((("cluster", self.label), *more))),
            partial=node.get("unread") is not None,
        )

    def _origin(self, node: Node) -> Origin:
        return Origin("file", Location(self.file, node.line), "as the cluster tells")

    def _word(self, node: Node, key: str) -> str | None:
        found = node.get(key)
        return found.text() if found is not None and found.kind == "scalar" and not found.is_null else None


def _items(node: Node, key: str) -> list[Node]:
    found = node.get(key)
    return found.elements if found is not None and found.kind == "sequence" else []
