"""The headline of a deployment: how many brokers it can lose, and with how many away it still takes writes.

They are CAP for this deployment; both are searched, one broker more at a time.
"""

from __future__ import annotations

from .decode import Decoded, replication_policies
from .sim.tolerance import Headline
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
