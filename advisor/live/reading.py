"""What a running cluster says of itself: brokers, topics, groups, and where each value comes from.

Only calls that read are made (describe, list, metadata). What does not answer or may not be seen is listed
with its reason: it is unknown, never a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..model import UsageError
from ..syntax.properties import parse_properties
from .snapshot import Snapshot, release_by_keys

CALL_SECONDS = 15.0
# So many resources in one request.
_AT_ONCE = 200
# ConfigSource of Kafka's protocol.
_SOURCES = {
    1: "topic", 2: "broker, changed at run time", 3: "all brokers, changed at run time", 4: "broker's file",
    6: "broker's logger", 7: "client metrics", 8: "group",
}  # fmt: skip
_OF_TOPIC, _DEFAULT = 1, 5
Progress = Callable[[str], None]


def client_settings(bootstrap: str, path: str | None, text: str | None) -> dict[str, str]:
    """Of a client properties file, as Kafka's own tools take one with --command-config."""
    settings = {"bootstrap.servers": bootstrap}
    for entry in parse_properties(text) if text is not None else ():
        settings[entry.key] = entry.value
    if path is not None and "sasl.jaas.config" in settings:
        settings |= _without_jaas(settings.pop("sasl.jaas.config"))
    for key in [key for key in settings if key.startswith(("ssl.truststore", "ssl.keystore.type"))]:
        raise UsageError(
            f"{path}: {key} is Java's; librdkafka reads PEM: ssl.ca.location, ssl.certificate.location"
        )
    return settings


