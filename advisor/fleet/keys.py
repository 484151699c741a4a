"""Which keys matter to whom: those that only name something, and those that rules about deployments read.

Nobody declares what a check or a guarantee reads, so it is taken from their code: every string constant
that is a key's name counts as read. That keeps too many rather than too few.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, ModuleType

from ..catalog import NEWEST, resolution_table
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

# The modules that answer guarantees, besides those that plugins name.
_ANSWERING = (
    "advisor.ask.policies",
    "advisor.join.racks",
    "advisor.ask.judge",
    "advisor.fix.candidates",
    "advisor.find.guarantees",
    "advisor.ask.key_placement",
)
# A topic's facts as a table of topics has them among its settings.
TOPIC_FACTS = ("partitions", "replication.factor", "num-partitions", "replication-factor")


def names_kept_apart(rules: Sequence[Rule]) -> list[str]:
    """The naming keys that no condition of a rule reads."""
    read = {name.partition(".")[2] for rule in rules if rule.when for name in _reads(rule)}
    return sorted(set(NAMES) - read)


def read_keys(registry: Registry, rules: Sequence[Rule]) -> frozenset[str]:
    """Every key that a rule about deployments may read, under any component."""
    known = {key for _, key in resolution_table(NEWEST)} | {key for _, key in resolution_table("2.8")}
    found = set(TOPIC_FACTS)
    for rule in rules:
        if rule.when:
            found |= {name.partition(".")[2] for name in _reads(rule)}
    for constant in _constants(_modules(registry)):
        if constant in known:
            found.add(constant)
    # What a key reads when it is unset is read with it.
    for release in (NEWEST, "2.8"):
        for (component, key), table in resolution_table(release).items():
            if key in found:
                # What the broker says for a topic is taken along by `resolving`, where it speaks.
                found |= {name for home, name, _ in table.sources if home == component}
    return frozenset(found)


def _reads(rule: Rule) -> tuple[str, ...]:
    return compile_condition(rule.when or {}).reads


def _modules(registry: Registry) -> Iterator[ModuleType]:
    from importlib import import_module
    from pkgutil import walk_packages

    from ..ask import answers

    found = walk_packages(answers.__path__, f"{answers.__name__}.")
    names = {*_ANSWERING, *(module.name for module in found)}
    for model in registry.models:
        names.add(model.function.partition(":")[0])
    for check in registry.checks.values():
        if check.reads == "deployment":
            names.add(check.function.partition(":")[0])
    for name in sorted(names):
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
