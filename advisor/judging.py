"""A guarantee asked of a deployment: every behaviour that the unseen may take, one answer.

Broken in all of them: a finding. Broken in some: unknown, with what it depends on, which never fails a
build by itself. Holds in all: no run was found within the bounds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .decode import (
    COMBINATIONS_MAX,
    Combination,
    Decoded,
    Knob,
    producer_policies,
    rack_policies,
    replication_policies,
)
from .packs import Rule
from .sim.verdict import Unknown, Verdict
from .verdicts import Verdicts

_WHO_WRITES_WHERE = ("acks", "replicas", "min_isr")
PRODUCER_GUARANTEES = ("records-stored-once", "send-order-kept")


class Outcome(NamedTuple):
    """What one rule's question comes to in one deployment. `drawn` is the verdict to show: the run of the
    reference behaviour if broken. `knobs` are those the policy was made of."""

    verdict: str
    drawn: Verdict | None
    environment: Mapping[str, int]
    faults: Mapping[str, int]
    depends_on: tuple[str, ...] = ()
    reason: str | None = None


def judge(rule: Rule, decoded: Decoded, verdicts: Verdicts) -> Outcome | None:
    """None where the question makes no sense: no producer in sight, or one that does not start."""
    guarantee = rule.guarantee or ""
    own_protocol = bool(rule.params.get("own_protocol"))
    if guarantee in PRODUCER_GUARANTEES:
        combinations = producer_policies(decoded)
        knobs = decoded.producer or {}
    elif any("rack_lost" in faults for faults in rule.faults):
        # Where the racks are not known, nothing is asked: every placement would be a guess.
        combinations = rack_policies(decoded) if decoded.racks else []
        knobs = decoded.knobs
    else:
        combinations = replication_policies(decoded, own_protocol)
        knobs = decoded.knobs
    if not combinations:
        return None
    if rule.severity == "note" and not all(knobs[name].seen for name in _WHO_WRITES_WHERE if name in knobs):
        return None  # beyond the budget, of a deployment that is not in sight: there is nothing to tell
    alternatives: Sequence[Mapping[str, int | str]] = rule.faults or ({},)
    if len(combinations) > COMBINATIONS_MAX:
        names = tuple(knob.label for knob in knobs.values() if not knob.seen)
        return Outcome(
            "unknown", None, {}, {}, names, f"more than {COMBINATIONS_MAX} behaviours are possible"
        )
    worst: tuple[int, Outcome] | None = None
    for faults in alternatives:
        outcome = _over_all(rule, faults, combinations, knobs, verdicts)
        rank = ("holds", "unknown", "broken").index(outcome.verdict)
        if worst is None or rank > worst[0]:
            worst = rank, outcome
        if outcome.verdict == "broken":
            break
    assert worst is not None
    return worst[1]


def _over_all(
    rule: Rule,
    faults: Mapping[str, int | str],
    combinations: Sequence[Combination],
    knobs: Mapping[str, Knob],
    verdicts: Verdicts,
) -> Outcome:
    def ask(combination: Combination) -> Outcome:
        environment = counts(rule.environment, combination.policy)
        counted = counts(faults, combination.policy)
        verdict = verdicts.ask(rule.guarantee or "", combination.policy, environment, counted)
        reason = verdict.reason if isinstance(verdict, Unknown) else None
        return Outcome(verdict.verdict, verdict, environment, counted, (), reason)

    hopeful = _hopeful_first(combinations)
    first = ask(hopeful[0])
    # If the best of them holds, the most doubtful is the likeliest to differ; if it breaks, the next best.
    rest = hopeful[:0:-1] if first.verdict == "holds" else hopeful[1:]
    for combination in rest:
        other = ask(combination)
        if other.verdict == "unknown":
            return other
        if other.verdict != first.verdict:
            broken = other if other.verdict == "broken" else first
            good, bad = (hopeful[0], combination) if broken is other else (combination, hopeful[0])
            labels, reason = _dependence(good, bad, knobs)
            return broken._replace(verdict="unknown", depends_on=labels, reason=reason)
    # A run is drawn for the reference deployment where a side is not in sight.
    return ask(combinations[0]) if first.verdict == "broken" else first


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


def _dependence(
    holding: Combination, broken: Combination, knobs: Mapping[str, Knob]
) -> tuple[tuple[str, ...], str]:
    open_knobs = [knob for knob in knobs.values() if not knob.seen]
    apart = [knob for knob in open_knobs if holding.choices[knob.field] != broken.choices[knob.field]]
    good = ", ".join(f"{knob.label} = {shown(holding.choices[knob.field])}" for knob in apart)
    bad = ", ".join(f"{knob.label} = {shown(broken.choices[knob.field])}" for knob in apart)
    defaults = ", ".join(f"{knob.label} {_DEFAULTS[knob.label]}" for knob in apart if knob.label in _DEFAULTS)
    reason = f"holds with {good}; broken with {bad}"
    return tuple(knob.label for knob in open_knobs), reason + (
        f"; Kafka's defaults are {defaults}" if defaults else ""
    )


# What a topic has that nobody says anything about.
_DEFAULTS = {
    "replication factor": "1",
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
}


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "unlimited" if value is None else str(value)


def counts(wanted: Mapping[str, int | str], policy: Any) -> dict[str, int]:
    """`rf-1` and the like as numbers of this policy; those that come to nothing are left out."""
    replicas = getattr(policy, "replicas", 3)
    found: dict[str, int] = {}
    for name, count in wanted.items():
        if isinstance(count, str):
            _, _, less = count.partition("-")
            count = replicas - int(less or 0)
        if count > 0:
            found[name] = count
    return found
