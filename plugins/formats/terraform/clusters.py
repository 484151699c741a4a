"""Clusters in Terraform: Amazon MSK's with their configurations, the modules that make them, Aiven's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import Document, Dropped, Fact, Location, Origin, Setting, integer, setting

from .. import roles
from .hcl import Attribute, Block, Expr, blocks_of
from .msk import text_settings, with_defaults
from .scope import Found, Scope
from .written import FORMAT, Made, ignored, label_of, mapped, one_setting, resource_in, resources

# Attributes of modules that take a map of a broker's keys.
MODULE_MAPS = ("configuration_server_properties", "server_properties", "properties", "cluster_properties")
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}")
_VARIANT = re.compile(r"(?:\.x|\.tiered|\.kraft){1,3}$")


def configured(scope: Scope, cluster: Block) -> str:
    """The label of a cluster: its configuration's, so that both are found to be one."""
    info = cluster.inner("configuration_info")
    name = resource_in(info.attribute("arn"), "aws_msk_configuration") if info is not None else None
    return label_of(scope, "msk", name or f"cluster.{cluster.labels[1]}")


def clusters(scope: Scope) -> Iterator[Made]:
    here = {configured(scope, block): block for block in resources(scope.root, "aws_msk_cluster")}
    beside = [block for _, root in scope.roots()[1:] for block in resources(root, "aws_msk_cluster")]
    for block in resources(scope.root, "aws_msk_configuration"):
        label = label_of(scope, "msk", block.labels[1])
        cluster = here.pop(label, None)
        seen = cluster or next((one for one in beside if configured(scope, one) == label), None)
        settings, home, why = _properties(scope, block)
        facts = () if cluster is None else tuple(_facts(scope, cluster))
        document = _broker(scope, block, label, _completed(scope, settings, seen), facts)
        yield Made(document._replace(dropped=_never_applied(scope, block)), block, home, why)
    for label, block in here.items():
        pool = block.inner("configuration_info") is not None
        settings = () if pool else _completed(scope, (), block)
        document = _broker(scope, block, label, settings, tuple(_facts(scope, block)))
        if pool:
            # It counts brokers; their settings are where its configuration is.
            document = document._replace(hints=(*document.hints, ("pool", block.labels[1])))
        yield Made(document, block, None, "the cluster has no configuration of its own here")
    for block in resources(scope.root, "aiven_kafka"):
        yield _aiven(scope, block)
    for block in blocks_of(scope.root, "module"):
        yield from _module(scope, block)


def _never_applied(scope: Scope, block: Block) -> tuple[Dropped, ...]:
    """`lifecycle { ignore_changes = [server_properties] }`: Terraform leaves what was made first."""
    lifecycle, key = block.inner("lifecycle"), "server_properties"
    listed = lifecycle.attribute("ignore_changes") if lifecycle is not None else None
    names = [one.value for one in (listed, *listed.items)] if listed is not None else []
    if listed is None or not {key, "all"}.intersection(names):
        return ()
    detail = f"lifecycle.ignore_changes names {'all' if 'all' in names else key}"
    return (Dropped(key, "...", Location(scope.file, listed.line), "never-applied", detail),)


def _broker(
    scope: Scope, block: Block, label: str, settings: tuple[Setting, ...], facts: tuple[Fact, ...]
) -> Document:
    name = block.labels[-1] if block.labels else block.kind
    hints = (("cluster", label),)
    return Document(scope.file, FORMAT, "broker", name, settings, "java", block.line, facts, (), hints)


def _completed(scope: Scope, settings: tuple[Setting, ...], cluster: Block | None) -> tuple[Setting, ...]:
    if cluster is None:
        return with_defaults(settings, None, None)
    brokers = scope.resolved(cluster.attribute("number_of_broker_nodes")).text
    group = cluster.inner("broker_node_group_info")
    kind = scope.resolved(group.attribute("instance_type") if group is not None else None).text or ""
    tiered = scope.resolved(cluster.attribute("storage_mode")).text == "TIERED"
    zones = _zones(scope, _subnets(cluster))
    return with_defaults(settings, zones, brokers, tiered, kind.startswith("express."))


def _subnets(cluster: Block) -> Expr | None:
    group = cluster.inner("broker_node_group_info")
    if group is None:
        return cluster.attribute("broker_node_client_subnets")
    return group.attribute("client_subnets")


def _zones(scope: Scope, subnets: Expr | None) -> int | None:
    """Each subnet is in a zone of its own. A list of one may well be a list of lists."""
    listed = scope.resolved(subnets).expr
    count = len(listed.items) if listed is not None and listed.kind == "list" else 0
    return count if count in (2, 3) else None


