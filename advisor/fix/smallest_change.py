"""The smallest change that holds: a fix is a claim too.

It is offered only when the same question, with the change made, holds, and no rule of the profile that was
silent becomes a finding. What gets worse all the same is its price.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ..ask.judge import judge
from ..ask.policies import Decoded, decode, decode_internal
from ..ask.tolerance import headline
from ..ask.verdicts import Verdicts
from ..join.racks import NAMED
from ..model import Change, Deployment, Document, Edit, Fix, Location, Secret, Setting
from ..packs.pack import Rule
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.tolerance import Headline
from .candidates import FACTS, edits, is_meant, is_same_key, last_resorts, turned, unseen_step

EDITS_MAX = 3

# Which edits can matter to which question: a policy field that the question does not read changes nothing.
_PRODUCER_FIELDS = ("acks", "idempotence", "in_flight")
_REPLICATION_FIELDS = ("acks", "replicas", "min_isr", "unclean", "elr")


class Repair(NamedTuple):
    """A change that was tried and holds. `condition`: where that depends on what is not in sight, when it
    holds. `advice`: steps that no file can make."""

    edits: tuple[Edit, ...]
    price: str | None
    condition: str | None = None
    advice: tuple[str, ...] = ()


def smallest_repair(
    rule: Rule, deployment: Deployment, decoded: Decoded, silent: Sequence[Rule], verdicts: Verdicts
) -> Repair | None:
    """Subsets of the candidates by size, in a fixed order: the first that holds is the smallest. Where none
    does, the first that leaves it to what is not in sight; else brokers are to be moved or upgraded."""
    own = decoded_for(rule, deployment, decoded) or decoded
    fields = _PRODUCER_FIELDS if rule.guarantee in PRODUCER_GUARANTEES else _REPLICATION_FIELDS
    usual = [edit for edit in edits(own, deployment) if edit.field in fields]
    perhaps: Repair | None = None
    for chosen in _subsets(usual):
        repair = _tried(chosen, rule, deployment, own, silent, verdicts, surely=perhaps is not None)
        if repair is not None and repair.condition is None:
            return repair
        perhaps = perhaps or repair
    if perhaps is not None or rule.guarantee in PRODUCER_GUARANTEES:
        return perhaps
    racks = any("rack_lost" in faults for faults in rule.faults)
    last = last_resorts(own, deployment, rule.guarantee or "", racks)
    resorts = (chosen for chosen in _subsets([*last, *usual]) if chosen[0] in last)
    tried = (_tried(chosen, rule, deployment, own, silent, verdicts, surely=True) for chosen in resorts)
    return next((repair for repair in tried if repair is not None), None)


def _tried(
    chosen: Sequence[Edit],
    rule: Rule,
    deployment: Deployment,
    before: Decoded,
    silent: Sequence[Rule],
    verdicts: Verdicts,
    surely: bool,
) -> Repair | None:
    """None where it does not help or does harm; with `surely` also where it depends on the unseen."""
    changed = deployment
    for edit in chosen:
        changed = turned(changed, edit)
    after = decode(changed)
    if deployment.producer is not None and after.producer is None:
        return None  # the producer would not start
    asked = decoded_for(rule, changed, after)
    outcome = judge(rule, asked, verdicts, explained=False) if asked is not None else None
    if asked is None or outcome is None or outcome.verdict == "broken":
        return None
    if surely and outcome.verdict != "holds":
        return None
    if any(is_broken(other, changed, after, verdicts) for other in silent):
        return None
    if outcome.verdict == "unknown":
        outcome = judge(rule, asked, verdicts)
        if outcome is None or outcome.region is None:
            return None
    steps = [step_of(edit.command) for edit in chosen if edit.command is not None]
    further = unseen_step(asked, changed, outcome.region)
    return Repair(
        tuple(chosen),
        _price(headline(before, verdicts), headline(asked, verdicts)),
        outcome.reason if outcome.verdict == "unknown" else None,
        (*steps, *([further] if further else ())),
    )


def step_of(command: str) -> str:
    return f"run {command}" if command.startswith("kafka-") else command


def _subsets(candidates: Sequence[Edit]) -> Iterator[tuple[Edit, ...]]:
    for size in range(1, EDITS_MAX + 1):
        for chosen in combinations(candidates, size):
            if len({edit.field for edit in chosen}) == size:
                yield chosen


def silent_rules(
    rules: Sequence[Rule], deployment: Deployment, decoded: Decoded, verdicts: Verdicts
) -> list[Rule]:
    """Those that a change must leave silent. Notes are no findings to be spared: the recommended
    configuration has some."""
    return [
        rule
        for rule in rules
        if rule.severity != "note" and not is_broken(rule, deployment, decoded, verdicts)
    ]


def decoded_for(rule: Rule, deployment: Deployment, decoded: Decoded) -> Decoded | None:
    """What a rule is asked of: the deployment's topic, or the internal topic that it names."""
    internal = rule.params.get("internal_topic")
    return decode_internal(deployment, str(internal)) if internal else decoded


