"""The headline of a deployment: how many brokers it can lose, and with how many away it still takes writes.

They are CAP for this deployment; both are searched, one broker more at a time.
"""

from __future__ import annotations

from typing import Any

from .decode import Decoded, replication_policies
from .sim.tolerance import Headline, tolerance
from .sim.tolerance import headline as headline_of_policy
from .verdicts import Verdicts


def headline(decoded: Decoded, verdicts: Verdicts) -> Headline:
    """None where it depends on what is not in sight: two numbers would be about another deployment."""
    if not all(knob.seen for name, knob in decoded.knobs.items() if name != "elr"):
        return Headline(None, None)
    found = [headline_of_policy(one.policy, verdicts.ask) for one in replication_policies(decoded)]
    lost = {one.survives_lost for one in found}
    away = {one.writes_with_away for one in found}
    return Headline(lost.pop() if len(lost) == 1 else None, away.pop() if len(away) == 1 else None)


# Which faults a guarantee is tried with, beyond what the rules ask.
_FAULTS = {
    "acked-records-survive": ("broker_crash", "broker_lost", "power_loss", "disk_wiped"),
    "writes-available": ("broker_crash",),
}
SEARCHED_UP_TO = 2


def tolerances(decoded: Decoded, guarantee: str, verdicts: Verdicts) -> list[dict[str, Any]]:
    """How many of each fault are survived, searched up to two; empty where the deployment is not in sight."""
    policies = [one.policy for one in replication_policies(decoded)]
    if len(policies) != 1:
        return []
    found = [
        tolerance(policies[0], guarantee, fault, SEARCHED_UP_TO, ask=verdicts.ask)
        for fault in _FAULTS.get(guarantee, ())
    ]
    return [
        {
            "fault": one.fault,
            "survives": one.survives,
            "broken_by": one.broken_by,
            "exhausted": one.exhausted,
        }
        for one in found
    ]
