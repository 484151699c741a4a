"""Which faults a guarantee can be asked about."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import UsageError
from .vocabulary import (
    BROKER_FAULTS,
    PRODUCER_FAULTS,
    PRODUCER_GUARANTEES,
    TRANSACTION_FAULTS,
    TRANSACTION_GUARANTEES,
)

Counts = Mapping[str, int | str]


def known_faults(guarantee: str, counts: Counts) -> Counts:
    """The counts, if this guarantee's model knows every fault named."""
    known = BROKER_FAULTS
    if guarantee in PRODUCER_GUARANTEES:
        known = PRODUCER_FAULTS
    elif guarantee in TRANSACTION_GUARANTEES:
        known = TRANSACTION_FAULTS
    for name, count in counts.items():
        if name not in known:
            elsewhere = name in {**BROKER_FAULTS, **PRODUCER_FAULTS, **TRANSACTION_FAULTS}
            what = f"{guarantee} is not asked about {name!r}" if elsewhere else f"no fault is called {name!r}"
            from ..schemas.explain import did_you_mean

            raise UsageError(what + did_you_mean(name, known))
        if known is not BROKER_FAULTS and isinstance(count, str):
            raise UsageError(f"{name}={count}: {guarantee} wants a number, it knows no replication factor")
    return counts


def counted(counts: Counts) -> dict[str, int]:
    """Without `rf` and its kin, which `known_faults` lets nobody ask of such a model."""
    return {name: count for name, count in counts.items() if not isinstance(count, str)}
