"""How many of a fault are survived, and the two numbers a deployment is introduced by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..tuples import NamedTuple
from .partition.state import Policy
from .search.verdict import Broken, Holds, Verdict

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
    small, copies, spare = _smaller(policy)
    lost = tolerance(small, "acked-records-survive", "broker_lost", small.replicas, ask=ask).survives
    away = tolerance(small, "writes-available", "broker_crash", small.replicas, ask=ask).survives
    # Where not even the copies of the small one count (acks=1, unclean election), more of them do not either.
    return Headline(lost + copies if lost else lost, away + spare if away else away)


_REPLICAS_COUNTED = 5


def _smaller(policy: Policy) -> tuple[Policy, int, int]:
    """A partition of many replicas as a small one, with how many copies that a write waits for were left out,
    and how many replicas to spare: each of them is one more broker that may be lost, or away."""
    if policy.replicas <= _REPLICAS_COUNTED:
        return policy, 0, 0
    needed = policy.effective_min_isr if policy.acks == "all" else 1
    if needed >= policy.replicas:
        # Above the replication factor, before 3.7, no write is taken at any size.
        minimum, replicas = (3 if needed == policy.replicas else 4), 3
    else:
        minimum = min(needed, 2)
        replicas = minimum + min(policy.replicas - needed, 2)
    small = policy._replace(replicas=replicas, min_isr=minimum, racks=())
    copies = needed - minimum
    return small, copies, policy.replicas - replicas - copies


def _search(
    guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
) -> Verdict:
    from .questions import ask

    return ask(guarantee, policy, environment, faults)
