"""A partition under replication: which events can happen, and what each does.

`enabled` and `step` are the whole of it; the subjects live beside: replication (produce, fetch, high
watermark), elections (the controller), faults, truncation. `run` drives a list of events, a search takes all.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..search.verdict import Effect, Step, Trace
from . import elections, faults, replication
from .replication import Outcome
from .state import Event, Model, State, parse, presumes_leadership, view


def enabled(model: Model, state: State) -> list[Event]:
    """The events that can happen now, in a fixed order: clients, brokers, the controller, then faults."""
    events: list[Event] = []
    replication.writes(model, state, events)
    replication.fetches(model, state, events)
    replication.offices(model, state, events)
    elections.controller_events(model, state, events)
    faults.fault_events(model, state, events)
    return events


def step(model: Model, state: State, event: Event) -> Outcome:
    """Apply one enabled event. Pure: no clock, no chance."""
    match event.name:
        case "produce":
            return replication.produce(model, state, event)
        case "fetch":
            return replication.fetch(model, state, event.broker)
        case "write":
            return replication.write(model, state, event.broker)
        case "follow":
            return replication.follow(model, state, event.broker, event.value)
        case "lead":
            effects: list[Effect] = []
            after = replication.take_office(model, state, event.broker, event.value, effects)
            return after, tuple(effects)
        case "fence":
            return elections.fence(model, state, event.broker)
        case "elect":
            return elections.elect(model, state)
        case "return":
            return elections.come_back(model, state, event.broker)
        case "heal":
            return elections.heal(model, state, event.broker)
        case "confirm":
            return elections.confirm(model, state)
        case "lag":
            return elections.lag(model, state, event.broker)
    return faults.suffer(model, state, event)


class NotEnabled(ValueError):
    """An event of a given run cannot happen where the run has it."""


def run(model: Model, state: State, events: Iterable[Event | str]) -> tuple[Trace, State]:
    """Drive the given events from a state. An event that cannot happen there is an error that says what can;
    a refused write is no error: it is shown, and changes nothing."""
    trace: list[Step] = []
    for number, given in enumerate(events, start=1):
        event = parse(given) if isinstance(given, str) else given
        possible = enabled(model, state)
        if event in possible:
            after, effects = step(model, state, event)
        elif event.name == "produce" and event.value == state.sent:
            effects = (refusal(model, state, event),)
            after = state
        else:
            can = ", ".join(other.text() for other in possible)
            raise NotEnabled(f"step {number}: {event.text()} cannot happen here; what can: {can}")
        state = after
        trace.append(Step(number, event.as_dict(), tuple(e.text() for e in effects), view(model, state)))
    return tuple(trace), state


def refusal(model: Model, state: State, event: Event) -> Effect:
    broker = event.broker if event.broker >= 0 else state.leader
    if broker < 0 or not presumes_leadership(state, broker):
        return Effect("rejected", f"r{event.value}", "no leader")
    return Effect("rejected", f"r{event.value}", "not enough replicas")
