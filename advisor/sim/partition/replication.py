"""Writing and copying: produce, fetch, the high watermark, joining the ISR, taking up a leader epoch."""

from __future__ import annotations

from ..search.verdict import Effect
from .isr import change_isr
from .state import (
    UNKNOWN,
    UP,
    Answer,
    Event,
    Model,
    Replica,
    State,
    in_office,
    members,
    presumes_leadership,
    put,
    with_replica,
)
from .truncation import truncation_offset

Outcome = tuple[State, tuple[Effect, ...]]


# -- what is enabled ---------------------------------------------------------------------------------------


def writes(model: Model, state: State, events: list[Event]) -> None:
    """A producer writes to whoever presumes to lead; one acks=0 request may also meet nobody at all."""
    if state.sent >= model.bounds.records + model.bounds.committed:
        return
    taken = False
    for broker in range(model.policy.replicas):
        if presumes_leadership(state, broker):
            taken = True
            # ReplicaManager.appendToLocalLog refuses acks=all below the minimum: NOT_ENOUGH_REPLICAS.
            if model.policy.acks != "all" or state.replicas[broker].isr.bit_count() >= model.min_isr:
                events.append(Event("produce", -1 if broker == state.leader else broker, state.sent))
    if not taken and model.policy.acks == "0":
        events.append(Event("produce", -1, state.sent))


def fetches(model: Model, state: State, events: list[Event]) -> None:
    for broker, replica in enumerate(state.replicas):
        if replica.life != UP or replica.cut_off:
            continue
        if replica.answer is not None:
            events.append(Event("write", broker))
        elif _may_fetch(model, state, broker, replica):
            events.append(Event("fetch", broker))


def _may_fetch(model: Model, state: State, broker: int, replica: Replica) -> bool:
    leader = source(model, state, broker)
    if leader < 0:
        return False
    ahead = state.replicas[leader]
    if model.rounds:
        news = len(ahead.log) != len(replica.log) or ahead.hw > replica.hw
        return news or ahead.remote[broker] != len(replica.log) or not ahead.isr >> broker & 1
    return not (
        replica.epoch == ahead.epoch
        and ahead.remote[broker] == len(ahead.log)
        and ahead.isr >> broker & 1
        and len(replica.log) == len(ahead.log)
        and (replica.hw == ahead.hw or not model.hw_kept)
    )


def source(model: Model, state: State, broker: int) -> int:
    """Whom a follower fetches from, -1 if from nobody.

    Before KIP-320 (2.1) a fetch carried no leader epoch: whoever presumed to lead, in whatever epoch,
    answered whoever took it for the leader. From then on both must be of one epoch (FENCED_LEADER_EPOCH).
    """
    replica = state.replicas[broker]
    if not model.follows:
        leader = in_office(state)
        return leader if leader != broker else -1
    if replica.epoch < 0:
        return -1
    leader = state.terms[replica.epoch][0]
    if leader == broker or state.replicas[leader].cut_off or not presumes_leadership(state, leader):
        return -1
    if model.policy.truncation == "kip-320" and state.replicas[leader].epoch != replica.epoch:
        return -1
    return leader


def offices(model: Model, state: State, events: list[Event]) -> None:
    """Replicas learn of leader epochs late, and may learn of a later one first. One that has just started is
    told how things stand now, and only that."""
    if not model.follows:
        return
    for broker, replica in enumerate(state.replicas):
        if replica.life != UP or replica.cut_off or (replica.epoch == UNKNOWN and state.leader < 0):
            continue
        late = model.rounds and replica.epoch != UNKNOWN
        first = replica.epoch + 1 if late else max(state.epoch, replica.epoch + 1)
        for epoch in range(first, state.epoch + 1):
            leader = state.terms[epoch][0]
            if leader == broker:
                if model.rounds:
                    events.append(Event("lead", broker, epoch))
            elif _may_truncate(model, state, leader, epoch):
                events.append(Event("follow", broker, epoch))


def _may_truncate(model: Model, state: State, leader: int, epoch: int) -> bool:
    if model.policy.truncation == "high-watermark":
        return True  # nobody is asked
    if state.replicas[leader].cut_off or not presumes_leadership(state, leader):
        return False
    return model.policy.truncation != "kip-320" or state.replicas[leader].epoch == epoch


# -- what they do ------------------------------------------------------------------------------------------


