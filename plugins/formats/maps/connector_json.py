"""Connectors as Connect's REST interface takes and gives them, in JSON.

A connector is any map with a `connector.class`: the body of PUT /connectors/NAME/config, the `config` beside
a `name` of POST /connectors, an element of a list, or the answer of GET /connectors?expand=info. A sink is
also a consumer, of the group connect-NAME, and a source that overrides how its producer delivers is also a
producer: each gets a document of its own, with what `consumer.override.` and `producer.override.` set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from advisor.api import (
    Document,
    Fact,
    Loaded,
    Node,
    Setting,
    Source,
    integer,
    is_template,
    parse_json,
    setting,
)

from ..properties import hints, stem_of
from .node_settings import completed, mappings_in, settings_of

_CLASS = "connector.class"
_CLAIM = re.compile(r'"connector\.class"[ \t\r\n]*+:[ \t\r\n]*+"')
# What decides whether a source's records are lost, doubled or reordered. Connect's own choice for these is
# at-least-once and in order, so a source that leaves them alone is no producer worth a document.
_DELIVERY = frozenset(("acks", "enable.idempotence", "max.in.flight.requests.per.connection"))
# Worker.baseProducerConfigs and Worker.baseConsumerConfigs.
_DEFAULTS = {
    "producer": {
        "acks": "all",
        "enable.idempotence": "false",
        "max.in.flight.requests.per.connection": "1",
        "max.block.ms": "9223372036854775807",
        "delivery.timeout.ms": "2147483647",
    },
    "consumer": {"enable.auto.commit": "false", "auto.offset.reset": "earliest"},
}


def claim(name: str, text: str) -> int:
    return 90 if _CLAIM.search(text) else 0


def load(source: Source) -> Loaded:
    if not source.text.lstrip().startswith(("{", "[")):
        return Loaded((), "skipped", "no JSON: a command or a comment stands before the connector")
    found = [
        document
        for path, node in mappings_in(parse_json(source.text))
        if node.text_at(_CLASS) is not None
        for document in documents_of(source.file, "connector", _name(source.file, path, node), node)
    ]
    if not found:
        return Loaded((), "skipped", "no map in it has a connector.class")
    return Loaded(tuple(found))


def _name(file: str, path: Sequence[tuple[str, Node]], node: Node) -> str:
    """Its own `name`, that of the map around it, or the key that it stands under."""
    given = node.text_at("name")
    for key, around in reversed(path):
        if given is None and key in ("config", "info"):
            given = around.text_at("name")
        elif given is None and key not in ("connectors", "items"):
            given = key
    return stem_of(file) if given is None or is_template(given) or not given.strip() else given


def documents_of(file: str, format_name: str, name: str, node: Node) -> Iterator[Document]:
    """The connector, and the client that it makes."""
    settings, dropped = settings_of(node, file)
    common = hints("connector", settings)
    yield Document(file, format_name, "connector", name, settings, "connect", node.line, (), dropped, common)
    yield from clients_of(file, format_name, name, settings, node.line, common)


def clients_of(
    file: str,
    format_name: str,
    name: str,
    settings: Sequence[Setting],
    line: int | None,
    common: Sequence[tuple[str, str]],
) -> Iterator[Document]:
    """The client that a connector makes: a sink's consumer, or a source's producer where it says how it
    writes."""
    is_sink = any(one.key in ("topics", "topics.regex") for one in settings)
    component = "consumer" if is_sink else "producer"
    own = tuple(_overrides(settings, component))
    if not is_sink and _DELIVERY.isdisjoint(one.key for one in own):
        return
    if is_sink and not any(one.key == "group.id" for one in own):
        own = (setting("group.id", f"connect-{name}", file, line, "Connect's own"), *own)
    topics = [pair for pair in common if pair[0] == "topic"]
    # What it reads or writes is up to its class: with none named here, no topic of the root is its.
    found = (*hints(component, own), *(topics or [("topic", f"those of {name}")]))
    members = tuple(_tasks(settings)) if is_sink else ()
    own = completed(own, _DEFAULTS[component], "Kafka Connect")
    yield Document(file, format_name, component, name, own, "connect", line, members, (), found)


def _overrides(settings: Sequence[Setting], component: str) -> Iterator[Setting]:
    prefix = f"{component}.override."
    for one in settings:
        if one.key.startswith(prefix):
            yield one._replace(key=one.key[len(prefix) :])


def _tasks(settings: Sequence[Setting]) -> Iterator[Fact]:
    """Each task of a sink is a member of its group; Connect makes one where nothing is said."""
    for one in settings:
        if one.key == "tasks.max" and isinstance(one.value, str) and integer(one.value) is not None:
            yield Fact("group.members", one.value, one.origin._replace(note="tasks.max"))
