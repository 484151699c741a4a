"""CloudFormation: Amazon MSK's clusters and configurations, in YAML or JSON, also inside a serverless.yml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Fact,
    Loaded,
    Location,
    Node,
    Origin,
    Setting,
    Source,
    integer,
    parse_json,
    parse_yaml,
)

from ..maps.embedded import edit_block, placed
from ..maps.node_settings import mappings_in
from .msk import text_settings, with_defaults

FORMAT = "cloudformation"
_CONFIGURATION, _CLUSTER = "AWS::MSK::Configuration", "AWS::MSK::Cluster"
_CLAIM = re.compile(r"[\"']?Type[\"']?[ \t]*+:[ \t]*+[\"']?AWS::MSK::(?:Configuration|Cluster)\b")
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}")
_VARIANT = re.compile(r"(?:\.x|\.tiered|\.kraft){1,3}$")


def claim(name: str, text: str) -> int:
    return 90 if _CLAIM.search(text) else 0


class _Resource(NamedTuple):
    name: str
    kind: str
    line: int
    properties: Node


def load(source: Source) -> Loaded:
    found = list(_resources(source))
    clusters = {_configured(source.file, one): one for one in found if one.kind == _CLUSTER}
    documents = []
    for one in found:
        if one.kind == _CONFIGURATION:
            label = _label(source.file, one.name)
            cluster = clusters.pop(label, None)
            settings = _settings(source.file, one)
            facts = () if cluster is None else tuple(_facts(source.file, cluster))
            documents.append(_broker(source.file, one, label, _completed(settings, cluster), facts))
    for label, one in clusters.items():
        here = one.properties.get("ConfigurationInfo") is None
        settings = _completed((), one) if here else ()
        document = _broker(source.file, one, label, settings, tuple(_facts(source.file, one)))
        documents.append(document if here else document._replace(hints=(*document.hints, ("pool", one.name))))
    if not documents:
        return Loaded((), "skipped", "no resource of Amazon MSK with properties")
    return Loaded(tuple(documents))


def _resources(source: Source) -> Iterator[_Resource]:
    parse = parse_json if source.text.lstrip()[:1] == "{" else parse_yaml
    for _, mapping in mappings_in(parse(source.text)):
        for name, key, value in mapping.pairs():
            kind = value.text_at("Type") if value.kind == "mapping" else None
            properties = value.get("Properties") if kind in (_CONFIGURATION, _CLUSTER) else None
            if kind is not None and properties is not None and properties.kind == "mapping":
                yield _Resource(name, kind, key.line, properties)


def _label(file: str, name: str) -> str:
    return f"{file}#{name}"


def _configured(file: str, cluster: _Resource) -> str:
    """The configuration that a cluster names by !Ref, !GetAtt or their long forms; else itself."""
    arn = cluster.properties.get("ConfigurationInfo", "Arn")
    if arn is not None:
        held = arn.get("Ref") or arn.get("Fn::GetAtt") or arn
        name = held.elements[0].text() if held.elements else held.text()
        if held is not arn or (arn.tag or "").strip("!") in ("Ref", "GetAtt"):
            return _label(file, name.removesuffix(".Arn"))
    return _label(file, f"cluster {cluster.name}")


def _settings(file: str, configuration: _Resource) -> tuple[Setting, ...]:
    node = _server_properties(configuration.properties)
    if node is None:
        return ()
    if node.kind == "sequence":
        lines = [(line.text(), line.line) for line in node.elements if line.kind == "scalar"]
        return tuple(
            one._replace(origin=Origin("file", Location(file, number)))
            for text, number in lines
            for one in text_settings(text, file, number)
        )
    return placed(text_settings(node.text(), file, 1), node)


def _server_properties(properties: Node) -> Node | None:
    """A text, `!Sub` of one, or `Fn::Join` of its lines."""
    node = properties.get("ServerProperties")
    for _ in range(4):
        if node is None or node.kind == "scalar":
            return node
        if node.kind == "sequence":
            # !Sub [text, values] and !Join ["\n", [lines]].
            inner = node.elements[:2]
            node = next((one for one in inner if one.kind == "sequence"), inner[0] if inner else None)
            if node is not None and node.kind == "sequence":
                return node
            continue
        node = node.get("Fn::Sub") or node.get("Fn::Join")
    return None


def _completed(settings: tuple[Setting, ...], cluster: _Resource | None) -> tuple[Setting, ...]:
    if cluster is None:
        return with_defaults(settings, None, None)
    group = cluster.properties.get("BrokerNodeGroupInfo")
    kind = (group.text_at("InstanceType") if group is not None else None) or ""
    tiered = cluster.properties.text_at("StorageMode") == "TIERED"
    brokers = cluster.properties.text_at("NumberOfBrokerNodes")
    return with_defaults(settings, _zones(cluster), brokers, tiered, kind.startswith("express."))


def _zones(cluster: _Resource) -> int | None:
    subnets = cluster.properties.get("BrokerNodeGroupInfo", "ClientSubnets")
    count = len(subnets.elements) if subnets is not None else 0
    return count if count in (2, 3) else None


def _facts(file: str, cluster: _Resource) -> Iterator[Fact]:
    brokers = cluster.properties.get("NumberOfBrokerNodes")
    if brokers is not None and integer(brokers.text()) is not None:
        yield Fact("cluster.brokers", brokers.text(), Origin("file", Location(file, brokers.line)))
    version = cluster.properties.get("KafkaVersion")
    text = _VARIANT.sub("", version.text()) if version is not None else ""
    if version is not None and _VERSION.fullmatch(text):
        yield Fact("kafka.version", text, Origin("file", Location(file, version.line)))
    subnets = cluster.properties.get("BrokerNodeGroupInfo", "ClientSubnets")
    zones = _zones(cluster)
    if zones is not None and subnets is not None:
        yield Fact("cluster.racks", str(zones), Origin("file", Location(file, subnets.line), "subnets"))


def _broker(
    file: str, one: _Resource, label: str, settings: tuple[Setting, ...], facts: tuple[Fact, ...]
) -> Document:
    hints = (("cluster", label),)
    return Document(file, FORMAT, "broker", one.name, settings, "java", one.line, facts, (), hints)


def edit(source: Source, document: Document, step: EditStep) -> str:
    """A line of ServerProperties, where they are a block of text."""
    from ..edit_yaml import mappings, tree

    if source.text.lstrip()[:1] == "{":
        raise CannotEdit("ServerProperties are a text in quotes, which is not edited", document.line)
    for mapping in mappings(tree(source.text)):
        for key, value in mapping.pairs:
            if key.line == document.line and key.value == document.name:
                text = value.find("Properties", "ServerProperties")
                if text is None:
                    break
                real = text.real
                if real.kind == "mapping" and real.pairs:
                    real = real.pairs[0][1].real
                return edit_block(source, real, document, step)
    raise CannotEdit("the cluster has no ServerProperties here", document.line)