def produce(model: Model, state: State, event: Event) -> Outcome:
    broker = event.broker if event.broker >= 0 else state.leader
    record = state.sent
    name = f"r{record}"
    effects: list[Effect] = []
    if broker < 0 or not presumes_leadership(state, broker):
        return state._replace(sent=record + 1, acked=state.acked | 1 << record), (
            Effect("acked", name),
            Effect("dropped", name),
        )
    leader = state.replicas[broker]
    if model.policy.acks == "all" and leader.isr.bit_count() < model.min_isr:
        return state._replace(sent=record + 1), (Effect("rejected", name, "not enough replicas"),)
    acked = state.acked
    if model.policy.acks != "all":
        acked |= 1 << record
        effects.append(Effect("acked", name))
    leader = tuple.__new__(Replica, ((*leader.log, (leader.epoch, record)), *leader[1:]))
    leader, acked, failed = _raised(model, state, broker, leader, acked, effects)
    replicas = with_replica(state, broker, leader)
    after = (replicas, *state[1:10], record + 1, acked, failed, *state[13:])
    return tuple.__new__(State, after), tuple(effects)


def fetch(model: Model, state: State, broker: int) -> Outcome:
    """One fetch request at the leader; within atomic bounds also its answer and the round after it."""
    leader = source(model, state, broker)
    ahead, behind = state.replicas[leader], state.replicas[broker]
    effects: list[Effect] = []
    if model.rounds:
        if len(behind.log) > len(ahead.log):
            # OFFSET_OUT_OF_RANGE: the leader's log is shorter, the follower cuts its own to it.
            end = len(ahead.log)
            hw, flushed = min(behind.hw, end), min(behind.flushed, end)
            cut = behind._replace(log=behind.log[:end], hw=hw, flushed=flushed)
            return put(state, broker, cut), (Effect("truncated", f"b{broker}", f"to {end}"),)
        state = hear(model, state, leader, broker, len(behind.log), effects)
        ahead = state.replicas[leader]
        # The answer carries the high watermark as this very request left it (S1).
        answer = tuple.__new__(Answer, (ahead.log[len(behind.log) :], ahead.hw))
        asking = tuple.__new__(Replica, (*state.replicas[broker][:-1], answer))
        return put(state, broker, asking), tuple(effects)
    if not model.follows and behind.epoch != ahead.epoch:
        end = truncation_offset(model.policy.truncation, behind.log, behind.hw, ahead.log, ahead.epoch)
        if end < len(behind.log):
            effects.append(Effect("truncated", f"b{broker}", f"to {end}"))
        behind = _seated(behind, behind.log[:end], ahead.epoch)
    log = behind.log + ahead.log[len(behind.log) :]
    # One round behind: the high watermark that this fetch raises is heard with the next one.
    hw = min(ahead.hw, len(log)) if model.hw_kept else 0
    state = put(state, broker, behind._replace(log=log, hw=hw))
    return hear(model, state, leader, broker, len(ahead.log), effects), tuple(effects)


def write(model: Model, state: State, broker: int) -> Outcome:
    """A fetch answer arrives: the follower appends it and takes over the high watermark (S1)."""
    replica = state.replicas[broker]
    answer = replica.answer
    assert answer is not None, "enabled() offers a write only with an answer on its way"
    log = replica.log + answer.entries if answer.entries else replica.log
    hw = max(replica.hw, min(answer.hw, len(log)))
    return put(state, broker, tuple.__new__(Replica, (log, hw, *replica[2:-1], None))), ()


def hear(model: Model, state: State, leader: int, follower: int, offset: int, effects: list[Effect]) -> State:
    """The leader hears a follower's LEO with its fetch: it may let it join the ISR and raise the HW."""
    ahead = state.replicas[leader]
    if ahead.remote[follower] != offset:
        remote = (*ahead.remote[:follower], offset, *ahead.remote[follower + 1 :])
        ahead = tuple.__new__(Replica, (*ahead[:-2], remote, ahead.answer))
    if not ahead.isr >> follower & 1 and leader == in_office(state):
        state = _join(model, put(state, leader, ahead), leader, follower, offset, effects)
        return raise_hw(model, state, leader, effects)
    return _with_raised(model, state, leader, ahead, effects)


