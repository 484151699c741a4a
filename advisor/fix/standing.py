"""What a deployment stands, before and after a change, in the simulator's numbers: does it get worse than the
profile asks, and what does the change cost.

Only what behaves otherwise is asked again. The rule, by the answer after the change:

- holds: not worse.
- broken: worse where it was not broken, and where fewer of the faults that the rule asks for are survived.
- unknown, the unseen decides: worse where fewer faults are survived with the unseen as it usually is. So a
  topic that holds with its one copy may get three, though who writes to it, how, now matters; and what is
  broken may come to depend on the unseen, which is a fix with a condition. A minimum may not be lowered
  where nobody sees who writes, though most would write as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ask.answers.neighbours import behaviour_of
from ..ask.judge import counts, judge
from ..ask.knob import Knob
from ..ask.policies import (
    Combination,
    Decoded,
    producer_policies,
    rack_policies,
    replication_policies,
)
from ..ask.verdicts import Verdicts
from ..context import Question
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.tolerance import Headline, headline, tolerance


def behave_alike(one: Decoded, other: Decoded) -> bool:
    """Nothing that the search reads differs."""
    return behaviour_of(one) == behaviour_of(other)


def worse(question: Question, was: Decoded | None, now: Decoded | None, verdicts: Verdicts) -> str | None:
    """How the answer gets worse, by the rule above; None if it does not."""
    if now is None or (was is not None and behave_alike(was, now)):
        return None
    after = judge(question, now, verdicts, explained=False)
    if after is None or after.verdict == "holds":
        return None
    before = judge(question, was, verdicts, explained=False) if was is not None else None
    verdict = before.verdict if before is not None else "holds"
    if after.verdict == "broken" and verdict != "broken":
        return f"it would introduce {question.rule}"
    if was is None or not _falls(_survived(question, was, verdicts), _survived(question, now, verdicts)):
        return None
    if verdict == "broken":
        return f"fewer faults than now would be survived ({question.rule})"
    return f"it would depend on what is not in sight whether {question.rule} is found"


def _survived(question: Question, decoded: Decoded, verdicts: Verdicts) -> list[int]:
    """For each alternative of the question, how many of its faults are survived, as many as it asks at most;
    -1 if not even none. What is not in sight is as usual, but a feature of the cluster that no file shows may
    be on or off."""
    if question.guarantee in PRODUCER_GUARANTEES:
        combinations, knobs = producer_policies(decoded), decoded.producer or {}
    elif any("rack_lost" in faults for faults in question.faults):
        combinations, knobs = rack_policies(decoded), decoded.knobs
    else:
        combinations, knobs = replication_policies(decoded), decoded.knobs
    worst: list[int] = []
    for combination in _plausible(combinations, knobs):
        found = _of_policy(question, combination.policy, verdicts)
        worst = [min(pair) for pair in zip(worst, found, strict=True)] if worst else found
    return worst


def _plausible(combinations: Sequence[Combination], knobs: Mapping[str, Knob]) -> Sequence[Combination]:
    usual = {name: knob.reference for name, knob in knobs.items() if not knob.seen and name != "elr"}
    found = [one for one in combinations if all(one.choices[name] == usual[name] for name in usual)]
    return found or combinations[:1]


def _of_policy(question: Question, policy: Any, verdicts: Verdicts) -> list[int]:
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
    """What gets worse within what the profile asks: the two numbers pull against each other. What is not in
    sight is as usual."""
    if behave_alike(was, now):
        return []
    before, after = _headline(was, verdicts), _headline(now, verdicts)
    return [*_fewer_away(before, after), *_fewer_lost(before, after)]


def _headline(decoded: Decoded, verdicts: Verdicts) -> Headline:
    plausible = _plausible(replication_policies(decoded), decoded.knobs)
    found = [headline(one.policy, verdicts.ask) for one in plausible]
    return Headline(
        min((one.survives_lost for one in found), key=_least),
        min((one.writes_with_away for one in found), key=_least),
    )


def _least(number: int | None) -> int:
    return -1 if number is None else number


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
