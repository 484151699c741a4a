"""The same faults with a finding's fix made: the run that the simulator finds, or None. Nothing is invented.

What the search answered is looked for in the model of the fixed settings (`sim.same_faults`); what a model
plays on a clock says itself how to play it again (`Judgement.again`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ask.judge import OWN_PROTOCOL, counts
from ..ask.models import Models
from ..ask.policies import (
    Combination,
    Decoded,
    decode,
    producer_policies,
    rack_policies,
    replication_policies,
)
from ..ask.verdicts import Verdicts
from ..context import Context, Question
from ..model import Change, Deployment, Finding, members_of
from ..packs.vocabulary import PRODUCER_GUARANTEES, TRANSACTION_GUARANTEES
from ..sim.same_faults import same_faults
from .edits import edits_of, with_edits
from .searched import decoded_for, problem_of
from .smallest_change import SmallestChange

Trace = Sequence[Mapping[str, Any]]


def fixed_run(
    finding: Finding,
    question: Question,
    deployment: Deployment,
    models: Models,
    context: Context,
    verdicts: Verdicts,
) -> Trace | None:
    if not finding.fixes or not finding.evidence.trace:
        return None
    fixed = with_edits(deployment, edits_of(finding.fixes[0].changes, deployment))
    assert isinstance(fixed, Deployment)
    if models.answers(question.guarantee):
        return _played_again(finding, question, deployment, fixed, models, context)
    return searched_again(question, fixed, finding.evidence.trace, verdicts)


def searched_again(question: Question, fixed: Deployment, broken: Trace, verdicts: Verdicts) -> Trace | None:
    """The faults of a broken run in the first behaviour of the fixed deployment that holds."""
    for policy in _policies_that_hold(question, fixed, verdicts):
        found = same_faults(question.guarantee, policy, broken)
        if found is not None:
            return [step.as_dict() for step in found]
    return None


def smallest_fix_played(
    question: Question, deployment: Deployment, decoded: Decoded, broken: Trace, verdicts: Verdicts
) -> tuple[tuple[Change, ...], Trace] | None:
    """The smallest change for a question that was asked by hand, and the faults of its run with it made.
    Nobody else is asked whether the change harms: it is no advice yet."""
    if question.guarantee in TRANSACTION_GUARANTEES:
        return None
    nobody = Context({}, {}, lambda document: decoded.version, lambda document: ())
    problem = problem_of(question, deployment, decoded, verdicts)
    remedy = SmallestChange(nobody, lambda *asked: None).of(deployment, problem).remedy
    if remedy is None:
        return None
    fixed = with_edits(deployment, remedy.edits)
    assert isinstance(fixed, Deployment)
    trace = searched_again(question, fixed, broken, verdicts)
    return None if trace is None else (remedy.fix.changes, trace)


def _policies_that_hold(question: Question, fixed: Deployment, verdicts: Verdicts) -> Iterator[Any]:
    """The behaviours of the fixed deployment, the reference first, under which the guarantee holds."""
    for combination in _combinations(question, fixed):
        environment = counts(question.environment, combination.policy)
        asked = (counts(faults, combination.policy) for faults in question.faults or ({},))
        answers = (verdicts.ask(question.guarantee, combination.policy, environment, one) for one in asked)
        if all(answer.verdict == "holds" for answer in answers):
            yield combination.policy


def _combinations(question: Question, fixed: Deployment) -> Sequence[Combination]:
    decoded = decoded_for(question, fixed, decode(fixed))
    if decoded is None:
        return ()
    if question.guarantee in PRODUCER_GUARANTEES:
        return producer_policies(decoded)
    if any("rack_lost" in faults for faults in question.faults):
        return rack_policies(decoded)
    return replication_policies(decoded, question.part == OWN_PROTOCOL)


def _played_again(
    finding: Finding,
    question: Question,
    deployment: Deployment,
    fixed: Deployment,
    models: Models,
    context: Context,
) -> Trace | None:
    for changed, original in zip(members_of(fixed), members_of(deployment), strict=True):
        context.stand_in(changed, original)
    for judgement in models.judge(question, deployment, context):
        hit, again = judgement.hit, judgement.again
        if hit is not None and again is not None and (hit.at, hit.keys) == (finding.at, finding.keys):
            return tuple(again(fixed)) or None
    return None
