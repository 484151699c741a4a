"""Environment variables as Spring Boot binds them: SPRING_KAFKA_CONSUMER_PROPERTIES_GROUP_INSTANCE_ID is
spring.kafka.consumer.properties.group.instance.id."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.api import Document

from .spring_clients import documents
from .spring_source import Part, Prop

PREFIX = "SPRING_KAFKA_"
_SECTIONS = ("CONSUMER", "PRODUCER", "ADMIN", "STREAMS", "LISTENER", "TEMPLATE")


def prop(file: str, name: str, text: str, line: int) -> Prop:
    rest = name.removeprefix(PREFIX)
    section, _, field = rest.partition("_")
    path = ["spring", "kafka"]
    if section in _SECTIONS:
        path.append(section.lower())
        rest = field
    if rest.startswith("PROPERTIES_"):
        path += ["properties", rest.removeprefix("PROPERTIES_").lower().replace("_", ".")]
    else:
        path.append(rest.lower().replace("_", "-"))
    return Prop(name, tuple(path), text, file, line)


def clients_of(file: str, name: str, props: Iterable[Prop]) -> list[Document]:
    """The clients of an application that is given these variables and whose files are not known here."""
    return documents(file, name, [Part(None, tuple(props))], None, frozenset(("default",)))
