"""Kubernetes workloads that run Kafka clients: how many pods there are, how they are named, and what their
environment gives to Spring Boot.

A pod of a StatefulSet keeps its name when it is made anew; one of a Deployment, a ReplicaSet or a DaemonSet
gets another. That matters where the name goes into a setting: `pod.names` says which it is, and the hints
("pod-name", VARIABLE) by which variables an application can read it. SPRING_KAFKA_* variables of a container
become the documents that Spring would make of them; a workload without any gives one of component `workload`,
which tells others in the same root about their pods.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from advisor.api import (
    Document,
    Fact,
    Loaded,
    LoadError,
    Location,
    Node,
    Origin,
    Source,
    integer,
    parse_yaml,
    without_actions,
)

if TYPE_CHECKING:
    pass

_KINDS = {"Deployment": "random", "ReplicaSet": "random", "DaemonSet": "random", "StatefulSet": "stable"}
_KIND = re.compile(rf"^[ \t-]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?(?:{'|'.join(_KINDS)}|List)\b", re.MULTILINE)
# Every pod has its name as host name, unless spec.hostname says otherwise.
_HOSTNAME = "HOSTNAME"
_PREFIX = "SPRING_KAFKA_"
_REFERENCE = re.compile(r"\$\(([A-Za-z_]\w*)\)")


# A file of Kafka's or of a framework's, or variables of a broker, inside a ConfigMap or a Secret.
_MAPS = ("ConfigMap", "Secret")
_CONFIG_MAP = re.compile(r"^[ \t-]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?(?:ConfigMap|Secret)\b", re.MULTILINE)
_EMBEDDED = re.compile(
    r"^[ \t]+[\"']?(?:[\w.-]+\.(?:properties|ya?ml|conf|config|json)|KAFKA_(?:CFG_)?(?:ADVERTISED_)?LISTENERS"
    r"|CONNECT_CONFIG_STORAGE_TOPIC)[\"']?[ \t]*:",
    re.MULTILINE,
)


def claim(name: str, text: str) -> int:
    if "kafka" not in text.lower() and "bootstrap" not in text:
        return 0
    if _KIND.search(text):
        return 60
    return 58 if _CONFIG_MAP.search(text) and _EMBEDDED.search(text) else 0


def load(source: Source) -> Loaded:
    found: list[Document] = []
    filled_in = False
    try:
        roots = parse_yaml(source.text)
    except LoadError:
        # A chart's template, or a file of somebody else's: not for us to complain about.
        try:
            roots, filled_in = parse_yaml(without_actions(source.text)), True
        except LoadError:
            return Loaded((), "skipped", "it is no YAML as it stands: a template, perhaps")
    resources = [one for root in roots for one in (root, *_items(root)) if one.kind == "mapping"]
    maps = [one for one in resources if one.text_at("kind") in _MAPS]
    services = [one for one in resources if one.text_at("kind") == "Service"]
    for resource in resources:
        if resource.text_at("kind") in _KINDS:
            found += _workload(source.file, resource, services, maps)
    if maps:
        from .config_maps import documents_of

        brokers = any(document.component in ("broker", "connect") for document in found)
        for resource in maps:
            found += documents_of(source.file, resource, brokers)
    if not found:
        return Loaded(
            (), "skipped", "no workload of Kubernetes, and no file of Kafka's in a ConfigMap or Secret"
        )
    if filled_in:
        return Loaded(
            tuple(found), "partial", "lines of a template are left out: what they put in is not known"
        )
    return Loaded(tuple(found))


def _items(root: Node) -> list[Node]:
    items = root.get("items") if root.kind == "mapping" else None
    return list(items.elements) if items is not None and items.kind == "sequence" else []


def _at(node: Node | None, *names: str) -> Node | None:
    for name in names:
        node = node.get(name) if node is not None and node.kind == "mapping" else None
    return node


def _workload(file: str, resource: Node, services: list[Node], maps: list[Node]) -> list[Document]:
    if _may_run_kafka(resource):
        from .broker_pods import documents_of

        found = list(documents_of(file, resource, services, maps))
        if found:
            return found
    kind = resource.text_at("kind") or ""
    metadata, spec = resource.get("metadata"), resource.get("spec")
    name = (metadata.text_at("name") if metadata is not None and metadata.kind == "mapping" else None) or kind
    here = Location(file, resource.line)
    facts = [Fact("pod.names", _KINDS[kind], Origin("file", here, f"{kind} {name}"))]
    replicas = _at(spec, "replicas")
    if replicas is not None and replicas.kind == "scalar" and integer(replicas.text()) is not None:
        origin = Origin("file", Location(file, replicas.line), f"{kind} {name}")
        facts.append(Fact("group.members", replicas.text(), origin))
        facts.append(Fact("pod.count", replicas.text(), origin))
    pod = _at(spec, "template", "spec")
    variables = [found for container in _containers(pod) for found in _variables(container)]
    named = dict.fromkeys([_HOSTNAME] if _at(pod, "hostname") is None else [])
    named |= dict.fromkeys(variable for variable, text, _ in variables if text == _POD_NAME)
    hints = tuple(("pod-name", variable) for variable in named)
    if any(_is_kafka(container.text_at("image")) for container in _containers(pod)):
        hints += (("runs", "kafka"),)
    given = [one for one in variables if one[0].startswith(_PREFIX)]
    if not given:
        return [
            Document(file, "kubernetes", "workload", name, (), "", resource.line, tuple(facts), hints=hints)
        ]
    # Most workloads have none, and Spring's fields are much to load.
    from ..spring.spring_env import clients_of, prop

    props = [prop(file, variable, _filled(text, named), line) for variable, text, line in given]
    found = clients_of(file, name, props)
    return [
        document._replace(
            format="kubernetes",
            facts=tuple(_joined(document.facts, facts))
            if document.component == "consumer"
            else document.facts,
            hints=(*document.hints, *hints),
        )
        for document in found
    ]


def _is_kafka(image: str | None) -> bool:
    """A broker or a worker, and no client."""
    if image is None or not re.search(r"kafka|connect", image, re.IGNORECASE):
        return False
    from ..containers.image_names import classify

    return classify(image) is not None


def _may_run_kafka(resource: Node) -> bool:
    """A look that costs little: most workloads are applications."""
    for container in _containers(_at(resource, "spec", "template", "spec")):
        image = container.text_at("image") or ""
        env = container.get("env")
        names = [entry.text_at("name") or "" for entry in env.elements] if env is not None else []
        if "kafka" in image or "connect" in image or "cp-server" in image or container.get("envFrom"):
            return True
        if any(name.startswith(("KAFKA_", "CONNECT_")) for name in names):
            return True
    return False


def _joined(own: Iterable[Fact], of_pods: list[Fact]) -> Iterator[Fact]:
    """Each pod has as many members as its listener containers: the two multiply."""
    mine = {fact.name: fact for fact in own}
    for fact in of_pods:
        each = mine.pop(fact.name, None)
        numbers = [integer(one.value) for one in (fact, each) if one is not None]
        if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
            fact = fact._replace(value=str(numbers[0] * numbers[1]))
        yield fact
    yield from mine.values()


_POD_NAME = "${metadata.name}"


def _containers(pod: Node | None) -> list[Node]:
    found = _at(pod, "containers")
    elements = found.elements if found is not None and found.kind == "sequence" else []
    return [element for element in elements if element.kind == "mapping"]


def _variables(container: Node) -> Iterator[tuple[str, str, int]]:
    """Name, text and line. What comes from a secret, a config map or a field is a template."""
    env = container.get("env")
    for entry in env.elements if env is not None and env.kind == "sequence" else []:
        name = entry.text_at("name") if entry.kind == "mapping" else None
        if not name:
            continue
        value = entry.get("value")
        if value is not None and value.kind == "scalar":
            yield name, value.loaded_text(yaml_1_1=False), value.line
            continue
        field = _at(entry, "valueFrom", "fieldRef")
        path = field.text_at("fieldPath") if field is not None and field.kind == "mapping" else None
        yield name, f"${{{path or name}}}", entry.line


def is_filled_in(text: str) -> bool:
    """Whether Kubernetes or Spring puts something in."""
    return bool(_REFERENCE.search(text)) or "${" in text


def _filled(text: str, pod_names: Iterable[str]) -> str:
    """`$(VAR)` is filled in by Kubernetes."""
    names = set(pod_names)
    return _REFERENCE.sub(lambda found: _POD_NAME if found[1] in names else f"${{{found[1]}}}", text)
