"""Rules of `kafka-advisor compare`, which sees two configurations."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.api import Context, Deployment, Hit


def nothing_in_an_audit(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """An audit sees one configuration and has nothing to compare it with."""
    return ()
