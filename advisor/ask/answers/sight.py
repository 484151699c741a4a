"""What is in sight of one deployment: values in force, the stated workload, facts. Nothing is guessed."""

from __future__ import annotations

from typing import Any

from ...catalog import resolve_version
from ...hookspecs import ClientSpec
from ...join.effective import (
    bounds_of,
    client_layers,
    deployment_layers,
    effective,
    family_defaults,
    shows_brokers,
)
from ...model import Deployment, Document, Fact, Location, Origin, Setting, members_of
from ...syntax.numbers import fact_count, integer


class Look:
    """`clients` are the context's client families, whose own defaults count; `group` is the consumer looked
    at where a deployment has several."""

    def __init__(
        self,
        deployment: Deployment,
        clients: dict[str, ClientSpec] | Any = None,
        group: Document | None = None,
    ) -> None:
        self.deployment = deployment
        self.version = resolve_version(deployment.version)
        self.layers = deployment_layers(deployment)
        if group is not None:
            self.layers |= client_layers(group)
        self._documents = {document.component: document for document in reversed(members_of(deployment))}
        if group is not None:
            self._documents[group.component] = group
        self.clients = clients or {}

    def in_sight(self, component: str, key: str) -> bool:
        """A key's value is known if its own document is there and, for a topic's, either it is set there or
        the broker that gives the default is there too."""
        if component == "topic":
            if key in self.layers["topic"]:
                return True
            return self.deployment.topic is not None and self.in_sight("broker", key)
        if component == "broker":
            return shows_brokers(self.deployment)
        return component in self.layers

    def setting(self, component: str, key: str) -> Setting | None:
        """In force, be it a default; None where nobody can tell or the release has no such key."""
        if not self.in_sight(component, key):
            return None
        document = self._documents.get(component)
        defaults = family_defaults(document, self.clients) if document is not None else {}
        return effective(component, key, self.version, self.layers, defaults)[0]

    def is_set(self, component: str, key: str) -> bool:
        """Did somebody write it, under this name or one it is resolved by?"""
        return effective(component, key, self.version, self.layers)[1]

    def default(self, component: str, key: str) -> str | None:
        """What the release has where nobody writes anything: for the reference deployment, to be said so."""
        found, _ = effective(component, key, self.version, {})
        return found.value if found is not None and isinstance(found.value, str) else None

    def text(self, component: str, key: str) -> tuple[str | None, Setting | None]:
        """The value as text, None where it is templated or not in sight."""
        found = self.setting(component, key)
        if found is None or not isinstance(found.value, str):
            return None, found
        return found.value.strip(), found

    def number(self, component: str, key: str) -> tuple[int | None, Setting | None]:
        """The whole number, None also where Kafka refuses it: what its type cannot hold is no value."""
        text, found = self.text(component, key)
        return (None if text is None else integer(text, bounds_of(component, key, self.version))), found

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


def stated(name: str, value: object) -> Setting:
    """A stated workload figure as a line among a finding's settings."""
    return Setting(f"workload.{name}", str(value), Origin("project", None, "kafka-advisor.toml [workload]"))
