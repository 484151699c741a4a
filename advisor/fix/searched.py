"""What can be tried where the search found a run: a guarantee asked again of the changed deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ask.judge import judge
from ..ask.policies import INTERNAL, Decoded, decode, decode_internal
from ..ask.verdicts import Verdicts
from ..context import Question
from ..model import Deployment
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..syntax.numbers import integer
from .candidates import edits, last_resorts, set_minimum, topic_name, unseen_step
from .edits import Subject, with_edits
from .smallest_change import Problem, Solved

# Which edits can matter to which question: a policy field that the question does not read changes nothing.
_PRODUCER_FIELDS = ("acks", "idempotence", "in_flight", "retries")
_REPLICATION_FIELDS = ("acks", "replicas", "min_isr", "unclean", "elr", "storage")


def problem_of(question: Question, deployment: Deployment, decoded: Decoded, verdicts: Verdicts) -> Problem:
    own = decoded_for(question, deployment, decoded) or decoded
    of_producer = question.guarantee in PRODUCER_GUARANTEES
    fields = _PRODUCER_FIELDS if of_producer else _REPLICATION_FIELDS
    racks = any("rack_lost" in faults for faults in question.faults)

    def solved(changed: Subject, surely: bool) -> Solved | None:
        assert isinstance(changed, Deployment)
        return _solved(question, changed, verdicts, surely)

    possible = edits(own, deployment)
    return Problem(
        [edit for edit in possible if edit.field in fields],
        solved,
        f"{question.guarantee} holds",
        [] if of_producer else last_resorts(own, deployment, question.guarantee, racks),
        [edit for edit in possible if edit.field in _PRODUCER_FIELDS and edit.field not in fields],
    )


def problem_of_blamed(
    question: Question,
    deployment: Deployment,
    decoded: Decoded,
    holds: Callable[[Deployment], bool],
    assuming: Sequence[str],
    verdicts: Verdicts,
) -> Problem:
    """Of what is broken under an assumption about the unseen: it is asked again under the same. A minimum is
    not lowered then: somebody chose it, and nobody sees who writes."""
    fields = _PRODUCER_FIELDS if question.guarantee in PRODUCER_GUARANTEES else _REPLICATION_FIELDS

    def solved(changed: Subject, surely: bool) -> Solved | None:
        assert isinstance(changed, Deployment)
        after = decode(changed)
        if surely or (changed.producer is not None and after.producer is None) or not holds(changed):
            return None
        return Solved(f"holds, assuming {' and '.join(assuming)}")

    lesser = [field for field in fields if field != "min_isr"]
    possible = [edit for edit in edits(decoded, deployment) if edit.field in lesser]
    return Problem(possible, solved, f"{question.guarantee} holds")


def other_minimum(
    deployment: Deployment, decoded: Decoded, holds: Callable[[Deployment], bool]
) -> tuple[str, ...]:
    """The minimum that would help where no fix is offered: for a person to weigh."""
    least = max(decoded.knobs["replicas"].values) - 1
    for edit in edits(decoded, deployment):
        if edit.field == "min_isr" and (integer(edit.value or "") or 0) >= min(2, least):
            changed = with_edits(deployment, (edit,))
            assert isinstance(changed, Deployment)
            if holds(changed):
                return (f"set {edit.key}={edit.value} ({edit.component}) if writes must go on",)
    return ()


def internal_minimum(
    question: Question, deployment: Deployment, decoded: Decoded, verdicts: Verdicts
) -> tuple[str, ...]:
    """What would help an internal topic where the brokers' minimum, which other topics inherit, is not to be
    lowered: a minimum of its own."""
    name = topic_name(decoded, deployment) if decoded.internal is not None else None
    for edit in edits(decoded, deployment) if name is not None else ():
        changed = with_edits(deployment, (edit,))
        assert isinstance(changed, Deployment)
        if edit.field == "min_isr" and _solved(question, changed, verdicts, True) is not None:
            return (set_minimum(name or "", edit.value or ""),)
    return ()


def _solved(question: Question, changed: Deployment, verdicts: Verdicts, surely: bool) -> Solved | None:
    after = decode(changed)
    if changed.producer is not None and after.producer is None:
        return None  # the producer would not start
    asked = decoded_for(question, changed, after)
    outcome = judge(question, asked, verdicts, explained=False) if asked is not None else None
    if asked is None or outcome is None or outcome.verdict == "broken":
        return None
    if surely and outcome.verdict != "holds":
        return None
    if outcome.verdict == "unknown":
        outcome = judge(question, asked, verdicts)
        if outcome is None or outcome.region is None:
            return None
    further = unseen_step(asked, changed, outcome.region)
    return Solved(outcome.reason if outcome.verdict == "unknown" else None, (further,) if further else ())


def decoded_by(question: Question) -> Callable[[Deployment], Decoded | None]:
    """How it is decoded where no file counts the brokers: as a cluster of several."""
    if question.part in INTERNAL:
        return lambda deployment: decode_internal(deployment, question.part, several=True)
    return decode


def decoded_for(question: Question, deployment: Deployment, decoded: Decoded) -> Decoded | None:
    """What it is asked of: the deployment's topic, or the internal topic that its part names."""
    return decode_internal(deployment, question.part) if question.part in INTERNAL else decoded