def is_broken(rule: Rule, deployment: Deployment, decoded: Decoded, verdicts: Verdicts) -> bool:
    asked = decoded_for(rule, deployment, decoded)
    outcome = judge(rule, asked, verdicts, explained=False) if asked is not None else None
    return outcome is not None and outcome.verdict == "broken"


def _price(before: Headline, after: Headline) -> str | None:
    """What gets worse: the two numbers pull against each other."""
    worse = []
    if _less(after.writes_with_away, before.writes_with_away):
        now, then = after.writes_with_away, before.writes_with_away
        worse.append(f"writes now go on with at most {_brokers(now)} away instead of {then}")
    if _less(after.survives_lost, before.survives_lost):
        now, then = after.survives_lost, before.survives_lost
        worse.append(f"acknowledged records now survive the loss of {_brokers(now)} instead of {then}")
    return "; ".join(worse) or None


def _brokers(number: int | None) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")


def _less(after: int | None, before: int | None) -> bool:
    return after is not None and before is not None and after < before


def as_fix(repair: Repair, deployment: Deployment, rule: Rule) -> Fix:
    changes = tuple(change_of(edit, deployment) for edit in repair.edits)
    verified = f"{rule.guarantee} {repair.condition or 'holds'}"
    return Fix(changes, (verified,), repair.price, smallest=True, condition=repair.condition)


def change_of(edit: Edit, deployment: Deployment) -> Change:
    if edit.key is None:
        value = (edit.value or "").removeprefix(NAMED)
        return Change(edit.component, FACTS[edit.field][1], None, value, None, None, "set")
    return change_in(edit, home_of(edit, deployment))


def change_in(edit: Edit, document: Document | None) -> Change:
    """The edit as a change of what is written in this document."""
    key = edit.key or ""
    written = (
        next((one for one in document.settings if _is_it(one, key, document)), None) if document else None
    )
    if written is None or document is None:
        file = document.file if document is not None else None
        return Change(edit.component, key, None, edit.value, file, None, "add")
    at = written.origin.at or Location(document.file)
    before = str(written.value) if not isinstance(written.value, Secret) else None
    action = "remove" if edit.value is None else "set"
    return Change(edit.component, written.key, before, edit.value, at.file, at.line, action)


def _is_it(setting: Setting, key: str, document: Document) -> bool:
    """Written in a file under this name or, for librdkafka, another name of it."""
    return setting.origin.kind == "file" and is_same_key(setting.key, key, document.client)


def home_of(edit: Edit, deployment: Deployment) -> Document | None:
    if edit.component == "producer":
        return deployment.producer
    if edit.component == "topic":
        return deployment.topic
    if edit.component != "broker":
        return next((group for group in deployment.groups if is_meant(group, edit)), None)
    return deployment.cluster[0] if deployment.cluster else None
