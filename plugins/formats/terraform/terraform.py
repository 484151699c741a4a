"""Terraform: topics, Amazon MSK's clusters and configurations, and the modules that make them.

    kafka_topic            name, partitions, replication_factor, config = { "key" = "value" }
    confluent_kafka_topic  topic_name, partitions_count, config; three replicas on Confluent Cloud's brokers
    aiven_kafka_topic      topic_name, partitions, replication, config { key_with_underscores = value }
    aws_msk_configuration  server_properties = a properties text; aws_msk_cluster: brokers, version, zones
    module                 a map of a broker's keys, as the MSK modules of the registry take it
    kubectl_manifest       a resource of Strimzi's in YAML

`for_each` over a map that the files hold gives one topic for each element. A cluster and its configuration
may stand in different files of one folder: both name the configuration, and are joined by it.
"""

from __future__ import annotations

import re

from advisor.api import Dropped, Loaded, Location, Source

from .. import roles
from .clusters import MODULE_MAPS, clusters, values
from .hcl import parse_hcl
from .manifests import MARK, manifests
from .scope import Scope
from .topics import topics
from .written import Made

_RESOURCE = re.compile(
    r'^[ \t]*+resource[ \t]++"?(?:kafka_topic|confluent_kafka_topic|aiven_kafka_topic|aiven_kafka'
    r'|aws_msk_configuration|aws_msk_cluster)"?[ \t]',
    re.MULTILINE,
)
_MODULE = re.compile(r'^[ \t]*+module[ \t]++"', re.MULTILINE)


def claim(name: str, text: str) -> int:
    if name.endswith(".tfvars"):
        return 40 if sum(map(_names_a_broker_key, text.splitlines())) >= 2 else 0
    if _RESOURCE.search(text) or ("<<" in text and MARK in text):
        return 90
    named = _MODULE.search(text) and any(one in text for one in MODULE_MAPS)
    return 60 if named and sum(map(_names_a_broker_key, text.splitlines())) >= 2 else 0


def _names_a_broker_key(line: str) -> bool:
    key = line.partition("=")[0].strip().strip('"')
    return "." in key and "broker" in roles.components(key)


def load(source: Source) -> Loaded:
    found = tuple(made.document for made in all_made(source))
    if MARK in source.text:
        found = (*found, *manifests(source))
    if found:
        return Loaded(found)
    if source.file.endswith(".tfvars"):
        return Loaded((), "skipped", "its values are read with the files that use them")
    return Loaded((), "skipped", "what it makes is not written out here")


def all_made(source: Source) -> list[Made]:
    scope = Scope(source.file, parse_hcl(source.text), source.read)
    if source.file.endswith(".tfvars"):
        return list(values(scope, [source.read(name) or "" for name in ("main.tf", "msk.tf", "kafka.tf")]))
    return [*(_ignored(one) for one in topics(scope)), *clusters(scope)]


def _ignored(made: Made) -> Made:
    """A topic whose `ignore_changes` names its settings: Terraform leaves them as they are."""
    lifecycle = made.block.inner("lifecycle")
    changes = lifecycle.attribute("ignore_changes") if lifecycle is not None else None
    named = [] if changes is None else [re.split(r"[.\[]", one.value)[0] for one in changes.items]
    words = (*named, changes.value) if changes is not None else ()
    told = next((word for word in words if word in ("all", "config")), None)
    if changes is None or told is None or not made.document.settings:
        return made
    detail = f"ignore_changes names {told}"
    dropped = Dropped("config", "...", Location(made.document.file, changes.line), "never-applied", detail)
    return made._replace(document=made.document._replace(dropped=(*made.document.dropped, dropped)))
