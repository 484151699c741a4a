"""Topics of Terraform's providers: Mongey's kafka, Confluent Cloud and Aiven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import Document, Fact, Location, Origin, Setting, integer, is_template

from ..maps.node_settings import completed
from .clusters import configured
from .hcl import Block, Expr, blocks_of
from .scope import Found, Scope
from .written import FORMAT, Made, ignored, label_of, mapped, one_setting, resource_in, resources


class _Kind(NamedTuple):
    """How one provider's topic is written: the attributes of its name, partitions and replicas."""

    name: str
    partitions: str
    replicas: str


KINDS = {
    "kafka_topic": _Kind("name", "partitions", "replication_factor"),
    "confluent_kafka_topic": _Kind("topic_name", "partitions_count", ""),
    "aiven_kafka_topic": _Kind("topic_name", "partitions", "replication"),
}
# What every cluster of Confluent Cloud has.
_CONFLUENT = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "auto.create.topics.enable": "false",
}
# An element of a map that long is no topic that a person wrote down.
_ELEMENTS_MAX = 5_000


def topics(scope: Scope) -> Iterator[Made]:
    clouds: dict[str, Made] = {}
    for block in resources(scope.root, *KINDS):
        kind = block.labels[0]
        hints = tuple(_cluster_hints(scope, block, kind))
        if kind == "confluent_kafka_topic":
            label = hints[0][1]
            clouds.setdefault(label, _confluent(scope, block, label))
        for key, each in _elements(scope, block):
            yield _topic(scope, block, KINDS[kind], key, each, hints)
    yield from clouds.values()


def _elements(scope: Scope, block: Block) -> Iterator[tuple[str | None, Found | None]]:
    """What for_each goes over, if the files hold it; else the block once."""
    over = block.attribute("for_each")
    found = scope.resolved(over)
    expr = found.expr if over is not None else None
    if expr is not None and expr.kind == "object" and 0 < len(expr.pairs) <= _ELEMENTS_MAX:
        for key, value in expr.pairs:
            yield key.value, found._replace(expr=value)
    elif expr is not None and expr.kind == "list" and 0 < len(expr.items) <= _ELEMENTS_MAX:
        for item in expr.items:
            yield (item.value if item.kind == "text" and not item.filled else None), found._replace(expr=item)
    else:
        yield None, None


def _topic(
    scope: Scope,
    block: Block,
    kind: _Kind,
    key: str | None,
    each: Found | None,
    hints: tuple[tuple[str, str], ...],
) -> Made:
    name = scope.resolved(block.attribute(kind.name), each, key).text
    known = name is not None and name.strip() and not is_template(name)
    here = each is not None and each.expr is not None and each.file == scope.file
    line = each.expr.line if here and each is not None and each.expr is not None else block.line
    settings, home, why = _config(scope, block, key, each)
    document = Document(
        scope.file,
        FORMAT,
        "topic",
        name if known and name is not None else ".".join(block.labels),
        settings,
        "java",
        line,
        tuple(_counts(scope, block, kind, key, each)),
        (),
        (("topic", name), *hints) if known and name is not None else hints,
    )
    return Made(document, block, home, why)


def _counts(scope: Scope, block: Block, kind: _Kind, key: str | None, each: Found | None) -> Iterator[Fact]:
    written = (("topic.partitions", kind.partitions), ("topic.replication_factor", kind.replicas))
    for fact, attribute in written:
        expr = block.attribute(attribute) if attribute else None
        found = scope.resolved(expr, each, key)
        if found.expr is not None and found.text is not None and integer(found.text) is not None:
            yield Fact(fact, found.text, Origin("file", Location(found.file, found.expr.line), found.note))
    if not kind.replicas:
        yield Fact("topic.replication_factor", "3", Origin("default", None, "default of Confluent Cloud"))


def _config(
    scope: Scope, block: Block, key: str | None, each: Found | None
) -> tuple[tuple[Setting, ...], Expr | Block | None, str]:
    """`config = { "retention.ms" = "1000" }`, or Aiven's block with underscores for dots."""
    note = ignored(block, "config")
    why = f"Terraform ignores changes of config ({note})" if note else ""
    inner = block.inner("config")
    if inner is not None:
        found = [
            one_setting(scope, one.name.replace("_", "."), one.line, one.value, each, key, note)
            for one in inner.attributes
        ]
        return tuple(found), inner, why
    written = block.attribute("config")
    held = scope.resolved(written, each, key)
    if held.expr is None or held.expr.kind != "object":
        return (), None, why or ("its config is put together elsewhere" if written is not None else "")
    if written is not None and written.kind == "call":
        why = why or "its config is put together of several maps"
    home = held.expr if held.file == scope.file else None
    return tuple(mapped(scope, held, each, key, note)), home, why or ("" if home else f"it is {held.note}")


def _cluster_hints(scope: Scope, block: Block, kind: str) -> Iterator[tuple[str, str]]:
    """Which cluster a topic is in: the one it names, or the one that its provider connects to."""
    if kind == "confluent_kafka_topic":
        cluster = block.inner("kafka_cluster")
        named = cluster.attribute("id") if cluster is not None else None
        what = (
            named.value.removesuffix(".id") if named is not None and named.kind == "reference" else "topics"
        )
        yield "cluster", label_of(scope, "confluent", what)
    elif kind == "aiven_kafka_topic":
        service = resource_in(block.attribute("service_name"), "aiven_kafka")
        yield "cluster", label_of(scope, "aiven", service or "service")
    else:
        for _, root in scope.roots():
            for provider in blocks_of(root, "provider"):
                servers = provider.attribute("bootstrap_servers") if provider.labels == ("kafka",) else None
                if servers is not None:
                    yield from _bootstrap(scope, servers)


def _bootstrap(scope: Scope, servers: Expr) -> Iterator[tuple[str, str]]:
    for item in servers.items if servers.kind == "list" else (servers,):
        for address in (scope.resolved(item).text or "").split(","):
            if address.strip() and not is_template(address):
                yield "bootstrap", address.strip()
    made = resource_in(servers, "aws_msk_cluster")
    for _, root in scope.roots() if made is not None else ():
        for block in resources(root, "aws_msk_cluster"):
            if block.labels[1] == made:
                yield "cluster", configured(scope, block)


def _confluent(scope: Scope, block: Block, label: str) -> Made:
    """The brokers of Confluent Cloud, which no file configures."""
    settings = completed((), _CONFLUENT, "Confluent Cloud")
    name = label.rpartition("#")[2].removeprefix("confluent.")
    hints = (("cluster", label),)
    document = Document(scope.file, FORMAT, "broker", name, settings, "java", block.line, (), (), hints)
    return Made(document, block, None, "Confluent Cloud's brokers are not configured")
