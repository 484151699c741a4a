"""A guarantee asked of a deployment: every behaviour that the unseen may take, one answer.

Broken in all of them: a finding. Broken in some: unknown, with what it depends on, which never fails a
build by itself. Holds in all: no run was found within the bounds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..context import Question
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.search.verdict import Unknown, Verdict
from ..syntax.numbers import integer
from ..tuples import NamedTuple
from .knob import Knob
from .policies import (
    COMBINATIONS_MAX,
    RACKS_UNPLACED,
    Combination,
    Decoded,
    producer_policies,
    rack_policies,
    replication_policies,
)
from .regions import Region, both, conditions, widest_region
from .verdicts import Verdicts

# The part of a searched guarantee that asks it with logs cut as the version itself cuts them.
OWN_PROTOCOL = "own-protocol"
_WHO_WRITES_WHERE = ("acks", "replicas", "min_isr")


class Outcome(NamedTuple):
    """What one rule's question comes to in one deployment. `drawn` is the verdict to show: the run of the
    reference behaviour if broken. `region`: where the unseen decides, the behaviours in which it holds."""

    verdict: str
    drawn: Verdict | None
    environment: Mapping[str, int]
    faults: Mapping[str, int]
    depends_on: tuple[str, ...] = ()
    reason: str | None = None
    region: Region | None = None


def judge(
    question: Question,
    decoded: Decoded,
    verdicts: Verdicts,
    within: Region | None = None,
    explained: bool = True,
) -> Outcome | None:
    """None where the question makes no sense: no producer in sight, or one that does not start. `within`:
    where the unseen may be, by the questions before. Not `explained`: what it depends on is not searched."""
    if decoded.racks_unplaced and _is_about_racks(question):
        return Outcome("unknown", None, {}, {}, ("broker.rack",), RACKS_UNPLACED)
    combinations, knobs = behaviours(question, decoded)
    if not combinations:
        return None
    alternatives: Sequence[Mapping[str, int | str]] = question.faults or ({},)
    if len(combinations) > COMBINATIONS_MAX:
        names = tuple(knob.label for knob in knobs.values() if not knob.seen)
        return Outcome(
            "unknown", None, {}, {}, names, f"more than {COMBINATIONS_MAX} behaviours are possible"
        )
    worst: Outcome | None = None
    for faults in alternatives:
        outcome = _over_all(question, faults, combinations, knobs, verdicts, within or {}, explained)
        within = outcome.region or within
        worst = outcome if worst is None else worse(worst, outcome, knobs)
        if outcome.verdict == "broken":
            break
    return worst


def behaviours(question: Question, decoded: Decoded) -> tuple[list[Combination], Mapping[str, Knob]]:
    """Every behaviour that is possible, the reference one first, and the knobs that make it."""
    if question.guarantee in PRODUCER_GUARANTEES:
        return producer_policies(decoded), decoded.producer or {}
    if _is_about_racks(question):
        # Where the racks are not known, nothing is asked: every placement would be a guess.
        return rack_policies(decoded), decoded.knobs
    return replication_policies(decoded, question.part == OWN_PROTOCOL), decoded.knobs


def _is_about_racks(question: Question) -> bool:
    return any("rack_lost" in faults for faults in question.faults)


def at(question: Question, combination: Combination, verdicts: Verdicts) -> Outcome:
    """What a question comes to in one behaviour: broken if any of its faults breaks it."""
    worst: Outcome | None = None
    for faults in question.faults or ({},):
        outcome = _ask(question, faults, combination, verdicts)
        worst = outcome if worst is None else worse(worst, outcome, None)
        if worst.verdict == "broken":
            break
    assert worst is not None, "it is asked with some faults, or with none"
    return worst


def worse(one: Outcome, other: Outcome, knobs: Mapping[str, Knob] | None) -> Outcome:
    """Of two answers the worse; where both depend on the same unseen knobs, what both depend on."""
    order = ("holds", "unknown", "broken")
    if one.verdict == other.verdict == "unknown" and knobs and one.region and other.region:
        region = both(one.region, other.region)
        return one if region is None else one._replace(region=region, **_told(region, knobs))
    return other if order.index(other.verdict) > order.index(one.verdict) else one


def _told(region: Region, knobs: Mapping[str, Knob]) -> dict[str, Any]:
    depends_on, reason = conditions(region, knobs)
    return {"depends_on": depends_on, "reason": reason}


def is_in_sight(decoded: Decoded) -> bool:
    """Who writes where, and how often it is copied. Of a deployment that is not in sight there is nothing to
    tell beyond the budget, which is what notes are about."""
    return all(decoded.knobs[name].seen for name in _WHO_WRITES_WHERE)


def rests_on_protocol(question: Question, decoded: Decoded, verdicts: Verdicts) -> bool:
    """Whether a run needs the old way of cutting logs: one that today's Kafka has too is another rule's."""
    outcome = judge(question._replace(part=""), decoded, verdicts)
    return outcome is None or outcome.verdict != "broken"


def _over_all(
    question: Question,
    faults: Mapping[str, int | str],
    combinations: Sequence[Combination],
    knobs: Mapping[str, Knob],
    verdicts: Verdicts,
    within: Region,
    explained: bool,
) -> Outcome:
    def ask(combination: Combination) -> Outcome:
        return _ask(question, faults, combination, verdicts)

    hopeful = _hopeful_first(combinations)
    first = ask(hopeful[0])
    # If the best of them holds, the most doubtful is the likeliest to differ; if it breaks, the next best.
    rest = hopeful[:0:-1] if first.verdict == "holds" else hopeful[1:]
    for combination in rest:
        other = ask(combination)
        if other.verdict == "unknown":
            return other
        if other.verdict != first.verdict:
            if not explained:
                return first._replace(verdict="unknown")
            broken, good = (other, hopeful[0]) if other.verdict == "broken" else (first, combination)
            region = _region(
                question, good, combinations, knobs, within, lambda one: ask(one).verdict == "holds"
            )
            return broken._replace(verdict="unknown", region=region, **_told(region, knobs))
    # A run is drawn for the reference deployment where a side is not in sight.
    return ask(combinations[0]) if first.verdict == "broken" else first


def _ask(
    question: Question, faults: Mapping[str, int | str], combination: Combination, verdicts: Verdicts
) -> Outcome:
    environment = counts(question.environment, combination.policy)
    counted = counts(faults, combination.policy)
    verdict = verdicts.ask(question.guarantee, combination.policy, environment, counted)
    reason = verdict.reason if isinstance(verdict, Unknown) else None
    return Outcome(verdict.verdict, verdict, environment, counted, (), reason)


def _region(
    question: Question,
    good: Combination,
    combinations: Sequence[Combination],
    knobs: Mapping[str, Knob],
    within: Region,
    ask: Callable[[Combination], bool],
) -> Region:
    holding = [good]

    def holds(combination: Combination) -> bool:
        monotone = question.guarantee == "acked-records-survive"
        found = (monotone and any(_stricter(combination, one) for one in holding)) or ask(combination)
        if found:
            holding.append(combination)
        return found

    return widest_region(good, combinations, knobs, holds, within)


def _stricter(one: Combination, other: Combination) -> bool:
    """With acks=all a stricter minimum, or no unclean election, keeps every acknowledged record that the
    looser keeps: a law that tests/sim/test_laws.py tries. Not so with acks=1 and eligible leader replicas."""
    mine, its = one.choices, other.choices
    return (
        mine["acks"] == its["acks"] == "all"
        and (mine["replicas"], mine["elr"]) == (its["replicas"], its["elr"])
        and mine["min_isr"] >= its["min_isr"]
        and mine["unclean"] <= its["unclean"]
    )


def _hopeful_first(combinations: Sequence[Combination]) -> list[Combination]:
    def hope(combination: Combination) -> tuple[Any, ...]:
        choice = combination.choices
        return (
            choice.get("acks") == "all",
            bool(choice.get("idempotence")),
            not choice.get("unclean", False),
            choice.get("replicas", 0),
            # In the middle: enough copies, and one to spare.
            choice.get("min_isr", 0) == max(1, choice.get("replicas", 0) - 1),
            bool(choice.get("elr")),
        )

    return sorted(combinations, key=hope, reverse=True)


def counts(wanted: Mapping[str, int | str], policy: Any) -> dict[str, int]:
    """`rf-1` and the like as numbers of this policy; those that come to nothing are left out."""
    replicas = getattr(policy, "replicas", 3)
    found: dict[str, int] = {}
    for name, count in wanted.items():
        if isinstance(count, str):
            _, _, less = count.partition("-")
            count = replicas - (integer(less) or 0)
        if count > 0:
            found[name] = count
    return found
