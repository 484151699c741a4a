"""Which keys matter to whom: those that only name something, and those that rules about deployments read.

Nobody declares what a check or a guarantee reads, so it is noted while every example of every rule is judged
(`asked_keys.json`, written by `python -m tests.fleet.test_row_law --rewrite`). A rule may still ask for a key
that no example led it to: workers note that too, and what it may have decided is judged again (rows/plan.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pkgutil import get_data
from types import CodeType, ModuleType

from ..catalog import NEWEST, librdkafka, librdkafka_names, resolution_table
from ..packs.conditions import compile_condition
from ..packs.pack import Rule
from ..registry import Registry

# Keys whose plain values differ between services that behave alike, and what a plain value looks like.
NAMES = {
    "client.id": "name",
    "group.id": "name",
    "group.instance.id": "name",
    "transactional.id": "name",
    "application.id": "name",
    "client.rack": "name",
    "bootstrap.servers": "address",
    "metadata.broker.list": "address",
    "ssl.keystore.location": "path",
    "ssl.truststore.location": "path",
    "ssl.ca.location": "path",
}
_HOST = r"[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]{1,4}"
SHAPES = {
    "name": r"[A-Za-z0-9][A-Za-z0-9._-]*",
    "address": rf"{_HOST}(, ?{_HOST})*",
    "path": r"(/[A-Za-z0-9._-]+)+",
}

ASKED_KEYS = "asked_keys.json"
# Code in here looks settings up by key, so that it is noted.
_NOTED = "advisor."
# But for join/racks.py, which goes through the brokers' settings.
_OF_RACKS = ("broker.rack", "process.roles")
# A topic's facts as a table of topics has them among its settings.
TOPIC_FACTS = ("partitions", "replication.factor", "num-partitions", "replication-factor")


def names_kept_apart(rules: Sequence[Rule]) -> list[str]:
    """The naming keys that no condition of a rule reads."""
    read = {name.partition(".")[2] for rule in rules if rule.when for name in _reads(rule)}
    return sorted(set(NAMES) - read)


def read_keys(registry: Registry, rules: Sequence[Rule]) -> frozenset[str]:
    """Every key that a rule about deployments is known to read, under any component."""
    found = {*TOPIC_FACTS, *_OF_RACKS, *noted_keys()}
    for rule in rules:
        if rule.when:
            found |= {name.partition(".")[2] for name in _reads(rule)}
    # A plugin's code may go through a document's settings itself: what it names counts as read.
    known = {key for release in (NEWEST, "2.8") for _, key in resolution_table(release)}
    known |= {*librdkafka_names(), *(key for spec in registry.clients.values() for key in spec.keys)}
    found |= known.intersection(_constants(_modules(registry)))
    return with_other_names(found, registry)


def noted_keys() -> frozenset[str]:
    """Those that were asked for when the examples of our rules were judged."""
    return frozenset(json.loads(get_data(__package__, ASKED_KEYS) or b"[]"))


def with_other_names(keys: Iterable[str], registry: Registry) -> frozenset[str]:
    """The keys, and all that they may be written as in the same document."""
    found = set(keys)
    for release in (NEWEST, "2.8"):
        for (component, key), table in resolution_table(release).items():
            if key in found:
                # What the broker says for a topic is taken along by `behaviours`, where it speaks.
                found |= {name for home, name, _ in table.sources if home == component}
    names = [(name, known.alias_of) for name in librdkafka_names() if (known := librdkafka(name)) is not None]
    names += aliases_of(registry).items()
    for name, kafka in names:
        if kafka in found or name in found:
            found |= {name, kafka or name}
    return frozenset(found)


def aliases_of(registry: Registry) -> dict[str, str]:
    """Every client family's own names, and what they stand for."""
    return {name: kafka for spec in registry.clients.values() for name, kafka in spec.aliases.items()}


def written_as(keys: Iterable[str]) -> frozenset[str]:
    """The keys, and those of the broker that may speak for them."""
    found = set(keys)
    for release in (NEWEST, "2.8"):
        for (_, key), table in resolution_table(release).items():
            if key in keys:
                found |= {name for _, name, _ in table.sources}
    return frozenset(found)


def _reads(rule: Rule) -> tuple[str, ...]:
    return compile_condition(rule.when or {}).reads


def _modules(registry: Registry) -> Iterator[ModuleType]:
    """Code of plugins that answers for deployments."""
    from importlib import import_module

    code = [model.function for model in registry.models]
    code += [check.function for check in registry.checks.values() if check.reads == "deployment"]
    for name in sorted({function.partition(":")[0] for function in code}):
        if not name.startswith(_NOTED):
            yield sys.modules.get(name) or import_module(name)


def _constants(modules: Iterable[ModuleType]) -> Iterator[str]:
    for module in modules:
        path = getattr(module, "__file__", None)
        if path is None:
            continue
        with open(path, encoding="utf-8") as file:
            yield from _strings(compile(file.read(), path, "exec"))


def _strings(code: CodeType) -> Iterator[str]:
    waiting: list[object] = [code]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, CodeType):
            waiting += item.co_consts
        elif isinstance(item, (tuple, frozenset)):
            waiting += item
