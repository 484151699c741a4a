"""What a deployment stands, before and after a change, in the simulator's numbers: does it get worse than the
profile asks, and what does the change cost.

Only what behaves otherwise is asked again. A guarantee that breaks is worse, one that can no longer be told
is worse, and so is one that breaks already with fewer faults than before.
"""

from __future__ import annotations

from typing import Any

from ..ask.judge import counts, judge
from ..ask.policies import (
    Decoded,
    producer_policies,
    rack_policies,
    replication_policies,
)
from ..ask.tolerance import headline
from ..ask.verdicts import Verdicts
from ..context import Question
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.tolerance import Headline, tolerance


def behave_alike(one: Decoded, other: Decoded) -> bool:
    """Nothing that the search reads differs."""
    return _behaviour(one) == _behaviour(other)


def _behaviour(decoded: Decoded) -> tuple[Any, ...]:
    producer = decoded.producer
    return (
        decoded.version.number,
        tuple((name, knob.values) for name, knob in decoded.knobs.items()),
        None if producer is None else tuple(knob.values for knob in producer.values()),
        (decoded.racks, decoded.racks_unplaced, decoded.kraft, decoded.minimum_with_elr),
    )


def worse(question: Question, was: Decoded | None, now: Decoded | None, verdicts: Verdicts) -> str | None:
    """How the answer gets worse; None if it does not."""
    if now is None or (was is not None and behave_alike(was, now)):
        return None
    after = judge(question, now, verdicts, explained=False)
    if after is None or after.verdict == "holds":
        return None
    before = judge(question, was, verdicts, explained=False) if was is not None else None
    verdict = before.verdict if before is not None else "holds"
    if after.verdict == "broken" and verdict != "broken":
        return f"it would introduce {question.rule}"
    if verdict == "holds":
        return f"it could then not be told whether {question.rule} holds"
    assert was is not None
    if verdict == after.verdict == "unknown":
        usual = _survived(question, was, verdicts), _survived(question, now, verdicts)
        return f"it would introduce {question.rule} where the rest is as usual" if _falls(*usual) else None
    if verdict == after.verdict == "broken" and _falls(
        _survived(question, was, verdicts), _survived(question, now, verdicts)
    ):
        return f"fewer faults than now would be survived ({question.rule})"
    return None


def _survived(question: Question, decoded: Decoded, verdicts: Verdicts) -> list[int]:
    """For each alternative of one fault, how many of it the reference behaviour survives, as many as the
    question asks at most; -1 if not even none."""
    if question.guarantee in PRODUCER_GUARANTEES:
        combinations = producer_policies(decoded)
    elif any("rack_lost" in faults for faults in question.faults):
        combinations = rack_policies(decoded)
    else:
        combinations = replication_policies(decoded)
    if not combinations:
        return []
    policy = combinations[0].policy
    environment = counts(question.environment, policy)
    found = []
    for faults in question.faults or ({},):
        wanted = counts(faults, policy)
        if len(wanted) == 1:
            ((fault, most),) = wanted.items()
            survives = tolerance(policy, question.guarantee, fault, most, environment, verdicts.ask).survives
            found.append(-1 if survives is None else survives)
        else:
            verdict = verdicts.ask(question.guarantee, policy, environment, wanted)
            found.append(int(verdict.verdict == "holds"))
    return found


def _falls(before: list[int], after: list[int]) -> bool:
    return any(now < was for was, now in zip(before, after, strict=False))


def costs(was: Decoded, now: Decoded, verdicts: Verdicts) -> list[str]:
    """What gets worse within what the profile asks: the two numbers pull against each other."""
    if behave_alike(was, now):
        return []
    before, after = headline(was, verdicts), headline(now, verdicts)
    return [*_fewer_away(before, after), *_fewer_lost(before, after)]


def _fewer_away(before: Headline, after: Headline) -> list[str]:
    if not _less(after.writes_with_away, before.writes_with_away):
        return []
    now, then = (after.writes_with_away or 0) + 1, (before.writes_with_away or 0) + 1
    return [f"writes stop when {_brokers(now)} {'is' if now == 1 else 'are'} down (now {then})"]


def _fewer_lost(before: Headline, after: Headline) -> list[str]:
    if not _less(after.survives_lost, before.survives_lost):
        return []
    now, then = after.survives_lost or 0, before.survives_lost or 0
    return [f"acknowledged records survive {_brokers(now)} lost for good (now {then})"]


def _brokers(number: int) -> str:
    return f"{number} broker" + ("" if number == 1 else "s")


def _less(after: int | None, before: int | None) -> bool:
    return after is not None and before is not None and after < before
