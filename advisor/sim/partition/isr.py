"""The in-sync replicas as the controller writes them, and the eligible leader replicas that follow."""

from __future__ import annotations

from .state import Model, State, in_office, with_replica


def change_isr(model: Model, state: State, isr: int, heard: bool = True) -> State:
    """The controller writes a new ISR, with the ELR that follows from it; a leader in office hears of it,
    unless it is the one that is given up.

    PartitionChangeBuilder.maybePopulateTargetElr: at or above the minimum the ELR is empty; below, it keeps
    its members and takes in those who leave the ISR, as the high watermark stands still from then on.
    """
    elr, last_leader = 0, state.last_leader
    if model.policy.elr:
        if isr.bit_count() < model.min_isr:
            elr = (state.elr | state.isr) & ~isr
        if not isr and state.leader >= 0:
            last_leader = state.leader
    elif not isr:
        isr = state.isr  # without ELR the last in-sync replica stays in the ISR even when it is down
    replicas = state.replicas
    acting = in_office(state)
    if acting >= 0 and heard:
        replicas = with_replica(state, acting, replicas[acting]._replace(isr=isr))
    # A proposal made against an older state is refused (INVALID_UPDATE_VERSION).
    return state._replace(
        replicas=replicas, isr=isr, elr=elr, last_leader=last_leader, proposed=0, near=state.near & ~isr
    )
