"""Offsets that an application keeps in a store of its own, beside its output.

A rebalance listener that seeks brings every new owner to the stored offset; without one it begins where
Kafka has a committed offset, and where nobody ever commits, by auto.offset.reset. Kafka fences no writer of
that store: a member that was dropped while it worked still writes. Only the store can refuse it, by a
condition on the offset it holds or a unique key for each record.
"""

from __future__ import annotations

from ..consumer import BEFORE, NOT_OWNED, WITH_OUTPUT, assign, owned, start
from .states import ENDS, GroupPolicy, Process, State


def begin(policy: GroupPolicy, state: State, partition: int) -> int:
    """Where a new owner begins to read. NOT_OWNED if auto.offset.reset=none stops it there."""
    store = policy.reading.store
    if store is not None and store.seeks:
        return state.stored[partition]
    found = start(policy.reset, state.committed[partition], 0, ENDS[partition], None)
    return found if isinstance(found, int) else NOT_OWNED


def written(policy: GroupPolicy, one: Process) -> dict[int, int]:
    """The offsets that go into the store: those of the records at hand, and of no other partition."""
    if policy.reading.commits == WITH_OUTPUT:
        return {span.partition: span.end for span in one.pending}
    if policy.reading.commits == BEFORE:
        return {span.partition: span.end for span in one.consumer.hand}
    return dict(one.finished)


def refused(policy: GroupPolicy, state: State, one: Process) -> bool:
    """Would a store that fences refuse what this member is about to write? Two writes that are apart cannot
    be refused together, so only an offset that goes with the output is held against the stored one."""
    store = policy.reading.store
    if store is None or not store.fences or policy.reading.commits != WITH_OUTPUT:
        return False
    firsts: dict[int, int] = {}
    for span in one.pending:
        firsts[span.partition] = min(firsts.get(span.partition, span.first), span.first)
    return any(state.stored[partition] != first for partition, first in firsts.items())


def sought(policy: GroupPolicy, state: State, one: Process) -> Process:
    """After a refusal a listener that seeks goes to the stored offsets; another one reads on."""
    store = policy.reading.store
    if store is None or not store.seeks:
        return one
    starts = {partition: state.stored[partition] for partition in owned(one.consumer)}
    return one._replace(consumer=assign(one.consumer._replace(hand=()), starts))
