"""The one reader of a deployment: values in force, the stated workload, facts. Nothing is guessed.

Every answer, policy and condition reads through it, so the keys that were asked for are noted in one place
(`asked_keys.py`): they are what a fleet judges deployments by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalog import Version, resolve_version
from ..hookspecs import ClientSpec
from ..model import Deployment, Document, Fact, Location, Origin, Setting, Value, members_of
from ..syntax.numbers import fact_count, integer
from .effective import (
    bounds_of,
    client_layers,
    deployment_layers,
    effective,
    family_defaults,
    shows_brokers,
)
from .old_clients import stated_version

# Of a default that a file in sight leaves as it is.
UNSET = "not set"


class Reader:
    """`clients` are the context's client families, whose own defaults count; `group` is the consumer looked
    at where a deployment has several."""

    def __init__(
        self,
        deployment: Deployment,
        clients: Mapping[str, ClientSpec] | None = None,
        group: Document | None = None,
    ) -> None:
        self.deployment, self.group = deployment, group
        self.version = resolve_version(deployment.version)
        # The settings that are written, by component and key.
        self.layers = deployment_layers(deployment)
        if group is not None:
            self.layers |= client_layers(group)
        self.clients = clients or {}

    def in_sight(self, component: str, key: str) -> bool:
        """A key's value is known if its own document is there and, for a topic's, either it is set there or
        the broker that gives the default is there too. What a document lacks of which only a part is read is
        not known."""
        deployment = self.deployment
        if component == "topic":
            if key in self.layers["topic"]:
                return True
            topic = deployment.topic
            return topic is not None and not topic.partial and self.in_sight("broker", key)
        if component == "broker":
            if not shows_brokers(deployment):
                return False
            partial = any(document.partial for document in deployment.cluster)
        else:
            if component not in self.layers:
                return False
            clients = (deployment.producer, self.group, *deployment.groups)
            partial = any(one.partial for one in clients if one is not None and one.component == component)
        return not partial or effective(component, key, self.version, self.layers)[1]

    def version_of(self, component: str) -> Version:
        """A client's library has a version of its own where `[[client]] version` states it."""
        if component in ("broker", "topic"):
            return self.version
        for document in (self.group, self.deployment.producer, *self.deployment.groups):
            if document is not None and document.component == component:
                library = stated_version(document) if document.client != "librdkafka" else None
                return resolve_version(library) if library is not None else self.version
        return self.version

    def in_force(self, component: str, key: str) -> tuple[Setting | None, bool]:
        """The setting in force and whether somebody wrote it, in sight or not: what is not written is the
        default of the client family or of the release."""
        version = self.version_of(component)
        return effective(component, key, version, self.layers, self._family_defaults(component))

    def setting(self, component: str, key: str) -> Setting | None:
        """In force, be it a default; None where nobody can tell or the release has no such key."""
        return self.in_force(component, key)[0] if self.in_sight(component, key) else None

    def is_set(self, component: str, key: str) -> bool:
        """Did somebody write it, under this name or one it is resolved by?"""
        return self.in_force(component, key)[1]

    def of_release(self, component: str, key: str) -> Setting | None:
        """What the release has where nobody writes anything: for the reference deployment, to be said so."""
        return effective(component, key, self.version_of(component), {})[0]

    def default(self, component: str, key: str) -> str | None:
        found = self.of_release(component, key)
        return found.value if found is not None and isinstance(found.value, str) else None

    def of_cluster(self, component: str, key: str) -> Setting | None:
        """What a topic gets that says nothing: the brokers' value where their file is in sight."""
        if not shows_brokers(self.deployment):
            return self.of_release(component, key)
        found, written = effective(component, key, self.version, {"broker": self.layers["broker"]})
        if found is None or written:
            return found
        return found._replace(origin=Origin("default", Location(self.deployment.cluster[0].file), UNSET))

    def text(self, component: str, key: str) -> tuple[str | None, Setting | None]:
        """The value as text, None where it is templated or not in sight."""
        found = self.setting(component, key)
        if found is None or not isinstance(found.value, str):
            return None, found
        return found.value.strip(), found

    def number(self, component: str, key: str) -> tuple[int | None, Setting | None]:
        """The whole number, None also where Kafka refuses it: what its type cannot hold is no value."""
        text, found = self.text(component, key)
        return (
            None if text is None else integer(text, bounds_of(component, key, self.version_of(component)))
        ), found

    def flag(self, component: str, key: str) -> tuple[bool | None, Setting | None]:
        text, found = self.text(component, key)
        return {"true": True, "false": False}.get((text or "").lower()), found

    def workload(self, name: str) -> Any:
        """A value of the [workload] table, None if it is not stated."""
        return self.deployment.workload.get(name)

    def fact(self, name: str) -> Fact | None:
        return next((fact for fact in self.deployment.facts if fact.name == name), None)

    def count(self, name: str) -> int | None:
        """A fact that is a whole number above zero."""
        fact = self.fact(name)
        return None if fact is None else fact_count(name, fact.value)

    def place(self, *settings: Setting | None) -> Location:
        """Where to look: at the first of these that is written in a file, else at the first document."""
        for setting in settings:
            if setting is not None and setting.origin.at is not None:
                return setting.origin.at
        first = members_of(self.deployment)[0]
        return Location(first.file, first.line)

    def named(self, name: str, params: Mapping[str, Any]) -> tuple[Value | None, bool]:
        """`producer.acks`, `fact.brokers`, `workload.record_bytes`, `param.limit`, as conditions name them:
        the value, and whether somebody wrote it."""
        head, _, key = name.partition(".")
        if head == "fact":
            facts = self.deployment.facts
            value = next((fact.value for fact in facts if fact.name.partition(".")[2] == key), None)
            return value, value is not None
        if head in ("workload", "param"):
            stated = (self.deployment.workload if head == "workload" else params).get(key)
            return (None, False) if stated is None else (str(stated), True)
        found, is_set = self.in_force(head, key)
        return (found.value if found is not None else None), is_set

    def _family_defaults(self, component: str) -> Mapping[str, str]:
        if not self.clients:
            return {}
        group = self.group
        if group is not None and group.component == component:
            return family_defaults(group, self.clients)
        for document in members_of(self.deployment):
            if document.component == component:
                return family_defaults(document, self.clients)
        return {}


def read_alone(document: Document, version: Version, clients: Mapping[str, ClientSpec]) -> Reader:
    """Of one document by itself, as if nothing else were there."""
    component = document.component
    return Reader(
        Deployment(
            "",
            document if component == "producer" else None,
            document if component == "topic" else None,
            (document,) if component == "broker" else (),
            (document,) if component not in ("producer", "topic", "broker") else (),
            version.asked,
            document.facts,
            {},
            (),
        ),
        clients,
    )


def stated(name: str, value: object) -> Setting:
    """A stated workload figure as a line among a finding's settings."""
    return Setting(f"workload.{name}", str(value), Origin("project", None, "kafka-advisor.toml [workload]"))
