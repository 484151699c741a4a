"""The headline of a deployment: how many brokers it can lose, and with how many away it still takes writes.

They are CAP for this deployment; both are searched, one broker more at a time.
"""

from typing import NamedTuple

from .decode import Decoded, replication_policies
from .sim.verdict import Holds
from .verdicts import Verdicts


class Headline(NamedTuple):
    """None where it depends on what is not in sight."""

    survives_lost: int | None
    writes_with_away: int | None


def headline(decoded: Decoded, verdicts: Verdicts) -> Headline:
    # Two numbers about a deployment that is not in sight would be numbers about another one.
    if not all(knob.seen for name, knob in decoded.knobs.items() if name != "elr"):
        return Headline(None, None)
    policies = [combination.policy for combination in replication_policies(decoded)]
    lost = {_survived(policy, "acked-records-survive", "broker_lost", verdicts) for policy in policies}
    away = {_survived(policy, "writes-available", "broker_crash", verdicts) for policy in policies}
    return Headline(lost.pop() if len(lost) == 1 else None, away.pop() if len(away) == 1 else None)


def _survived(policy: object, guarantee: str, fault: str, verdicts: Verdicts) -> int | None:
    """The most of a fault after which no run breaks the guarantee; slow followers are free."""
    replicas: int = policy.replicas  # type: ignore[attr-defined]
    environment = {"slow_follower": replicas - 1} if guarantee == "acked-records-survive" else {}
    environment = {name: count for name, count in environment.items() if count}
    for count in range(replicas + 1):
        verdict = verdicts.ask(guarantee, policy, environment, {fault: count} if count else {})
        if not isinstance(verdict, Holds):
            return max(0, count - 1) if verdict.verdict == "broken" else None
    return replicas
