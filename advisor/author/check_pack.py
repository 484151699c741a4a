"""All that is wrong with a rule pack, at once: one line for each fault, with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..find.rules.choice import checks_of
from ..hookspecs import PackSpec
from ..memo.cache import Cache
from ..model import UsageError
from ..packs.conditions import compile_condition
from ..packs.pack import Rule, compile_pack, load_packs
from ..packs.questions import ActiveRule, check_rules, question_of
from ..registry import Registry
from ..testing.examples import examples_of
from ..tuples import NamedTuple

_FIELD = re.compile(r"\{([^{}\s]*)\}")
# Fields that every message may name.
_ALWAYS = ("resource",)


class CheckedPack(NamedTuple):
    """Each fault, and the codes of rules that no example shows at work."""

    faults: list[str]
    unseen: list[str] = []


def check_pack(
    file: str, registry: Registry, plugins: Sequence[str] = (), spec: PackSpec | None = None
) -> CheckedPack:
    """`plugins` are the Python files that the registry was loaded with; `spec`: one of its plugins gives the
    pack, so it is loaded already."""
    try:
        with open(file, "rb") as opened:
            compile_pack(file, opened.read())
        rules = load_packs(registry.packs, () if spec else (file,), Cache(None))
    except OSError as error:
        return CheckedPack([f"{file}: cannot be read: {error.strerror or error}"])
    except UsageError as error:
        return CheckedPack(str(error).splitlines())
    home = file if spec is None else f"{spec.package}/{spec.file}"
    own = [rule for rule in rules if rule.at.file == home]
    faults = [fault for rule in own for fault in _rule_faults(rule, rules, registry)]
    if not faults:
        faults = [
            f"{file}:{example.line}: rule {fault}"
            for example in examples_of(own, () if spec else (file,), plugins)
            for fault in example.faults()
        ]
    return CheckedPack(faults, [rule.code for rule in own if not rule.examples])


def _rule_faults(rule: Rule, rules: Sequence[Rule], registry: Registry) -> Iterator[str]:
    try:
        check_rules([rule], registry.guarantees, {})
        if rule.guarantee is None:
            checks_of([ActiveRule(rule, rule.severity, question_of(rule, {}))], registry)
    except UsageError as error:
        yield from str(error).splitlines()
    known = {name for one in rules for name in (one.code, one.name)}
    for field, names in (("covers", rule.covers), ("replaced_by", (rule.replaced_by,))):
        for name in names:
            if name is not None and name not in known:
                yield f"{rule.at}: rule {rule.code}: {field} {name!r}, which is no rule"
    for name in rule.clients:
        if name not in registry.clients and name not in ("connect", "streams"):
            from ..schemas.explain import did_you_mean

            near = did_you_mean(name, registry.clients)
            yield f"{rule.at}: rule {rule.code}: applies.clients: no family is called {name!r}{near}"
    if rule.when is not None:
        yield from _field_faults(rule, rule.when)


def _field_faults(rule: Rule, when: Mapping[str, Any]) -> Iterator[str]:
    """Of a `when` it is known which fields there are: what it reads, and the components it is about."""
    try:
        reads = compile_condition(when).reads
    except ValueError:
        return  # told already
    known = {*reads, *(name.partition(".")[0] for name in reads), *_ALWAYS}
    for text in (rule.message, *rule.advice):
        for field in _FIELD.findall(text):
            if field not in known:
                there = ", ".join(sorted(known))
                yield f"{rule.at}: rule {rule.code}: message names {{{field}}}; there is {there}"
