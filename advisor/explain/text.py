"""What `explain` prints: a setting, a rule, a guarantee or a word, each with a run that is played now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ask.judge import counts
from ..catalog import Version
from ..hookspecs import ModelSpec
from ..output.terminal import terminal, wrapped
from ..packs.pack import Rule
from ..sim.partition.state import Policy
from ..simulate.verdict_report import counts_text
from ..tell.explain import explain_setting
from ..tell.html.tolerance_numbers import brokers
from ..tell.run import run_lines, run_of
from ..tell.run.faults import faults_text
from ..tell.run.text import legend_lines
from .examples import example_of
from .glossary import Term
from .scenarios import run_of_scenario, scenario
from .values import Tested, Tried, says, tried_values

Finding = Mapping[str, Any]


# -- a setting ---------------------------------------------------------------------------------------------


def setting_lines(name: str, version: Version, rules: Sequence[Rule]) -> Iterator[str]:
    facts = explain_setting(name, version, rules)
    if not facts:
        return
    told = says(name)
    if told:
        yield from _wrapped(told)
        yield ""
    yield from facts
    values = tried_values(name, version)
    if values is not None:
        titles = {rule.code: rule.title for rule in rules}
        yield ""
        yield from _values(name, values, version, titles)


def _values(name: str, values: Tested, version: Version, titles: Mapping[str, str]) -> Iterator[str]:
    beside = f", with {', '.join(values.beside)}" if values.beside else ""
    yield from _wrapped(f"By runs, played just now on Kafka {version.asked}: {values.about}{beside}.")
    for one in values.tried:
        yield f"  {name}={one.value}"
        yield from (f"    {line}" for line, _ in outcome_words(one, titles))
    yield from _versions(name, values, version)
    drawn = [
        (one, next((finding for finding in one.findings if finding["evidence"]["trace"]), None))
        for one in values.tried
    ]
    told = [(one, finding) for one, finding in drawn if finding is not None]
    for one, finding in told:
        yield ""
        yield f"How {name}={one.value} does it ({finding['code']}):"
        last = finding is told[-1][1]
        yield from _run(finding["evidence"]["trace"], finding["evidence"]["guarantee"], legend=last)


def outcome_words(one: Tried, titles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What came of a value, in words, each with a tone."""
    lost, away = one.headline["survives_lost"], one.headline["writes_with_away"]
    if lost is not None:
        survives = f"survive the loss of {brokers(lost)}" if lost else "do not survive the loss of a broker"
        yield f"confirmed records {survives}", "good" if lost else "error"
    if away is not None:
        told = f"writes continue with {brokers(away)} down" if away else "writes stop with 1 broker down"
        yield told, "good" if away else "error"
    for finding in one.findings:
        title = titles.get(finding["code"], finding["name"])
        yield f"{finding['severity']} {finding['code']}: {title}", finding["severity"]
    if not one.findings:
        yield "nothing found", "good"


def _versions(name: str, values: Tested, version: Version) -> Iterator[str]:
    """In which versions it is the same, and what is found in the others."""
    now = tuple(one.mark for one in values.tried)
    for first, last, tried in values.spans:
        span = f"Kafka {first}" if first == last else f"Kafka {first} to {last}"
        if tuple(one.mark for one in tried) == now:
            yield f"  The same in {span}."
            continue
        differing = [
            f"{name}={one.value}: {', '.join(finding['code'] for finding in one.findings) or 'nothing found'}"
            for one, other in zip(tried, values.tried, strict=True)
            if one.mark != other.mark
        ]
        yield f"  In {span}: {'; '.join(differing)}."


# -- a rule, a guarantee, a word ---------------------------------------------------------------------------


