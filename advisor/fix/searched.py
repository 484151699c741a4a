"""What can be tried where the search found a run: a guarantee asked again of the changed deployment."""

from __future__ import annotations

from ..ask.judge import judge
from ..ask.policies import INTERNAL, Decoded, decode, decode_internal
from ..ask.tolerance import headline
from ..ask.verdicts import Verdicts
from ..context import Question
from ..model import Deployment
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.tolerance import Headline
from .candidates import edits, last_resorts, unseen_step
from .edits import Subject
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
        return _solved(question, changed, own, verdicts, surely)

    return Problem(
        [edit for edit in edits(own, deployment) if edit.field in fields],
        solved,
        f"{question.guarantee} holds",
        [] if of_producer else last_resorts(own, deployment, question.guarantee, racks),
    )


def _solved(
    question: Question, changed: Deployment, before: Decoded, verdicts: Verdicts, surely: bool
) -> Solved | None:
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
    return Solved(
        outcome.reason if outcome.verdict == "unknown" else None,
        (further,) if further else (),
        _price(headline(before, verdicts), headline(asked, verdicts)),
    )


def decoded_for(question: Question, deployment: Deployment, decoded: Decoded) -> Decoded | None:
    """What it is asked of: the deployment's topic, or the internal topic that its part names."""
    return decode_internal(deployment, question.part) if question.part in INTERNAL else decoded


def is_broken(question: Question, deployment: Deployment, decoded: Decoded, verdicts: Verdicts) -> bool:
    asked = decoded_for(question, deployment, decoded)
    outcome = judge(question, asked, verdicts, explained=False) if asked is not None else None
    return outcome is not None and outcome.verdict == "broken"


def _price(before: Headline, after: Headline) -> str | None:
    """What gets worse: the two numbers pull against each other."""
    worse = []
    if _less(after.writes_with_away, before.writes_with_away):
        now, then = (after.writes_with_away or 0) + 1, (before.writes_with_away or 0) + 1
        worse.append(f"writes stop when {_brokers(now)} {'is' if now == 1 else 'are'} down (now {then})")
    if _less(after.survives_lost, before.survives_lost):
        now, then = after.survives_lost or 0, before.survives_lost or 0
        worse.append(f"acknowledged records survive {_brokers(now)} lost for good (now {then})")
    return "; ".join(worse) or None


def _brokers(number: int | None) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")


def _less(after: int | None, before: int | None) -> bool:
    return after is not None and before is not None and after < before
