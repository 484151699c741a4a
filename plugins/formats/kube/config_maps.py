"""Kafka's files inside a Kubernetes ConfigMap or Secret: `server.properties: |`, an application.yml, a
connector in JSON, or bare variables. A Secret's `data` is base64, which nobody edits: only its `stringData`
is read.

What stands under a name that begins with an underscore (`_example`) is there for readers, and no program's.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.api import Document, LoadError, Location, Node, Origin, Source

from .. import properties
from ..brokers import broker_facts, listener_hints, worker_hints
from ..containers.image_names import Image, guess
from ..containers.images import Variable, read_environment
from ..maps import connector_json
from ..maps.embedded import first_line
from ..maps.node_settings import is_given, text_of
from ..spring import spring

FORMAT = "kubernetes"
# So sure must a format be of a text within another file: nobody has named it.
_SURE = 40


def documents_of(file: str, resource: Node, taken: bool = False) -> Iterator[Document]:
    """`taken`: a workload in sight gets its variables, and is told with them."""
    data = data_of(resource)
    name = resource.text_at("metadata", "name") or "ConfigMap"
    label = label_of(resource, name)
    for key, _, value in data.pairs() if data is not None else ():
        if key.startswith("_") or value.kind != "scalar" or not value.value:
            continue
        for document in _read(key, value.value):
            placed = _placed(document, file, value)
            own = f"{name}/{placed.name}" if placed.name else name
            hints = placed.hints if placed.component != "broker" else (*placed.hints, ("cluster", label))
            yield placed._replace(name=own, hints=hints)
    if data is not None and not taken:
        yield from _of_variables(file, name, label, data)


def data_of(resource: Node) -> Node | None:
    return resource.get("stringData" if resource.text_at("kind") == "Secret" else "data")


def label_of(resource: Node, name: str) -> str:
    namespace = resource.text_at("metadata", "namespace")
    return f"{namespace}/{name}" if namespace else name


def variables_of(file: str, resource: Node) -> list[Variable]:
    """Data whose names can be variables, as `envFrom` hands them to a container."""
    data = data_of(resource)
    return [
        Variable(name, text_of(value), file, at.line)
        for name, at, value in (data.pairs() if data is not None else ())
        if is_given(value) and name.replace("_", "").isalnum()
    ]


def _read(key: str, text: str) -> tuple[Document, ...]:
    """What the surest of the formats that may stand in a ConfigMap makes of one value."""
    base = key.lower()
    source = Source(key, text, lambda _: None)
    formats = []
    if base.endswith(spring.SUFFIXES) and ("spring" in text or "bootstrap-servers" in text):
        formats.append((spring.claim(base, text), spring.load))
    if base.endswith(properties.SUFFIXES):
        formats.append((properties.claim(base, text), properties.load))
    if base.endswith(".json") and connector_json.claim(base, text):
        formats.append((connector_json.claim(base, text), connector_json.load))
    if not formats or max(formats, key=lambda one: one[0])[0] < _SURE:
        return ()
    try:
        return max(formats, key=lambda one: one[0])[1](source).documents
    except LoadError:
        return ()  # what is inside another file is told by no line of its own


def _placed(document: Document, file: str, node: Node) -> Document:
    """A document of the inner file at its place in the outer one."""
    begins = first_line(node)

    def moved(at: Location | None) -> Location | None:
        if at is None:
            return None
        return Location(file, node.line if begins is None or at.line is None else begins + at.line - 1)

    def there(origin: Origin) -> Origin:
        return origin._replace(at=moved(origin.at))

    return document._replace(
        file=file,
        format=FORMAT,
        line=node.line if begins is None or document.line is None else begins + document.line - 1,
        settings=tuple(one._replace(origin=there(one.origin)) for one in document.settings),
        facts=tuple(one._replace(origin=there(one.origin)) for one in document.facts),
        dropped=tuple(one._replace(at=moved(one.at) or one.at) for one in document.dropped),
    )


def _of_variables(file: str, name: str, label: str, data: Node) -> Iterator[Document]:
    """Variables of a broker's or a worker's container that no workload in sight takes."""
    names = [key for key, _, _ in data.pairs()]
    image = guess(names)
    if image is None:
        return
    given = [
        Variable(key, text_of(value), file, at.line) for key, at, value in data.pairs() if is_given(value)
    ]
    yield document_of_variables(file, name, data.line, label, image, given)


def document_of_variables(
    file: str, name: str, line: int, label: str, image: Image, given: list[Variable]
) -> Document:
    environment = read_environment(image, given)
    settings, dropped = environment
    if image.component == "connect":
        hints = worker_hints(settings)
        return Document(file, FORMAT, "connect", name, settings, "connect", line, (), dropped, hints)
    hints = (("cluster", label), *listener_hints(settings))
    facts = broker_facts(settings)
    return Document(file, FORMAT, "broker", name, settings, "java", line, facts, dropped, hints)
