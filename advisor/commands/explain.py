"""Explain a setting, a rule (by code or name), a guarantee, a word such as isr, or a recipe line by line,
with runs that the simulator plays now."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..model import UsageError
from ..packs.pack import Rule
from . import show

EPILOG = """\
examples:
  kafka-advisor explain KA011                                       a rule, by code
  kafka-advisor explain silently-rewritten                          or by name
  kafka-advisor explain storage-bounded                             a guarantee, and the rules that ask it
  kafka-advisor explain acks                                        a setting: what each value costs and gains
  kafka-advisor explain min.insync.replicas --kafka-version 3.9     at a version
  kafka-advisor explain isr                                         a word, with a run that shows it
  kafka-advisor explain no-loss                                     a recipe: the run that needs each line

exit codes: 0 explained, 2 not found
"""
# The rules that no pack holds: the engine itself speaks.
_BUILT_IN = {
    "KA000": "The code of a rule, a check of a plugin perhaps, failed on this file. Other rules were asked"
    " all the same; what this one would have said is not known.",
    "KA001": "The file looks like Kafka configuration and cannot be read, so nothing in it was judged. Named"
    " on the command line, such a file makes the exit code 2.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", metavar="WORD", help="acks, KA101, isr, storage-bounded, no-loss, ...")
    parser.add_argument("--kafka-version", metavar="V", help="the Kafka version (default: the newest known)")
    parser.add_argument(
        "--rules", metavar="PACK", action="append", default=[], help="a rule pack of your own"
    )
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    lines = list(_explained(args))
    show("\n".join(lines))
    return 0


def _explained(args: argparse.Namespace) -> Iterator[str]:
    from ..explain.glossary import term_of
    from ..explain.text import guarantee_lines, rule_lines, setting_lines, term_lines
    from ..find.failures import BUILT_IN
    from ..join.versions import choose_version
    from ..memo.cache import open_cache
    from ..packs.pack import load_packs
    from ..registry import load_registry
    from ..replay.traffic_rules import explained as traffic_rule
    from ..tell.recipes import RECIPES, told

    registry = load_registry(args.plugin)
    rules = load_packs(registry.packs, args.rules, open_cache(True))
    word = args.word.lower()
    built_in = next((code for code, name in BUILT_IN.items() if word in (code.lower(), name)), None)
    rule = next((rule for rule in rules if word in (rule.code.lower(), rule.name)), None)
    version, why = choose_version(args.kafka_version, ())
    term = term_of(word)
    of_traffic = traffic_rule(word)
    if built_in is not None:
        yield from (f"{built_in} {BUILT_IN[built_in]} (engine)", "", _BUILT_IN[built_in])
    elif rule is not None:
        yield from rule_lines(rule)
    elif of_traffic is not None:
        yield from of_traffic
    elif any(rule.guarantee == word for rule in rules):
        yield from guarantee_lines(word, registry.guarantees.get(word), rules)
    elif word in RECIPES:
        yield from told(word, version.asked)
    elif term is not None:
        yield from term_lines(term)
    else:
        found = list(setting_lines(args.word, version, rules))
        if not found:
            raise UsageError(_nothing(args.word, rules))
        yield from found
        if why != "stated":
            yield ""
            yield f"(Kafka {version.asked}: assuming the newest; choose with --kafka-version)"


def _nothing(word: str, rules: tuple[Rule, ...]) -> str:
    from difflib import get_close_matches

    from ..catalog import COMPONENTS, NEWEST, suggest
    from ..explain.glossary import terms

    near = [found for found in (suggest(component, word, NEWEST) for component in COMPONENTS) if found]
    names = [rule.name for rule in rules if word in rule.name]
    words = [term.name for term in terms() if word.lower() in term.name]
    # KA1O1 is a slip for KA101.
    code = word.upper().replace("O", "0")
    known = [*(rule.code for rule in rules), *(rule.name for rule in rules), *(term.name for term in terms())]
    slips = [
        *get_close_matches(code, known, 1, 0.75),
        *get_close_matches(word.lower(), known, 1, 0.75),
    ]
    hints = list(dict.fromkeys([*near, *words, *names, *slips]))[:3]
    return f"no rule, setting or word is called {word!r}" + (
        f"; did you mean {' or '.join(hints)}?" if hints else ""
    )