def _facts(scope: Scope, block: Block) -> Iterator[Fact]:
    brokers = scope.resolved(block.attribute("number_of_broker_nodes"))
    if brokers.expr is not None and brokers.text is not None and integer(brokers.text) is not None:
        yield Fact("cluster.brokers", brokers.text, _origin(brokers))
    version = scope.resolved(block.attribute("kafka_version"))
    text = _VARIANT.sub("", version.text or "")
    if version.expr is not None and _VERSION.fullmatch(text):
        yield Fact("kafka.version", text, _origin(version))
    subnets = scope.resolved(_subnets(block))
    zones = _zones(scope, _subnets(block))
    if zones is not None and subnets.expr is not None:
        yield Fact("cluster.racks", str(zones), _origin(subnets)._replace(note="subnets"))


def _origin(found: Found) -> Origin:
    line = found.expr.line if found.expr is not None else None
    return Origin("file", Location(found.file, line), found.note)


def _properties(scope: Scope, block: Block) -> tuple[tuple[Setting, ...], Expr | None, str]:
    """server_properties: a text, mostly over several lines."""
    found = scope.resolved(block.attribute("server_properties"))
    note = ignored(block, "server_properties")
    if found.expr is None or found.expr.kind != "text":
        return (), None, "its server_properties are put together elsewhere"
    settings = []
    for one in text_settings(found.expr.value, found.file, found.expr.line + found.expr.heredoc):
        # A text in quotes stands on one line, whatever it becomes.
        at = one.origin.at if found.expr.heredoc else Location(found.file, found.expr.line)
        settings.append(one._replace(origin=Origin("file", at, note or found.note)))
    if note:
        return tuple(settings), None, f"Terraform ignores changes of server_properties ({note})"
    if found.file != scope.file or not found.expr.heredoc:
        return tuple(settings), None, "its server_properties are no text of their own here"
    return tuple(settings), found.expr, ""


def _aiven(scope: Scope, block: Block) -> Made:
    user = block.inner("kafka_user_config")
    inner = user.inner("kafka") if user is not None else None
    written = [
        one_setting(scope, one.name.replace("_", "."), one.line, one.value)
        for one in (inner.attributes if inner is not None else ())
    ]
    known = {one.key for one in written}
    for key in ("default.replication.factor", "min.insync.replicas", "unclean.leader.election.enable"):
        if key not in known:
            one = setting(key, "${Aiven's default}", scope.file, block.line)
            written.append(one._replace(origin=Origin("default", None, "default of Aiven")))
    version = scope.resolved(user.attribute("kafka_version") if user is not None else None)
    is_version = version.text is not None and _VERSION.fullmatch(version.text)
    facts = (Fact("kafka.version", version.text, _origin(version)),) if is_version and version.text else ()
    document = _broker(scope, block, label_of(scope, "aiven", block.labels[1]), tuple(written), facts)
    return Made(document, block, inner, "" if inner is not None else "it has no kafka block")


def _module(scope: Scope, block: Block) -> Iterator[Made]:
    for name in MODULE_MAPS:
        written = block.attribute(name)
        found = scope.resolved(written)
        if found.expr is None or not is_broker_map(found.expr):
            continue
        zones = _zones(scope, _subnets(block))
        brokers = scope.resolved(block.attribute("number_of_broker_nodes")).text
        settings = with_defaults(tuple(mapped(scope, found)), zones, brokers)
        label = label_of(scope, "module", block.labels[0] if block.labels else "")
        document = _broker(scope, block, label, settings, tuple(_facts(scope, block)))
        plain = found.file == scope.file and written is not None and written.kind != "call"
        why = "" if plain else "its settings are put together elsewhere"
        yield Made(document, block, found.expr if plain else None, why)
        return


def is_broker_map(expr: Expr) -> bool:
    if expr.kind != "object":
        return False
    return sum("broker" in roles.components(key.value) for key, _ in expr.pairs) >= 2


def values(scope: Scope, users: list[str]) -> Iterator[Made]:
    """Of a tfvars file: maps and texts of a broker's keys that no file beside takes, but a module may."""
    for one in scope.root.attributes:
        if any(f"var.{one.name}" in text for text in users):
            continue
        settings = tuple(_of_value(scope, one))
        if sum("broker" in roles.components(item.key) for item in settings) >= 2:
            block = Block("", (one.name,), one.line, (), ())
            document = _broker(scope, block, label_of(scope, "var", one.name), settings, ())
            yield Made(document, block, one.value)


def _of_value(scope: Scope, one: Attribute) -> Iterator[Setting]:
    if one.value.kind == "object":
        yield from mapped(scope, Found(one.value, scope.file))
    elif one.value.kind == "text" and one.value.heredoc:
        yield from text_settings(one.value.value, scope.file, one.value.line + 1)