def _without_jaas(text: str) -> dict[str, str]:
    """The name and the password of a JAAS line, which librdkafka takes as settings of their own."""
    import re

    found = dict(re.findall(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*+)"', text))
    return {f"sasl.{name}": value for name, value in found.items()}


def read_cluster(settings: Mapping[str, str], progress: Progress = lambda text: None) -> Snapshot:
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError:
        raise UsageError(
            "--bootstrap-server needs confluent-kafka: pip install 'kafka-advisor[live]'"
        ) from None

    server = settings["bootstrap.servers"]
    said: list[str] = []
    try:
        quiet: dict[str, Any] = {"error_cb": lambda error: said.append(str(error)), "log_level": 0}
        admin = AdminClient({**settings, **quiet})
        progress(f"asking {server} who is there")
        metadata = admin.list_topics(timeout=CALL_SECONDS)
    except KafkaException as error:
        raise UsageError(f"{server} does not answer: {_reason(error)}{_heard(said)}") from None
    except (TypeError, ValueError) as error:
        raise UsageError(f"{server}: {error}") from None
    return _Reading(admin, metadata, server, progress).snapshot()


class _Reading:
    def __init__(self, admin: Any, metadata: Any, server: str, progress: Progress) -> None:
        self.admin, self.metadata, self.server, self.progress = admin, metadata, server, progress
        self.unknown: list[dict[str, str]] = []

    def snapshot(self) -> Snapshot:
        racks = self._racks()
        present = sorted(self.metadata.brokers)
        self.progress(f"asking {len(present)} brokers for their settings")
        configs = self._configs("BROKER", [str(one) for one in present])
        names = {key for table in configs.values() for key in table}
        version = release_by_keys(names)
        brokers = [
            {
                "id": one,
                "address": f"{self.metadata.brokers[one].host}:{self.metadata.brokers[one].port}",
                **({"rack": racks[one]} if racks.get(one) else {}),
                **self._told("broker", configs.get(str(one), {})),
                **({} if str(one) in configs else {"unread": True}),
            }
            for one in present
        ]
        self._absent(present)
        return Snapshot(
            self.metadata.cluster_id or "",
            self.server,
            version,
            len(set(present) | self._replicas()),
            brokers,
            list(self._topics()),
            list(self._groups()),
            self.unknown,
        )

    def _replicas(self) -> set[int]:
        return {
            replica
            for topic in self.metadata.topics.values()
            for partition in topic.partitions.values()
            for replica in partition.replicas
        }

    def _absent(self, present: Sequence[int]) -> None:
        for broker in sorted(self._replicas() - set(present)):
            self._does_not_tell(
                f"broker {broker}", "it holds replicas and is not there: its settings are not known"
            )

    def _racks(self) -> dict[int, str]:
        try:
            nodes = self.admin.describe_cluster(request_timeout=CALL_SECONDS).result().nodes
        except Exception as error:
            self._does_not_tell("racks", _reason(error))
            return {}
        return {one.id: one.rack for one in nodes if getattr(one, "rack", None)}

    def _configs(self, kind: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        import confluent_kafka.admin

        kinds: Any = confluent_kafka.admin

        found: dict[str, dict[str, Any]] = {}
        # librdkafka asks each broker for its own.
        most = 1 if kind == "BROKER" else _AT_ONCE
        for start in range(0, len(names), most):
            wanted = [
                kinds.ConfigResource(kinds.ResourceType[kind], name) for name in names[start : start + most]
            ]
            for resource, future in self.admin.describe_configs(wanted, request_timeout=CALL_SECONDS).items():
                try:
                    found[resource.name] = dict(future.result())
                except Exception as error:
                    self._does_not_tell(f"{kind.lower()} {resource.name}", _reason(error))
        return found

    def _told(self, component: str, table: Mapping[str, Any]) -> dict[str, dict[str, str | None]]:
        """What somebody set, and where; what is a default follows from the release. A value that the cluster
        hides is null."""
        settings: dict[str, str | None] = {}
        sources: dict[str, str | None] = {}
        for key, entry in sorted(table.items()):
            source = entry.source if isinstance(entry.source, int) else getattr(entry.source, "value", 0)
            if source == _DEFAULT or (component == "topic" and source != _OF_TOPIC):
                continue  # what a topic has from its brokers is told there
            if key == "broker.id" and "node.id" in table:
                continue  # its old name, which nobody wrote
            settings[key] = None if entry.is_sensitive else entry.value
            sources[key] = _SOURCES.get(source, "unknown")
        # A topic's own settings have one source.
        return {"settings": settings, **({} if component == "topic" else {"sources": sources})}

    def _topics(self) -> Iterator[dict[str, Any]]:
        names = sorted(name for name in self.metadata.topics if not name.startswith("__"))
        self.progress(f"asking for the settings of {len(names)} topics")
        configs = self._configs("TOPIC", names)
        for name in names:
            topic = self.metadata.topics[name]
            if topic.error is not None:
                self._does_not_tell(f"topic {name}", str(topic.error))
            copies = [len(one.replicas) for one in topic.partitions.values()]
            yield {
                "name": name,
                "partitions": len(copies),
                # Partitions may differ; the least decides what is lost.
                "replication_factor": min(copies, default=0),
                **self._told("topic", configs.get(name, {})),
                **({} if name in configs else {"unread": True}),
            }

    def _groups(self) -> Iterator[dict[str, Any]]:
        try:
            listed = self.admin.list_consumer_groups(request_timeout=CALL_SECONDS).result()
        except Exception as error:
            self._does_not_tell("consumer groups", _reason(error))
            return
        for failed in listed.errors:
            self._does_not_tell("consumer groups of a broker", _reason(failed))
        names = sorted(one.group_id for one in listed.valid)
        self.progress(f"asking for {len(names)} groups")
        futures = self.admin.describe_consumer_groups(names, request_timeout=CALL_SECONDS) if names else {}
        for name in names:
            try:
                group = futures[name].result()
            except Exception as error:
                self._does_not_tell(f"group {name}", _reason(error))
                continue
            topics = sorted(
                {
                    place.topic
                    for one in group.members
                    if one.assignment
                    for place in one.assignment.topic_partitions
                }
            )
            instances = sorted(one.group_instance_id for one in group.members if one.group_instance_id)
            yield {
                "id": name,
                "state": str(getattr(group.state, "name", group.state)).lower(),
                "protocol": str(getattr(getattr(group, "type", None), "name", "classic")).lower(),
                "assignor": group.partition_assignor or "",
                "members": len(group.members),
                **({"instances": instances} if instances else {}),
                "topics": topics,
            }

    def _does_not_tell(self, what: str, reason: str) -> None:
        self.unknown.append({"what": what, "reason": reason})


def _reason(error: Any) -> str:
    first = error.args[0] if getattr(error, "args", ()) else error
    return str(first.str()) if hasattr(first, "str") else str(first)


def _heard(said: Sequence[str]) -> str:
    return f" ({said[0]})" if said else ""
