"""Files *.intake.yml: what a service says of itself.

acme: intake/v1
service: shop
client:                      # settings of its producer
  bootstrap.servers: kafka:9092
topics:
  shop.orders.v1:
    partitions: 12
    replicas: 3
    settings: { min.insync.replicas: 2 }
"""

from collections.abc import Iterator

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Fact,
    Loaded,
    LoadError,
    Location,
    Node,
    Origin,
    Setting,
    Source,
    parse_yaml,
    setting,
)

FORMAT = "acme-intake"
_COUNTS = {"partitions": "topic.partitions", "replicas": "topic.replication_factor"}


def claim(name: str, text: str) -> int:
    return 95


def load(source: Source) -> Loaded:
    root = _root(source)
    service = root.text_at("service")
    if not service:
        raise LoadError("`service` is missing", root.line)
    topics = root.get("topics")
    names = [name for name, _, _ in topics.pairs()] if topics is not None else []
    client = root.get("client")
    documents = []
    if client is not None:
        hints = tuple(("topic", name) for name in names)
        found = tuple(_settings(client, source.file))
        documents.append(
            Document(source.file, FORMAT, "producer", service, found, line=client.line, hints=hints)
        )
    for name, key, topic in topics.pairs() if topics is not None else ():
        own = topic.get("settings")
        documents.append(
            Document(
                source.file,
                FORMAT,
                "topic",
                name,
                tuple(_settings(own, source.file)) if own is not None else (),
                line=key.line,
                facts=tuple(_facts(topic, source.file)),
                hints=(("topic", name),),
            )
        )
    return Loaded(tuple(documents))


def edit(source: Source, document: Document, step: EditStep) -> str:
    """A setting is changed where it stands, on a line of its own; a new one is written below the first."""
    lines = source.text.splitlines(keepends=True)
    if step.action == "set" and step.line is not None:
        line = lines[step.line - 1]
        before, colon, _ = line.partition(f"{step.key}:")
        if not colon or before.strip():
            raise CannotEdit("the setting shares its line with others", step.line)
        lines[step.line - 1] = f"{before}{step.key}: {step.value}\n"
        return "".join(lines)
    written = [one.origin.at.line for one in document.settings if one.origin.at and one.origin.at.line]
    if step.action == "add" and written:
        first = lines[written[0] - 1]
        indent = first[: len(first) - len(first.lstrip())]
        lines.insert(written[0], f"{indent}{step.key}: {step.value}\n")
        return "".join(lines)
    raise CannotEdit("there is no place for it in this file")


def _root(source: Source) -> Node:
    documents = parse_yaml(source.text)
    if not documents or documents[0].kind != "mapping":
        raise LoadError("expected `acme: intake/v1` and what belongs to it", 1)
    return documents[0]


def _settings(table: Node, file: str) -> Iterator[Setting]:
    for key, node, value in table.pairs():
        yield setting(key, value.text(), file, node.line)


def _facts(topic: Node, file: str) -> Iterator[Fact]:
    for word, fact in _COUNTS.items():
        node = topic.get(word)
        if node is not None:
            yield Fact(fact, node.text(), Origin("file", Location(file, node.line)))