def _join(
    model: Model, state: State, leader: int, follower: int, offset: int, effects: list[Effect]
) -> State:
    """Partition.maybeExpandIsr: at the leader's HW, at the start of its epoch (KAFKA-7128), not fenced."""
    ahead = state.replicas[leader]
    behind_start = model.policy.joins_at_epoch_start and offset < ahead.start
    if offset < ahead.hw or behind_start or state.fenced >> follower & 1:
        return state
    if not model.proposals:
        effects.append(Effect("joined", f"b{follower}"))
        return change_isr(model, state, state.isr | 1 << follower)
    if state.proposed:
        # One proposal at a time (KIP-497). A caught-up follower that must wait still holds the HW back.
        caught_up = offset == len(ahead.log)
        return state._replace(near=state.near | 1 << follower) if caught_up else state
    effects.append(Effect("proposed", "isr", _names(state.isr | 1 << follower)))
    return state._replace(proposed=state.isr | 1 << follower)


def raise_hw(model: Model, state: State, broker: int, effects: list[Effect]) -> State:
    """Partition.maybeIncrementLeaderHW: the least LEO over the ISR, tried on taking office, on an append,
    on a fetch and when a replica leaves the ISR. It never falls while a leader is in office."""
    return _with_raised(model, state, broker, state.replicas[broker], effects)


def _with_raised(model: Model, state: State, broker: int, leader: Replica, effects: list[Effect]) -> State:
    """The state with this leader in its place, its high watermark raised."""
    leader, acked, failed = _raised(model, state, broker, leader, state.acked, effects)
    if leader is state.replicas[broker]:
        return state
    replicas = with_replica(state, broker, leader)
    return tuple.__new__(State, (replicas, *state[1:11], acked, failed, *state[13:]))


def _raised(
    model: Model, state: State, broker: int, leader: Replica, acked: int, effects: list[Effect]
) -> tuple[Replica, int, int]:
    """The leader with its high watermark raised, the records acknowledged and those refused by then."""
    failed = state.failed
    end = len(leader.log)
    if end <= leader.hw:
        return leader, acked, failed
    waits_for = leader.isr
    if broker == state.leader and leader.epoch == state.epoch:
        # The maximal ISR (KIP-497): a proposed member counts at once, a proposed leaver still counts.
        waits_for |= state.proposed | state.near
    if model.policy.hw_waits_for_min_isr and leader.isr.bit_count() < model.min_isr:
        return leader, acked, failed
    remote = leader.remote
    for follower in members(waits_for):
        if follower != broker and remote[follower] < end:
            end = remote[follower]
    if end <= leader.hw:
        return leader, acked, failed
    if model.policy.acks == "all":
        for epoch, record in leader.log[leader.hw : end]:
            # Whoever took the request answers it: records of earlier leaders were answered with an error.
            if epoch != leader.epoch or failed >> record & 1:
                continue
            if waits_for.bit_count() >= model.min_isr:
                acked |= 1 << record
                effects.append(Effect("acked", f"r{record}"))
            else:
                failed |= 1 << record
                effects.append(Effect("failed", f"r{record}", "not enough replicas after append"))
    return tuple.__new__(Replica, (leader.log, end, *leader[2:])), acked, failed


def follow(model: Model, state: State, broker: int, epoch: int) -> Outcome:
    """A replica becomes a follower of a leader epoch: it cuts its log, then it may fetch."""
    replica = state.replicas[broker]
    leader = state.terms[epoch][0]
    ahead = state.replicas[leader]
    end = truncation_offset(model.policy.truncation, replica.log, replica.hw, ahead.log, ahead.epoch)
    effects = (Effect("truncated", f"b{broker}", f"to {end}"),) if end < len(replica.log) else ()
    seated = _seated(replica, replica.log[:end], epoch)
    return put(state, broker, seated), effects


def _seated(replica: Replica, log: tuple[tuple[int, int], ...], epoch: int) -> Replica:
    end = len(log)
    return replica._replace(
        log=log,
        hw=min(replica.hw, end),
        flushed=min(replica.flushed, end),
        epoch=epoch,
        isr=0,
        start=0,
        remote=(),
        answer=None,
    )


def take_office(model: Model, state: State, broker: int, epoch: int, effects: list[Effect]) -> State:
    """A replica becomes leader: it goes by the ISR it was elected with and has heard no LEO but its own."""
    replica = state.replicas[broker]._replace(
        epoch=epoch,
        isr=state.isr if epoch == state.epoch else state.terms[epoch][1],
        start=len(state.replicas[broker].log),
        remote=(UNKNOWN,) * model.policy.replicas,
        answer=None,
    )
    return raise_hw(model, put(state, broker, replica), broker, effects)


def _names(mask: int) -> str:
    return ",".join(f"b{broker}" for broker in members(mask))
