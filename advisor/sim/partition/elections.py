"""The controller: fencing, the ISR and the eligible leader replicas, elections, moves and clean stops."""

from __future__ import annotations

from ..search.verdict import Effect
from .isr import change_isr
from .replication import Outcome, raise_hw, take_office
from .state import (
    BOUNCING,
    DOWN,
    GONE,
    NOBODY,
    UNKNOWN,
    UP,
    Event,
    Model,
    Replica,
    State,
    in_office,
    members,
    put,
    spend,
    with_replica,
)

CLEAN, FROM_ELR, LAST_KNOWN, UNCLEAN = "clean", "from ELR", "last known leader", "unclean"


# -- what is enabled ---------------------------------------------------------------------------------------


def controller_events(model: Model, state: State, events: list[Event]) -> None:
    if state.proposed and in_office(state) >= 0:
        events.append(Event("confirm"))
    events.extend(Event("lag", broker) for broker in members(state.near))
    for broker, replica in enumerate(state.replicas):
        # A crash and the controller noticing it are two events: until then the dead broker stays in the ISR,
        # may lead, and may even be elected.
        if not state.fenced >> broker & 1 and (replica.life != UP or replica.cut_off):
            events.append(Event("fence", broker))
    if state.leader < 0 and state.elections:
        chosen, _ = candidate(model, state)
        if chosen >= 0:
            events.append(Event("elect", chosen))
    for broker, replica in enumerate(state.replicas):
        back = replica.life == DOWN and state.fenced >> broker & 1
        if back or (replica.life == BOUNCING and broker != state.leader):
            events.append(Event("return", broker))
        elif replica.cut_off:
            events.append(Event("heal", broker))


def candidate(model: Model, state: State) -> tuple[int, str]:
    """Whom the controller elects, and how (PartitionChangeBuilder.electLeader; before KRaft
    PartitionLeaderElectionAlgorithms): the first unfenced replica in assignment order that is in the ISR;
    if the ISR is empty, in the ELR (KIP-966); if both are, the last known leader; else, if allowed, any."""
    for broker in members(state.isr & ~state.fenced):
        return broker, CLEAN
    if model.policy.elr and not state.isr:
        for broker in members(state.elr & ~state.fenced):
            return broker, FROM_ELR
        last = state.last_leader
        if not state.elr and last >= 0 and not state.fenced >> last & 1:
            return last, LAST_KNOWN
    if model.policy.unclean:
        for broker in members(~state.fenced & (1 << model.policy.replicas) - 1):
            return broker, UNCLEAN
    return NOBODY, ""


# -- what they do ------------------------------------------------------------------------------------------


def fence(model: Model, state: State, broker: int) -> Outcome:
    """The session of a broker runs out: out of the ISR, out of office."""
    effects: list[Effect] = []
    state = state._replace(fenced=state.fenced | 1 << broker, near=state.near & ~(1 << broker))
    leads = state.leader == broker
    if leads or state.isr >> broker & 1:
        # A leader behind a cut goes on with the ISR that it knows.
        state = change_isr(model, state, state.isr & ~(1 << broker), heard=not leads)
    if leads:
        state = state._replace(leader=NOBODY, near=0)
    elif in_office(state) >= 0:
        state = raise_hw(model, state, state.leader, effects)
    return state, tuple(effects)


def elect(model: Model, state: State) -> Outcome:
    broker, how = candidate(model, state)
    isr, elr = state.isr, state.elr
    if how != CLEAN:
        isr = 1 << broker
        elr = elr & ~isr if how == FROM_ELR else 0
    effects = [Effect("elected", f"b{broker}", how)]
    state = state._replace(isr=isr, elr=elr, last_leader=NOBODY)
    return install(model, state, broker, effects), tuple(effects)


def install(model: Model, state: State, broker: int, effects: list[Effect]) -> State:
    """A new leader epoch begins. Within atomic bounds every broker that can hear of it does so at once."""
    epoch = state.epoch + 1
    state = state._replace(
        leader=broker,
        epoch=epoch,
        terms=(*state.terms, (broker, state.isr)),
        elections=state.elections - 1,
        proposed=0,
        near=0,
    )
    if model.rounds:
        return state
    replicas = tuple(
        _deposed(replica) if replica.isr and replica.life == UP and not replica.cut_off else replica
        for replica in state.replicas
    )
    state = state._replace(replicas=replicas)
    chosen = replicas[broker]
    if chosen.life == UP and not chosen.cut_off:
        state = take_office(model, state, broker, epoch, effects)
    return state


