"""Helm values of charts that run Kafka, also those inside a Flux HelmRelease or an Argo CD Application."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import CannotEdit, Document, EditStep, Loaded, LoadError, Node, Source, parse_yaml

from ..edit_yaml import Spot, tree
from ..maps.edit_nodes import add_under, edit_map, spot_of
from ..maps.embedded import edit_block
from ..maps.node_settings import mappings_in
from .charts import CAMEL, Chart, Home, chart_of

_MANIFEST = re.compile(r"^(?:apiVersion|kind)[ \t]*+:", re.MULTILINE)
_RELEASE = re.compile(r"^kind[ \t]*+:[ \t]*+[\"']?(?:HelmRelease|HelmChart|Application)\b", re.MULTILINE)
_OTHERS = re.compile(r"^(?:services|spring|- hosts|all)[ \t]*+:", re.MULTILINE)
_VALUES = re.compile(
    r"^[ \t]*+[\"']?(?:extraConfig|extraConfigYaml|overrideConfiguration|configurationOverrides|provisioning"
    rf"|extraEnvVars|config|topics|kafkaTopics|{'|'.join(CAMEL)})[\"']?[ \t]*+:",
    re.MULTILINE,
)


_CAMEL = {key: name for name, key in CAMEL.items()}


def claim(name: str, text: str) -> int:
    if (_MANIFEST.search(text) and not _RELEASE.search(text)) or not _VALUES.search(text):
        return 0
    if _OTHERS.search(text) and "values" not in name:
        return 0
    try:
        charts = _charts(name, text)
    except LoadError:
        return 30 if "values" in name and "configurationOverrides" in text else 0
    # A list of topics alone may be anybody's; what describes brokers is a chart's.
    if any(document.component == "broker" for chart in charts for document in chart.documents):
        return 56
    return 52 if charts and ("values" in name or _RELEASE.search(text)) else 0


# The text that was claimed last is the text that is loaded next: it is parsed once.
_last: list[tuple[str, list[Node]]] = []


def _charts(file: str, text: str) -> list[Chart]:
    if not _last or _last[0][0] is not text:
        _last[:] = [(text, parse_yaml(text))]
    return list(_found(file, _last[0][1]))


def _found(file: str, roots: list[Node]) -> Iterator[Chart]:
    """Every map that is a chart's values; what stands inside one is its own."""
    inside: set[int] = set()
    for path, node in mappings_in(roots):
        if any(id(around) in inside for _, around in path):
            continue
        names = tuple(name for name, _ in path)
        if names[:1] == ("spec",) and names[:2] != ("spec", "values") and "valuesObject" not in names:
            continue
        chart = chart_of(file, names, node)
        if chart is not None:
            inside.add(id(node))
            yield chart


def load(source: Source) -> Loaded:
    charts = _charts(source.file, source.text)
    documents = tuple(document for chart in charts for document in chart.documents)
    if not documents:
        return Loaded((), "skipped", "no values of a chart that runs Kafka")
    return Loaded(documents)


def edit(source: Source, document: Document, step: EditStep) -> str:
    chart = _chart_of(source, document)
    if document.component == "topic":
        return _edit_topic(source, chart, document, step)
    if step.action != "add":
        text = _text_home(chart, step)
        if text is not None:
            spot = _text_spot(source, chart, text.path)
            return edit_block(source, spot, document, step)
        return edit_map(source, step, None, lambda key: _CAMEL.get(key, key))
    if not chart.homes:
        if step.key in _CAMEL:
            return edit_map(source, step, chart.values, lambda key: _CAMEL[key])
        raise CannotEdit(
            "its chart takes this setting as a variable: KAFKA_CFG_ under extraEnvVars", document.line
        )
    home = chart.homes[-1]
    if home.kind == "text":
        return edit_block(source, _text_spot(source, chart, home.path), document, step)
    return edit_map(source, step, home.node)


def _chart_of(source: Source, document: Document) -> Chart:
    for chart in _charts(source.file, source.text):
        for one in chart.documents:
            if (one.component, one.name, one.line) == (document.component, document.name, document.line):
                return chart
    raise CannotEdit("it is not found where it was read", document.line)


def _text_home(chart: Chart, step: EditStep) -> Home | None:
    for home in chart.homes:
        if (
            home.kind == "text"
            and step.line is not None
            and home.node.line <= step.line <= home.node.end_line
        ):
            return home
    return None


def _text_spot(source: Source, chart: Chart, path: tuple[str, ...]) -> Spot:
    around = spot_of(tree(source.text), chart.values)
    spot = around.find(*path) if around is not None else None
    if spot is None:
        raise CannotEdit("the text of its settings is not found where it was read", chart.values.line)
    return spot.real


def _edit_topic(source: Source, chart: Chart, document: Document, step: EditStep) -> str:
    if step.action != "add":
        return edit_map(source, step, None)
    for _, node in mappings_in([chart.values]):
        named = node.text_at("name")
        if node.line == document.line and named in (None, document.name):
            config = node.get("config") or node.get("configs")
            if config is not None and config.kind == "mapping" and config.items:
                return edit_map(source, step, config)
            if config is not None and config.kind == "scalar" and config.value:
                raise CannotEdit("its settings are one text", config.line)
            return add_under(source, node, ["config", step.key], step.value)
    raise CannotEdit("the topic is not found where it was read", document.line)
