"""Brokers and Connect workers that a Kubernetes workload runs by itself: no operator, KAFKA_ variables, and
settings given as `--override`.

A container counts if its image is known to run Kafka, or if its variables are those that only a broker has.
The number of pods is the number of brokers; Services of the same file that select the pods are addresses at
which clients find them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from advisor.api import (
    Document,
    Dropped,
    Fact,
    Location,
    Node,
    Origin,
    Setting,
    integer,
    is_template,
    setting,
)

from ..containers.compose import is_tool
from ..containers.compose_service import OVERRIDE
from ..containers.image_names import Image, classify, guess
from ..containers.images import Variable
from .config_maps import FORMAT, document_of_variables, label_of, variables_of

Pair = tuple[str, str]
_NUMBERED = re.compile(r"[0-9]$")


_STARTS = re.compile(r"\bkafka-server-start\b")


def documents_of(
    file: str, workload: Node, services: Sequence[Node], maps: Sequence[Node]
) -> Iterator[Document]:
    """A document for each container of the workload that runs Kafka."""
    name = workload.text_at("metadata", "name") or workload.text_at("kind") or ""
    pod = workload.get("spec", "template", "spec")
    containers = pod.get("containers") if pod is not None else None
    for container in containers.elements if containers is not None else ():
        if container.kind != "mapping":
            continue
        variables = list(_variables(file, container, maps))
        command = [
            part
            for key in ("command", "args")
            if (given := container.get(key))
            for part in given.elements or [given]
        ]
        image = _image(container, variables)
        text = " ".join(part.text() for part in command)
        if image is None and "kafka-server-start" in text:
            image = Image("strimzi", "broker")
        if image is None or is_tool(text, {one.name: one for one in variables}):
            continue
        label = _label(workload, pod, name)
        document = document_of_variables(file, name, container.line, label, image, variables)
        if image.component == "broker":
            document = _broker(file, document, workload, image, command, services)
            # A command of its own that starts Kafka does not run the image's scripts, which read variables.
            if not _STARTS.search(text):
                links = _service_links(file, pod, image, variables, workload, services)
                document = document._replace(dropped=(*document.dropped, *links))
        yield document


def _service_links(
    file: str,
    pod: Node | None,
    image: Image,
    variables: Sequence[Variable],
    workload: Node,
    services: Sequence[Node],
) -> Iterator[Dropped]:
    """A Service called kafka gives every pod of its namespace KAFKA_PORT=tcp://..., which cp-kafka takes
    for the setting that listeners replaced, and does not start."""
    links = pod.text_at("enableServiceLinks") if pod is not None else None
    if image.family != "confluent" or links == "false":
        return
    if any(one.name == "KAFKA_PORT" for one in variables):
        return
    for service in services:
        name = service.get("metadata", "name")
        here = service.text_at("metadata", "namespace") == workload.text_at("metadata", "namespace")
        # One without an address of its own gives no variables.
        headless = service.text_at("spec", "clusterIP") == "None"
        if name is not None and name.text() == "kafka" and here and not headless:
            detail = (
                "this Service is called kafka, so Kubernetes sets the variable in every pod, and the image "
                "makes a key of it: name the Service differently or set enableServiceLinks: false"
            )
            yield Dropped("KAFKA_PORT", "tcp://", Location(file, name.line), "service-link", detail)


def _image(container: Node, variables: Sequence[Variable]) -> Image | None:
    reference = container.text_at("image") or ""
    known = classify(reference)
    if known is not None:
        return known
    # An own build, or a name that is filled in.
    return guess(one.name for one in variables)


def _variables(file: str, container: Node, maps: Sequence[Node]) -> Iterator[Variable]:
    """envFrom first, then env, which wins; what comes from elsewhere is not known."""
    found: dict[str, Variable] = {}
    sources = container.get("envFrom")
    for source in sources.elements if sources is not None else ():
        wanted = source.text_at("configMapRef", "name")
        for resource in maps:
            if wanted is not None and resource.text_at("metadata", "name") == wanted:
                found.update({one.name: one for one in variables_of(file, resource)})
    env = container.get("env")
    for entry in env.elements if env is not None else ():
        name = entry.text_at("name")
        if not name:
            continue
        value = entry.get("value")
        if value is not None and value.kind == "scalar":
            found[name] = Variable(name, value.loaded_text(yaml_1_1=False), file, value.line)
        else:
            found[name] = Variable(name, f"${{{name}}}", file, entry.line)
    return iter(found.values())


def _label(workload: Node, pod: Node | None, name: str) -> str:
    """The configuration that its pods mount, if any: its own file is where the other settings are."""
    volumes = pod.get("volumes") if pod is not None else None
    for volume in volumes.elements if volumes is not None else ():
        wanted = volume.text_at("configMap", "name")
        if wanted is not None and not is_template(wanted):
            return label_of(workload, wanted)
    return label_of(workload, name)


def _broker(
    file: str,
    document: Document,
    workload: Node,
    image: Image,
    command: Sequence[Node],
    services: Sequence[Node],
) -> Document:
    settings = {one.key: one for one in document.settings}
    settings |= {one.key: one for one in _overrides(file, command)}
    facts = list(document.facts)
    replicas = workload.get("spec", "replicas")
    roles = settings.get("process.roles")
    controller = roles is not None and roles.value == "controller"
    count = "1" if replicas is None else replicas.text()
    numbered = count == "1" and _NUMBERED.search(document.name) is not None
    if integer(count) is not None and not controller and not numbered:
        line = workload.line if replicas is None else replicas.line
        facts.append(Fact("cluster.brokers", count, Origin("file", Location(file, line), "replicas")))
    if image.version is not None:
        facts.append(
            Fact("kafka.version", image.version, Origin("file", Location(file, document.line), "image"))
        )
    found = [*document.hints, *_listeners(workload, services)]
    if numbered:
        # One of several that are written one by one: what they have in common says which.
        found = [hint for hint in found if hint[0] != "cluster"]
    return document._replace(
        settings=tuple(settings.values()), facts=tuple(facts), hints=tuple(dict.fromkeys(found))
    )


def _overrides(file: str, command: Sequence[Node]) -> Iterator[Setting]:
    """`--override k=v` in one text, or k=v as an element of its own behind `--override`."""
    for part in command:
        for match in OVERRIDE.finditer(part.text()):
            line = part.line
            if part.style == "|":
                line += 1 + part.text().count("\n", 0, match.start())
            yield setting(match[2], match[3], file, line, "--override")
    for flag, part in pairwise(command):
        key, equals, value = part.text().partition("=")
        if flag.text().strip() == "--override" and equals:
            yield setting(key.strip(), value, file, part.line, "--override")


def _listeners(workload: Node, services: Sequence[Node]) -> Iterator[Pair]:
    labels = _texts(workload.get("spec", "template", "metadata", "labels"))
    for service in services:
        selector = _texts(service.get("spec", "selector"))
        name = service.text_at("metadata", "name")
        if not selector or not name or any(labels.get(key) != value for key, value in selector.items()):
            continue
        namespace = service.text_at("metadata", "namespace")
        ports = service.get("spec", "ports")
        for port in ports.elements if ports is not None else ():
            number = port.text_at("port")
            if number is not None and integer(number) is not None:
                yield "listener", f"{name}:{number}"
                if namespace:
                    yield "listener", f"{name}.{namespace}:{number}"
                    yield "listener", f"{name}.{namespace}.svc:{number}"
                    yield "listener", f"{name}.{namespace}.svc.cluster.local:{number}"


def _texts(node: Node | None) -> Mapping[str, str]:
    return {key: value.text() for key, _, value in node.pairs()} if node is not None else {}


__all__ = ["FORMAT", "documents_of"]