def _deposed(replica: Replica) -> Replica:
    return replica._replace(epoch=UNKNOWN, isr=0, start=0, remote=())


def move(model: Model, state: State, broker: int) -> Outcome:
    """A planned change of leader (preferred election, reassignment): any in-sync replica, at its own LEO."""
    effects = [Effect("elected", f"b{broker}", "moved")]
    state = state._replace(budget=spend(model, state, "leader_move"))
    return install(model, state, broker, effects), tuple(effects)


def stop(model: Model, state: State, broker: int) -> Outcome:
    """A controlled shutdown: leadership moves first, then the broker leaves the ISR and flushes its logs."""
    effects: list[Effect] = []
    me = 1 << broker
    state = state._replace(fenced=state.fenced | me)
    leads = state.leader == broker
    heirs = members(state.isr & ~state.fenced)
    if leads or state.isr & me:
        state = change_isr(model, state, state.isr & ~me)
    replica = state.replicas[broker]
    stopped = _stopped(replica)._replace(flushed=len(replica.log), clean=True)
    if model.policy.ephemeral:
        stopped = emptied(stopped)
        effects.append(Effect("emptied", f"b{broker}"))
    state = put(state, broker, stopped)
    if leads and heirs and state.elections:
        effects.append(Effect("elected", f"b{heirs[0]}", "moved"))
        state = install(model, state, heirs[0], effects)
    elif leads:
        state = state._replace(leader=NOBODY, near=0)
    elif in_office(state) >= 0:
        state = raise_hw(model, state, state.leader, effects)
    return state, tuple(effects)


def _stopped(replica: Replica, life: int = DOWN) -> Replica:
    return replica._replace(life=life, epoch=UNKNOWN, isr=0, start=0, remote=(), answer=None)


def crashed(replica: Replica, life: int = DOWN) -> Replica:
    return _stopped(replica, life)._replace(clean=False)


def emptied(replica: Replica) -> Replica:
    return replica._replace(log=(), hw=0, flushed=0, clean=False)


def come_back(model: Model, state: State, broker: int) -> Outcome:
    """A process starts, registers and is unfenced. KIP-966: after an unclean stop its log may lack what made
    it eligible, so it leaves the ELR (ReplicationControlManager.handleUncleanBrokerShutdown)."""
    replica = state.replicas[broker]
    me = 1 << broker
    elr = state.elr & ~me if model.policy.elr and not replica.clean else state.elr
    state = state._replace(
        replicas=with_replica(state, broker, replica._replace(life=UP, clean=True)),
        fenced=state.fenced & ~me,
        elr=elr,
    )
    if state.rolling == broker:
        state = state._replace(rolling=NOBODY)
    return state, ()


def heal(model: Model, state: State, broker: int) -> Outcome:
    """The network is whole again. Who was fenced registers anew; who led an earlier epoch steps down."""
    replica = state.replicas[broker]._replace(cut_off=False)
    if replica.epoch != state.epoch and not model.rounds:
        replica = _deposed(replica)
    elif state.leader != broker and replica.epoch == state.epoch and replica.isr:
        # Fenced as the leader, and nobody else was elected: it leads no more until it is elected again.
        replica = _deposed(replica)
    return state._replace(
        replicas=with_replica(state, broker, replica), fenced=state.fenced & ~(1 << broker)
    ), ()


def confirm(model: Model, state: State) -> Outcome:
    """The controller accepts the proposed ISR: a member that left no longer holds the high watermark."""
    isr = state.proposed
    effects = [Effect("confirmed", "isr", ",".join(f"b{broker}" for broker in members(isr)))]
    state = change_isr(model, state, isr)
    return raise_hw(model, state, state.leader, effects), tuple(effects)


def lag(model: Model, state: State, broker: int) -> Outcome:
    """replica.lag.time.max.ms passes: the high watermark waits no longer for a follower outside the ISR."""
    effects: list[Effect] = []
    state = state._replace(near=state.near & ~(1 << broker))
    if in_office(state) >= 0:
        state = raise_hw(model, state, state.leader, effects)
    return state, tuple(effects)


def vanished(replica: Replica) -> Replica:
    return _stopped(replica, GONE)
