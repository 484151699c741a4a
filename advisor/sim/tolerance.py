"""How many of a fault are survived, and the two numbers a deployment is introduced by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .partition_state import Policy
from .verdict import Broken, Holds, Verdict

Ask = Callable[[str, Any, Mapping[str, int], Mapping[str, int]], Verdict]


class Tolerance(NamedTuple):
    """`survives` of the fault hold, `broken_by` is the first number that does not. Exhausted: no more were
    tried, or the search could not say; shown as "2+". survives is None if not even none is survived."""

    fault: str
    survives: int | None
    broken_by: int | None
    exhausted: bool
    verdict: Verdict  # of `broken_by` where there is one, else the last one that holds


class Headline(NamedTuple):
    """CAP for this deployment: acknowledged records survive the loss for good of `survives_lost` brokers, and
    writes go on with `writes_with_away` brokers away. None: not known, as nothing is ever acknowledged."""

    survives_lost: int | None
    writes_with_away: int | None


def tolerance(
    policy: Policy,
    guarantee: str,
    fault: str,
    up_to: int = 2,
    environment: Mapping[str, int] | None = None,
    ask: Ask | None = None,
) -> Tolerance:
    """Ask for 0, 1, 2, ... of a fault until the guarantee breaks. For acked-records-survive slow followers
    are free unless an environment is given. `ask` may be one that remembers."""
    ask = ask or _search
    if environment is None:
        slow = policy.replicas - 1 if guarantee == "acked-records-survive" else 0
        environment = {"slow_follower": slow} if slow else {}
    survives: int | None = None
    last: Verdict | None = None
    for count in range(up_to + 1):
        verdict = ask(guarantee, policy, environment, {fault: count} if count else {})
        if isinstance(verdict, Broken):
            return Tolerance(fault, survives, count, False, verdict)
        if not isinstance(verdict, Holds):
            return Tolerance(fault, survives, None, True, verdict if last is None else last)
        survives, last = count, verdict
    assert last is not None, "up_to is not negative"
    return Tolerance(fault, survives, None, True, last)


def headline(policy: Policy, ask: Ask | None = None) -> Headline:
    lost = tolerance(policy, "acked-records-survive", "broker_lost", policy.replicas, ask=ask)
    away = tolerance(policy, "writes-available", "broker_crash", policy.replicas, ask=ask)
    return Headline(lost.survives, away.survives)


def _search(
    guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
) -> Verdict:
    from .questions import ask

    return ask(guarantee, policy, environment, faults)
