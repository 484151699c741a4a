"""A client family's own names for Kafka's keys (ClientSpec.aliases): settings get Kafka's names when they are
read, and the family's names again when `fix` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..hookspecs import ClientSpec
from ..model import Document, Setting, Undisclosed
from .values import value_of

_NOTE = "written as "


def with_service(document: Document, services: Sequence[tuple[str, str]]) -> Document:
    """Of the family that its servers show (ClientSpec.servers), if it is one of Java's."""
    if document.client != "java":
        return document
    for setting in document.settings:
        if setting.key == "bootstrap.servers" and isinstance(setting.value, str):
            for part, family in services:
                if part in setting.value:
                    return document._replace(client=family)
    return document


def with_kafka_names(document: Document, clients: Mapping[str, ClientSpec]) -> Document:
    spec = clients.get(document.client)
    if spec is None or not spec.aliases:
        return document
    own = {setting.key for setting in document.settings}
    settings: dict[str, Setting] = {}
    for setting in document.settings:
        name = spec.aliases.get(setting.key)
        # Where both names stand, Kafka's own is the one in force.
        if name is not None and name not in own:
            value = setting.value
            if isinstance(value, Undisclosed):
                value = value_of(name, value.compared())  # the family says what it holds
            origin = setting.origin._replace(note=f"{_NOTE}{setting.key}")
            setting = Setting(name, value, origin)
        settings[setting.key] = setting
    return document._replace(settings=tuple(settings.values()))


def written_key(document: Document, key: str, clients: Mapping[str, ClientSpec]) -> str:
    """The name that stands, or is to stand, in the file."""
    for setting in document.settings:
        if setting.key == key:
            return _name_of(setting)
    spec = clients.get(document.client)
    names = [alias for alias, name in spec.aliases.items() if name == key] if spec is not None else []
    return names[0] if names else key


def as_written(document: Document) -> Document:
    """With the names of the file, as its format knows them."""
    if not any(setting.origin.note.startswith(_NOTE) for setting in document.settings):
        return document
    return document._replace(settings=tuple(one._replace(key=_name_of(one)) for one in document.settings))


def _name_of(setting: Setting) -> str:
    note = setting.origin.note
    return note.removeprefix(_NOTE) if note.startswith(_NOTE) else setting.key
