"""How a producer behaves, in the simulator's own words; apart from the model, so that a verdict that is
known already needs no model."""

from __future__ import annotations

from typing import Any

from ...tuples import NamedTuple

IN_FLIGHT_SEARCHED = 2
FAMILIES = ("java", "librdkafka")


class _Fields(NamedTuple):
    # Whose retry queue it is.
    client_family: str = "java"
    # Who must hold a record before it is acknowledged: "0" nobody, "1" the leader, "all" the ISR.
    acks: str = "all"
    # Batches carry producer id, epoch and sequence; needs acks "all", a retry, at most 5 in flight.
    idempotence: bool = True
    # Requests that may be unanswered on one connection.
    in_flight: int = 5
    # How often a batch is sent again; None: for as long as it takes.
    retries: int | None = None
    # The producer has an identity that outlives its process (a transactional id): an instance that takes
    # over raises the producer epoch, and requests of the old one are fenced.
    named: bool = False


class ProducerPolicy(_Fields):
    """A combination that no client starts with is refused."""

    __slots__ = ()

    def __new__(cls, *values: Any, **named: Any) -> ProducerPolicy:
        self = super().__new__(cls, *values, **named)
        if self.client_family not in FAMILIES:
            raise ValueError(f"no such client family: {self.client_family!r}")
        if self.acks not in ("0", "1", "all"):
            raise ValueError(f'acks is "0", "1" or "all", not {self.acks!r}')
        if self.in_flight < 1:
            raise ValueError("at least one request is in flight")
        if self.idempotence and (self.acks != "all" or self.retries == 0 or self.in_flight > 5):
            raise ValueError(
                "no client starts with idempotence unless acks is all, retries > 0, in flight <= 5"
            )
        return self

    @property
    def searched(self) -> ProducerPolicy:
        """The policy the search sees: beyond two in flight and one retry nothing new happens in its
        bounds."""
        retries = self.retries if self.retries is not None and self.retries <= 1 else None
        return self._replace(in_flight=min(self.in_flight, IN_FLIGHT_SEARCHED), retries=retries)
