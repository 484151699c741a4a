"""Guarantees as predicates of a state: each says why it is broken there, or None.

A guarantee states the truth; the predicate is its negation, in words a trace can end with.
"""

from __future__ import annotations

from .elections import candidate
from .state import GONE, UP, Model, State, in_office, members, presumes_leadership


def acked_records_survive(model: Model, state: State) -> str | None:
    """Broken when an elected leader's log lacks an acknowledged record, or when no replica that can still
    return holds it. Being offline is not loss."""
    if not state.acked:
        return None
    leader = in_office(state)
    in_log = _records(state, leader) if leader >= 0 else state.acked
    kept = 0
    for broker, replica in enumerate(state.replicas):
        if replica.life != GONE:
            kept |= _records(state, broker)
    missing = state.acked & ~(in_log & kept)
    if not missing:
        return None
    record = members(missing)[0]
    if kept >> record & 1:
        return f"r{record}: the new leader lacks it"
    return f"r{record}: no broker that can return has it"


def may_be_acked(model: Model, state: State) -> bool:
    """Some record is acknowledged or still may be. Where all are written, none is acknowledged and whoever
    took them no longer leads that epoch, nothing acknowledged can be lost."""
    if state.acked or state.sent < model.bounds.records + model.bounds.committed:
        return True
    for broker, replica in enumerate(state.replicas):
        if presumes_leadership(state, broker):
            for epoch, record in replica.log:
                if epoch == replica.epoch and not state.failed >> record & 1:
                    return True
    return False


def _records(state: State, broker: int) -> int:
    held = 0
    for _, record in state.replicas[broker].log:
        held |= 1 << record
    return held


def replicas_agree(model: Model, state: State) -> str | None:
    """Broken when two replicas hold different records at one offset below both high watermarks. Asked of
    live replicas that have taken up the same leader epoch: who has yet to hear of it has yet to truncate."""
    replicas = state.replicas
    for one, first in enumerate(replicas):
        for other in range(one + 1, len(replicas)):
            second = replicas[other]
            if first.life != UP or second.life != UP or first.epoch != second.epoch or first.epoch < 0:
                continue
            for offset in range(min(first.hw, second.hw, len(first.log), len(second.log))):
                if first.log[offset] != second.log[offset]:
                    a, b = first.log[offset][1], second.log[offset][1]
                    return f"offset {offset} holds r{a} on broker {one} and r{b} on broker {other}"
    return None


def committed_on_isr(model: Model, state: State) -> str | None:
    """What a presumed leader counts as committed is, entry for entry, on every member of the true ISR: the
    StrongIsr of the public specification. Stronger than both above; no rule asks it, tests compare by it."""
    for leader in range(len(state.replicas)):
        if not presumes_leadership(state, leader):
            continue
        committed = state.replicas[leader].log[: state.replicas[leader].hw]
        for broker in members(state.isr):
            if state.replicas[broker].log[: len(committed)] != committed:
                records = f"{len(committed)} record" + ("" if len(committed) == 1 else "s")
                return f"broker {leader} counts {records} as committed; broker {broker} in the ISR lacks some"
    return None


def writes_available(model: Model, state: State) -> str | None:
    """Broken when brokers are away, the rest has done all it can, and still no request can succeed. The rest
    can do no more when nothing is left to fence, elect or let rejoin; only then is it asked."""
    if recovering(model, state) or can_write(model, state):
        return None
    if state.leader < 0:
        return "no leader can be elected"
    if model.policy.min_isr > model.policy.replicas and not model.policy.min_isr_capped:
        return f"{model.min_isr} of {model.policy.replicas} replicas must be in sync: every write is refused"
    in_sync = state.isr.bit_count()
    left = f"{in_sync} replica{' is' if in_sync == 1 else 's are'} in sync"
    return f"{left}, {model.min_isr} are needed: every write is refused"


def group_available(model: Model, state: State) -> str | None:
    """As writes-available, of an internal topic: without a leader there is no coordinator to find, and a
    commit is a write."""
    why = writes_available(model, state)
    if why is None:
        return None
    return f"no coordinator: {why}" if state.leader < 0 else f"no commit: {why}"


def recovering(model: Model, state: State) -> bool:
    for broker, replica in enumerate(state.replicas):
        away = replica.life != UP or replica.cut_off
        if away and not state.fenced >> broker & 1:
            return True
    if state.leader < 0:
        return candidate(model, state)[0] >= 0
    out = ~(state.isr | state.fenced) & (1 << model.policy.replicas) - 1
    return bool(out)


def can_write(model: Model, state: State) -> bool:
    leader = in_office(state)
    return leader >= 0 and (model.policy.acks != "all" or state.isr.bit_count() >= model.min_isr)
