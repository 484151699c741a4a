"""The state of the producer model: what is queued, on the wire and in the log, and what the client knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tuples import NamedTuple
from .policy import ProducerPolicy
from .sequences import Numbered, ProducerState, remember

FAULTS = (
    "lost_request",
    "lost_response",
    "retriable_error",
    "leader_move",
    "producer_crash",
    "late_request",
    "delivery_expired",
)


class Request(NamedTuple):
    """A batch on a connection. `answer`: "" not handled yet, "waiting" stored but not yet on the ISR, or
    the answer."""

    batch: int
    broker: int
    number: Numbered | None = None
    answer: str = ""


class State(NamedTuple):
    """Everything there is. Sequences count from the batches before: the first of the run has 0."""

    queue: tuple[int, ...]
    wire: tuple[Request, ...]  # in the order of sending; those of one broker are its connection
    late: tuple[tuple[Request, ...], ...]  # of connections that the producer has left: not handled yet
    log: tuple[tuple[int, Numbered | None], ...]  # the leader's: (batch, its number)
    copied: int  # length of the follower's log
    hw: int  # of the leader: how far it knows the follower's log to reach
    leader: int
    known_leader: int
    numbers: tuple[Numbered | None, ...]  # by batch: its producer epoch and sequence once it has one
    sent: tuple[bool, ...]  # by batch: at least once
    retried: tuple[int, ...]  # by batch: retries that count against the limit; 0 if there is none
    again: tuple[bool, ...]  # by batch: sent before and to be sent again; noted only where a batch may expire
    outcomes: tuple[str, ...]  # by batch: "", acked or failed
    epoch: int  # of the producer
    last_acked: int  # the highest sequence acknowledged under this epoch
    unresolved: int  # the sequence after a batch that expired and may be stored or not; else NONE
    fence: int  # the producer epoch below which the broker refuses
    alive: bool
    left: tuple[int, ...]  # budget of each fault


NO_BATCH = NONE = -1


class Event(NamedTuple):
    name: str
    batch: int = NO_BATCH

    def text(self) -> str:
        return self.name if self.batch == NO_BATCH else f"{self.name} r{self.batch}"


Effects = tuple[str, ...]


def initial(policy: ProducerPolicy, faults: Mapping[str, int], records: int) -> State:
    """All records handed over to the producer, nothing sent."""
    return State(
        queue=tuple(range(records)),
        wire=(),
        late=(),
        log=(),
        copied=0,
        hw=0,
        leader=0,
        known_leader=0,
        numbers=(None,) * records,
        sent=(False,) * records,
        retried=(0,) * records,
        again=(False,) * records,
        outcomes=("",) * records,
        epoch=0,
        last_acked=-1,
        unresolved=NONE,
        fence=0,
        alive=True,
        left=tuple(faults.get(name, 0) for name in FAULTS),
    )


def set_at(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*items[:index], value, *items[index + 1 :])


def finish(state: State, batch: int, outcome: str) -> State:
    """What is settled needs no history: fewer states to tell apart."""
    return state._replace(
        outcomes=set_at(state.outcomes, batch, outcome),
        sent=set_at(state.sent, batch, False),
        retried=set_at(state.retried, batch, 0),
        again=set_at(state.again, batch, False),
    )


def unfinished_numbers(state: State) -> list[Numbered]:
    return [n for n, done in zip(state.numbers, state.outcomes, strict=True) if n is not None and not done]


def remembered(state: State) -> ProducerState:
    """What the leader knows of the producer from its log."""
    known = ProducerState(epoch=0)
    for _, number in state.log:
        if number is not None:
            known = remember(known, number)
    # An instance that took over has raised the epoch in every partition of its open transaction.
    return known if state.fence <= known.epoch else ProducerState(state.fence)


def bump(state: State) -> State:
    """A new producer epoch: what is unfinished is numbered anew from 0, in its order."""
    epoch = state.epoch + 1
    numbers: list[Numbered | None] = list(state.numbers)
    unfinished = [b for b, n in enumerate(numbers) if n is not None and not state.outcomes[b]]
    for sequence, batch in enumerate(unfinished):
        numbers[batch] = Numbered(epoch, sequence, sequence)
    return state._replace(epoch=epoch, numbers=tuple(numbers), last_acked=-1, unresolved=NONE)
