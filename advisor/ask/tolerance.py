"""The headline of a deployment: how many brokers it can lose, and with how many away it still takes writes.

They are CAP for this deployment; both are searched, one broker more at a time.
"""

from __future__ import annotations

from ..model import Tolerated
from ..sim.tolerance import Headline, tolerance
from ..sim.tolerance import headline as headline_of_policy
from .policies import Decoded, replication_policies
from .verdicts import Verdicts


def headline(decoded: Decoded, verdicts: Verdicts) -> Headline:
    """None where it depends on what is not in sight: two numbers would be about another deployment."""
    if not _in_sight(decoded):
        return Headline(None, None)
    found = [headline_of_policy(one.policy, verdicts.ask) for one in replication_policies(decoded)]
    lost = {one.survives_lost for one in found}
    away = {one.writes_with_away for one in found}
    return Headline(lost.pop() if len(lost) == 1 else None, away.pop() if len(away) == 1 else None)


# Which faults a guarantee is tried with, beyond what the rules ask.
TOLERANCE_FAULTS = {
    "acked-records-survive": ("broker_crash", "broker_lost", "power_loss", "disk_wiped"),
    "writes-available": ("broker_crash",),
}
SEARCHED_UP_TO = 2


def tolerances(decoded: Decoded, guarantee: str, verdicts: Verdicts) -> tuple[Tolerated, ...]:
    """How many of each fault are survived, searched up to two; empty where the deployment is not in sight.
    Whether eligible leader replicas are on may be unknown: then at least so many are."""
    if not _in_sight(decoded):
        return ()
    policies = [one.policy for one in replication_policies(decoded)]
    found = []
    for fault in TOLERANCE_FAULTS.get(guarantee, ()):
        counted = [
            tolerance(policy, guarantee, fault, SEARCHED_UP_TO, ask=verdicts.ask) for policy in policies
        ]
        worst = min(counted, key=lambda one: (one.survives is not None, one.survives or 0, one.exhausted))
        found.append(Tolerated(fault, worst.survives, worst.broken_by, worst.exhausted))
    return tuple(found)


def _in_sight(decoded: Decoded) -> bool:
    return all(knob.seen for name, knob in decoded.knobs.items() if name != "elr")
