"""What a partition's leader remembers of an idempotent producer, and what it does with the next batch.

Behaviour of ProducerStateEntry and ProducerAppendInfo (KIP-98, 0.11 on; an unknown producer may begin with
any sequence since KIP-360, 2.5). The state is rebuilt from the log, so a new leader knows what its own log
holds and no more.
"""

from __future__ import annotations

from ...tuples import NamedTuple

CACHED_BATCHES = 5
"""How many batches of a producer are remembered one by one; why more than five in flight are refused."""

_SEQUENCE_MAX = 2**31 - 1


class Numbered(NamedTuple):
    """A batch as the broker sees it: the producer's epoch, and the sequences of its first and last record."""

    epoch: int
    first: int
    last: int


class ProducerState(NamedTuple):
    """The producer's epoch, and its last batches under that epoch, oldest first."""

    epoch: int
    batches: tuple[Numbered, ...] = ()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last if self.batches else -1


STORED = "stored"
DUPLICATE = "duplicate"
OUT_OF_ORDER = "out of order"
FENCED = "fenced"


def judge(state: ProducerState | None, batch: Numbered) -> str:
    """What the leader does with a batch: stores it, takes it for a repetition, or refuses it.

    A repetition is answered like a success, with the offset of the first copy. One that is older than the
    cached batches is not recognised: it is out of order. A lower epoch is that of a stale instance (a zombie)
    and is fenced; a higher one must begin at sequence 0. `None`: the log holds nothing of this producer.
    """
    if state is None:
        return STORED
    if batch.epoch < state.epoch:
        return FENCED
    if batch.epoch > state.epoch:
        return STORED if batch.first == 0 else OUT_OF_ORDER
    if batch in state.batches:
        return DUPLICATE
    wrapped = state.last_sequence == _SEQUENCE_MAX and batch.first == 0
    return STORED if batch.first == state.last_sequence + 1 or wrapped else OUT_OF_ORDER


def remember(state: ProducerState | None, batch: Numbered) -> ProducerState:
    """The state after `batch` was stored: a new epoch forgets the batches of the old one."""
    known = state.batches if state is not None and state.epoch == batch.epoch else ()
    return ProducerState(batch.epoch, (*known, batch)[-CACHED_BATCHES:])