def rule_lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.severity}[{rule.code}] {rule.title}"
    yield f"({rule.name}, evidence: {rule.evidence}, pack {rule.pack})"
    yield ""
    yield from _wrapped(rule.why)
    if rule.fine_when:
        yield from _wrapped(f"Fine when: {rule.fine_when}")
    asked = f"guarantee {rule.guarantee}" if rule.guarantee else f"check {rule.check}" if rule.check else ""
    yield from _wrapped(f"Decided by: {asked or 'its condition'}")
    if asked_with(rule):
        yield from _wrapped(f"Asked with: {asked_with(rule)}")
    if rule.params:
        yield "Parameters: " + ", ".join(f"{name} = {value}" for name, value in rule.params.items())
    yield from _examples(rule)
    yield from _example_run(rule)
    if rule.sources:
        yield ""
        yield "Sources: " + ", ".join(rule.sources)


def asked_with(rule: Rule) -> str:
    """What may go wrong, and what may besides at any time, of a topic with three replicas."""
    if not rule.faults and not rule.environment:
        return ""
    reference = Policy()
    asked = [counts_text({}, counts(faults, reference)) for faults in rule.faults] or ["no fault"]
    free = faults_text(counts(rule.environment, reference))
    return " or ".join(asked) + (f"; besides, at any time: {free}" if free else "")


def _examples(rule: Rule) -> Iterator[str]:
    """What both sides have is told once."""
    for example in rule.examples:
        bad, good = (
            [
                f"{component}: {key} = {value}"
                for component, table in example[side].items()
                for key, value in table.items()
            ]
            for side in ("bad", "good")
        )
        yield ""
        yield from (f"  with  {line}" for line in bad if line in good)
        yield from (f"  bad   {line}" for line in bad if line not in good)
        yield from (f"  good  {line}" for line in good if line not in bad)


def _example_run(rule: Rule) -> Iterator[str]:
    example = example_of(rule)
    if example is None or not example.finding["evidence"]["trace"]:
        return
    finding = example.finding
    yield ""
    yield "How it happens, played just now with the first of these that shows it:"
    yield from _run(finding["evidence"]["trace"], finding["evidence"]["guarantee"])
    for fix in finding["fixes"][:1]:
        changes = ", ".join(f"{change['key']}={change['to']}" for change in fix["changes"])
        ending = example.fixed["ending"] if example.fixed is not None else ""
        yield from _wrapped(f"With {changes}: {ending or 'no failing run is left within the bounds'}.")


def guarantee_lines(name: str, meaning: ModelSpec | None, rules: Sequence[Rule]) -> Iterator[str]:
    yield f"{name} (guarantee)" + (f": {meaning.says}" if meaning and meaning.says else "")
    if meaning and meaning.broken:
        yield f"Broken: {meaning.broken}."
    asking = [rule for rule in rules if rule.guarantee == name]
    yield ""
    yield "Asked by:"
    width = max(len(rule.name) for rule in asking)
    for rule in asking:
        yield f"  {rule.code}  {rule.severity:<8}{rule.name:<{width}}  {rule.title}"
    for rule in asking:
        example = example_of(rule)
        if example is not None and example.finding["evidence"]["trace"]:
            yield ""
            yield f"How it breaks, played just now ({rule.code}):"
            yield from _run(example.finding["evidence"]["trace"], name)
            return


def term_lines(term: Term) -> Iterator[str]:
    yield term.title
    yield ""
    yield from _wrapped(term.says)
    if term.scenario is not None:
        data = scenario(term.scenario)
        trace, guarantee = run_of_scenario(data)
        yield ""
        yield from _wrapped(f"{data['scenario']['title']}. Played just now, Kafka {data['kafka_version']}:")
        yield from _run(trace, guarantee)
    if term.see:
        yield ""
        yield from _wrapped(f"See also: {', '.join(term.see)}")


# -- lines -------------------------------------------------------------------------------------------------


def _wrapped(text: str) -> Iterator[str]:
    yield from wrapped(text, terminal().width)


def _run(trace: Sequence[Mapping[str, Any]], guarantee: str | None, legend: bool = True) -> Iterator[str]:
    """`legend`: with what its signs mean."""
    run, width = run_of(trace, guarantee), terminal().width
    yield from run_lines(run, width, brief=True)
    if legend:
        yield from (f"  {line}" for line in legend_lines(run, width - 2, brief=True))
