"""Clients that are too old for their brokers: Kafka 4.0 dropped the requests that they send (KIP-896)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Document, Location
from ..syntax.numbers import integer
from ..tuples import NamedTuple

FIRST_WITHOUT = (4, 0)
# The oldest version of each library whose requests brokers of 4.0 still answer. Streams, Connect and Spring
# are Java clients.
BASELINE = {"java": "2.1", "librdkafka": "1.8.2"}
STATED = "client.version"  # `[[client]] version` in kafka-advisor.toml


class OldClient(NamedTuple):
    name: str
    version: str
    least: str
    at: Location


def stated_version(document: Document) -> str | None:
    return next((fact.value for fact in document.facts if fact.name == STATED), None)


def clients_too_old(clients: Iterable[Document], brokers: tuple[int, ...]) -> Iterator[OldClient]:
    """Those of a stated version that brokers of this version refuse."""
    for document in clients if brokers[:2] >= FIRST_WITHOUT else ():
        stated = stated_version(document)
        least = BASELINE["librdkafka" if document.client == "librdkafka" else "java"]
        if stated is not None and _number(stated) < _number(least):
            yield OldClient(document.name, stated, least, Location(document.file, document.line))


def _number(text: str) -> tuple[int, ...]:
    return tuple(integer(part) or 0 for part in text.split("."))
