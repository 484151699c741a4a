"""What later events can still read of a state, where fetches are atomic: states alike in it are one.

Within atomic bounds much of a state is history: which epochs there were, what a leader heard of followers
when no request waits for it, the high watermark. The search explores one state of each essence (`explore`'s
canonical); the states it keeps are whole, so a run found is a run of the model. A law of the tests: no
verdict changes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import ge

from .state import UNKNOWN, Model, Replica, State


def essence(model: Model, state: State) -> tuple[object, ...]:
    elr = model.policy.elr
    return (
        tuple([_of_replica(model, state, replica) for replica in state.replicas]),
        state.leader,
        state.isr,
        state.elr,
        state.last_leader if elr else UNKNOWN,
        state.fenced,
        state.proposed,
        state.near,
        state.sent,
        state.acked,
        state.failed,
        state.elections,
        state.rolling,
        state.rolled,
    )


def _of_replica(model: Model, state: State, replica: Replica) -> tuple[object, ...]:
    log, _, epoch, life, cut_off, clean, flushed, isr, _, remote, _ = replica
    # How it stopped matters for the ELR, what is on its disk for a power loss.
    stopped = (clean or not model.policy.elr, flushed if "power_loss" in model.faults else 0)
    if not isr:
        # A follower's log is a prefix of its leader's or is cut to one when it next fetches, whichever epoch
        # it knows of.
        return log, life, cut_off, stopped
    if model.policy.acks == "all":
        answered = state.acked | state.failed
        for entry_epoch, record in log:
            if entry_epoch == epoch and not answered >> record & 1:
                # A request waits: what the in-sync replicas were heard to hold decides when it is answered.
                heard = tuple([leo if isr >> b & 1 else UNKNOWN for b, leo in enumerate(remote)])
                return log, life, cut_off, stopped, isr, epoch, heard
    return log, life, cut_off, stopped, isr, epoch


def classes(model: Model) -> Callable[[State], Hashable]:
    """What `explore` takes as canonical: the essence, where fewer faults left count as no new state.

    Whatever happens with fewer faults left can happen with more, in as many steps; and the search sees the
    states in the order of their distance, so the shortest run is not lost.
    """
    seen: dict[Hashable, list[tuple[int, ...]]] = {}

    def canonical(state: State) -> Hashable:
        known = essence(model, state)
        budget = state.budget
        budgets = seen.setdefault(known, [])
        for richer in budgets:
            if all(map(ge, richer, budget)):
                return known, richer
        budgets.append(budget)
        return known, budget

    return canonical
