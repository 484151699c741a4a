"""Explain a rule (by code or name), a guarantee, a recipe line by line, or a setting through the versions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from ..model import UsageError
from ..packs.pack import Rule
from . import show

EPILOG = """\
examples:
  kafka-advisor explain KA011                                       a rule, by code
  kafka-advisor explain silently-rewritten                          or by name
  kafka-advisor explain storage-bounded                             a guarantee, and the rules that ask it
  kafka-advisor explain min.insync.replicas --kafka-version 3.9     a setting
  kafka-advisor explain no-loss                                     a recipe: the run that needs each line

exit codes: 0 explained, 2 nothing is called so
"""
# The rules that no pack holds: the engine itself speaks.
_BUILT_IN = {
    "KA000": "The code of a rule, a check of a plugin perhaps, failed on this file. Other rules were asked"
    " all the same; what this one would have said is not known.",
    "KA001": "The file looks like Kafka configuration and cannot be read, so nothing in it was judged. Named"
    " on the command line, such a file makes the exit code 2.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", metavar="WORD", help="KA002, unknown-key, min.insync.replicas, no-loss, ...")
    parser.add_argument("--kafka-version", metavar="V", help="the Kafka version (default: the newest known)")
    parser.add_argument(
        "--rules", metavar="PACK", action="append", default=[], help="a rule pack of your own"
    )
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    from ..find.failures import BUILT_IN
    from ..join.versions import choose_version
    from ..memo.cache import open_cache
    from ..packs.pack import load_packs
    from ..registry import load_registry
    from ..tell.explain import explain_setting
    from ..tell.recipes import RECIPES, told

    registry = load_registry(args.plugin)
    rules = load_packs(registry.packs, args.rules, open_cache(True))
    for code, name in BUILT_IN.items():
        if args.word.lower() in (code.lower(), name):
            show(f"{code} {name} (engine)\n\n{_BUILT_IN[code]}")
            return 0
    for rule in rules:
        if args.word.lower() in (rule.code.lower(), rule.name):
            show("\n".join(_rule(rule)))
            return 0
    asking = [rule for rule in rules if rule.guarantee == args.word.lower()]
    if asking:
        show("\n".join(_guarantee(args.word.lower(), asking)))
        return 0
    version, why = choose_version(args.kafka_version, ())
    if args.word.lower() in RECIPES:
        show("\n".join(told(args.word.lower(), version.asked)))
        return 0
    lines = explain_setting(args.word, version, rules)
    if not lines:
        raise UsageError(_nothing(args.word, rules))
    if why != "stated":
        lines.append(f"(Kafka {version.asked}: {why}; --kafka-version asks for another)")
    show("\n".join(lines))
    return 0


def _guarantee(name: str, asking: list[Rule]) -> Iterator[str]:
    from ..packs.vocabulary import COMPUTED, GUARANTEES

    meaning = {**GUARANTEES, **COMPUTED}.get(name)
    yield f"{name} (guarantee)" + (f": {meaning[0]}" if meaning else "")
    if meaning:
        yield f"Broken: {meaning[1]}."
    yield ""
    yield "Asked by:"
    for rule in asking:
        yield f"  {rule.code}  {rule.name} ({rule.severity})"


def _rule(rule: Rule) -> Iterator[str]:
    yield f"{rule.code} {rule.name} ({rule.severity}, evidence: {rule.evidence}, pack {rule.pack})"
    yield ""
    yield rule.why
    if rule.fine_when:
        yield f"Fine when: {rule.fine_when}"
    asked = f"guarantee {rule.guarantee}" if rule.guarantee else f"check {rule.check}" if rule.check else ""
    yield f"Decided by: {asked or 'its condition'}{_asked_with(rule)}"
    if rule.params:
        yield "Parameters: " + ", ".join(f"{name} = {value}" for name, value in rule.params.items())
    for example in rule.examples:
        yield ""
        for word in ("bad", "good"):
            for component, settings in example[word].items():
                for key, value in settings.items():
                    yield f"  {word:<5}{component}: {key} = {value}"
    if rule.sources:
        yield ""
        yield "Sources: " + ", ".join(rule.sources)


def _asked_with(rule: Rule) -> str:
    """What may go wrong, and what may besides, free of charge."""

    def counted(faults: Mapping[str, int | str]) -> str:
        return ", ".join(f"{name} {count}" for name, count in faults.items())

    faults = " or ".join(filter(None, map(counted, rule.faults)))
    free = f" (free: {counted(rule.environment)})" if rule.environment else ""
    return f", with {faults}{free}" if faults else ""


def _nothing(word: str, rules: tuple[Rule, ...]) -> str:
    from ..catalog import COMPONENTS, NEWEST, suggest

    near = [found for found in (suggest(component, word, NEWEST) for component in COMPONENTS) if found]
    names = [rule.name for rule in rules if word in rule.name]
    hints = list(dict.fromkeys([*near, *names]))[:3]
    return f"no rule or setting is called {word!r}" + (
        f"; did you mean {' or '.join(hints)}?" if hints else ""
    )
