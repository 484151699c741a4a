"""What may go wrong: each counted fault as events, spent from the budget of the question."""

from __future__ import annotations

from collections.abc import Callable

from ..search.verdict import Effect
from .elections import crashed, emptied, move, stop, vanished
from .isr import change_isr
from .replication import Outcome, raise_hw
from .state import (
    BOUNCING,
    DOWN,
    FAULT_OF,
    NOBODY,
    UP,
    Event,
    Model,
    State,
    in_office,
    members,
    spend,
    with_replica,
)

Offer = Callable[[Model, State, list[Event]], None]


def fault_events(model: Model, state: State, events: list[Event]) -> None:
    for fault, remaining in zip(model.faults, state.budget, strict=True):
        if remaining:
            _EVENTS[fault](model, state, events)


def _slow(model: Model, state: State, events: list[Event]) -> None:
    """Partition.maybeShrinkIsr, for a follower that lags. No lag is asked for here: the records of the model
    are a few of many, and the follower may lag in the others."""
    leader = in_office(state)
    if leader < 0 or state.proposed:
        return
    events.extend(Event("shrink", broker) for broker in members(state.isr) if broker != leader)


def _on_live(name: str) -> Offer:
    def offer(model: Model, state: State, events: list[Event]) -> None:
        events.extend(Event(name, broker) for broker in _live(state))

    return offer


def _live(state: State) -> list[int]:
    """Followers first, then the leader: of equally short runs, the one that reads as a story comes first."""
    live = [broker for broker, replica in enumerate(state.replicas) if replica.life == UP]
    if state.leader in live:
        live.remove(state.leader)
        live.append(state.leader)
    return live


def _power(model: Model, state: State, events: list[Event]) -> None:
    for broker in _live(state):
        replica = state.replicas[broker]
        least = len(replica.log) if model.policy.flushed_at_once else replica.flushed
        events.extend(Event("lose_power", broker, keep) for keep in range(least, len(replica.log) + 1))


def _stops(model: Model, state: State, events: list[Event]) -> None:
    events.extend(Event("stop", broker) for broker in _stoppable(state))


def _roll(model: Model, state: State, events: list[Event]) -> None:
    """Each broker in turn: the next one stops when the one before is back and all that live are in sync
    again, as every roller of brokers waits for."""
    if state.rolling == NOBODY and not ~(state.isr | state.fenced) & (1 << model.policy.replicas) - 1:
        events.extend(Event("restart", b) for b in _stoppable(state) if not state.rolled >> b & 1)


def _stoppable(state: State) -> list[int]:
    return [
        broker
        for broker, replica in enumerate(state.replicas)
        if replica.life == UP and not replica.cut_off and not state.fenced >> broker & 1
    ]


def _cuts(model: Model, state: State, events: list[Event]) -> None:
    for broker, replica in enumerate(state.replicas):
        if replica.life == UP and not replica.cut_off:
            events.append(Event("cut_off", broker))


def _racks(model: Model, state: State, events: list[Event]) -> None:
    live = {
        rack for rack, replica in zip(model.policy.racks, state.replicas, strict=True) if replica.life == UP
    }
    events.extend(Event("lose_rack", value=rack) for rack in sorted(live))


def _moves(model: Model, state: State, events: list[Event]) -> None:
    leader = in_office(state)
    if state.elections and (leader >= 0 or (model.rounds and state.leader >= 0)):
        alive = members(state.isr & ~state.fenced)
        events.extend(Event("move", broker) for broker in alive if broker != state.leader)


def _fail_over(model: Model, state: State, events: list[Event]) -> None:
    events.append(Event("fail_over"))


_EVENTS: dict[str, Offer] = {
    "slow_follower": _slow,
    "broker_crash": _on_live("crash"),
    "broker_lost": _on_live("lose"),
    "power_loss": _power,
    "disk_wiped": _on_live("wipe"),
    "clean_stop": _stops,
    "roll": _roll,
    "partitioned": _cuts,
    "rack_lost": _racks,
    "controller_failover": _fail_over,
    "leader_move": _moves,
}


def suffer(model: Model, state: State, event: Event) -> Outcome:
    """Apply a counted fault."""
    broker = event.broker
    match event.name:
        case "shrink":
            return _shrink(model, state, broker)
        case "move":
            return move(model, state, broker)
        case "stop":
            return stop(model, state._replace(budget=spend(model, state, "clean_stop")), broker)
        case "restart":
            return _restart(model, state, broker)
        case "lose_rack":
            return _lose_rack(model, state, event.value)
        case "fail_over":
            # Leader, ISR and epochs are in ZooKeeper or the metadata log; what was proposed is asked anew.
            return state._replace(budget=spend(model, state, "controller_failover"), proposed=0, near=0), ()
    replica = state.replicas[broker]
    effects: tuple[Effect, ...] = ()
    match event.name:
        case "crash":
            bounces = model.policy.bounce_unnoticed and not state.fenced >> broker & 1
            after = crashed(replica, BOUNCING if bounces else DOWN)
        case "lose":
            after = vanished(replica)
        case "lose_power":
            keep = event.value
            if keep < len(replica.log):
                effects = (Effect("cut", f"b{broker}", f"to {keep}"),)
            after = crashed(replica)._replace(log=replica.log[:keep], hw=min(replica.hw, keep))
        case "wipe":
            after = emptied(crashed(replica))
        case "cut_off":
            after = replica._replace(cut_off=True, answer=None)
        case _:
            raise ValueError(f"no event of a partition is called {event.name!r}")
    if model.policy.ephemeral and event.name in ("crash", "lose_power"):
        after = emptied(after)
        effects = (Effect("emptied", f"b{broker}"),)
    fault = FAULT_OF[event.name]
    return state._replace(
        replicas=with_replica(state, broker, after),
        budget=spend(model, state, fault),
        near=state.near & ~(1 << broker),
    ), effects


def _shrink(model: Model, state: State, broker: int) -> Outcome:
    """A follower lags longer than replica.lag.time.max.ms: the leader has it taken out of the ISR. Within
    proposed bounds it only asks, and the follower counts for the high watermark until that is confirmed."""
    isr = state.isr & ~(1 << broker)
    effects: list[Effect] = []
    state = state._replace(budget=spend(model, state, "slow_follower"))
    if model.proposals:
        names = ",".join(f"b{member}" for member in members(isr))
        return state._replace(proposed=isr), (Effect("proposed", "isr", names),)
    state = change_isr(model, state, isr)
    return raise_hw(model, state, state.leader, effects), tuple(effects)


def _restart(model: Model, state: State, broker: int) -> Outcome:
    rolled = state.rolled | 1 << broker
    budget = state.budget
    if rolled.bit_count() == model.policy.replicas:
        rolled, budget = 0, spend(model, state, "roll")
    return stop(model, state._replace(rolling=broker, rolled=rolled, budget=budget), broker)


def _lose_rack(model: Model, state: State, rack: int) -> Outcome:
    replicas = tuple(
        vanished(replica) if model.policy.racks[broker] == rack else replica
        for broker, replica in enumerate(state.replicas)
    )
    return state._replace(replicas=replicas, budget=spend(model, state, "rack_lost")), ()
