"""What is asked of a small group: is every record processed, is any processed twice or out of order.

Each question explores every run of group_model.py within its bounds; a run that breaks the guarantee comes
as plain data, with the group, its members and the committed offsets after each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ....tuples import NamedTuple
from ...search.explore import STATES_MAX, explore
from ...search.small_models import Seen, effect_seen, replayed
from .. import classic as classic
from ..consumer import AUTO, NEVER, NOT_OWNED, WITH_OUTPUT, owned
from .states import ENDS, FAULTS, Effects, Event, GroupPolicy, State
from .step import enabled, initial, step

BOUNDS = (
    "2 members, 2 partitions, 3 records, batches of at most 2, "
    "2 rebalances and one return, join + sync atomic"
)
Predicate = Callable[[State], str | None]


class Answer(NamedTuple):
    """`verdict` holds, broken or unknown; `trace` as in the report."""

    verdict: str
    reason: str
    trace: tuple[dict[str, Any], ...]
    faults: dict[str, int]
    states: int
    witnesses: tuple[str, ...] = ()


def every_record_processed(policy: GroupPolicy, faults: Mapping[str, int]) -> Answer:
    """Does a committed offset pass a record that nobody processed and nobody will?"""
    store = policy.reading.store
    return _ask(partial(skipped, seeks=store is not None and store.seeks), policy, faults)


def processed_once(policy: GroupPolicy, faults: Mapping[str, int]) -> Answer:
    """Is a record processed again after a rebalance or a crash?"""
    return _ask(twice, policy, faults)


def processed_in_order(policy: GroupPolicy, faults: Mapping[str, int]) -> Answer:
    """Is a record processed before an earlier one of its partition?"""
    return _ask(overtaken, policy, faults)


def overtaken(state: State) -> str | None:
    """What somebody still has to process, with a later record of the partition done."""
    for partition, row in enumerate(state.times):
        for offset, times in enumerate(row):
            if not times and any(row[offset + 1 :]) and _to_come(state, partition, offset):
                return f"p{partition}:{offset} is processed after a record that was written later"
    return None


def skipped(state: State, seeks: bool = False) -> str | None:
    """Broken in words: a record was not processed, nobody has it in hand, nobody who owns the partition has
    yet to read it, and who comes next begins past it: at the committed offset or, where members seek, at the
    stored one."""
    where, offsets = ("stored", state.stored) if seeks else ("committed", state.committed)
    for partition, end in enumerate(ENDS):
        for offset in range(end):
            if state.times[partition][offset] or _to_come(state, partition, offset):
                continue
            if offset < offsets[partition]:
                return (
                    f"p{partition}:{offset} was never processed, and the {where} offset "
                    f"{offsets[partition]} is past it"
                )
            if _read_past(state, partition, offset):
                return f"p{partition}:{offset} was never processed, and its partition is read from beyond it"
    return None


def _read_past(state: State, partition: int, offset: int) -> bool:
    """No offset says so, but the owner of the partition began after this record."""
    return any(one is not None and one.consumer.positions[partition] > offset for one in state.processes)


def _to_come(state: State, partition: int, offset: int) -> bool:
    for one in state.processes:
        if one is None:
            continue
        position = one.consumer.positions[partition]
        if position != NOT_OWNED and position <= offset:
            return True
        spans = (*one.consumer.hand, *one.pending)
        if any(span.partition == partition and span.first <= offset < span.end for span in spans):
            return True
    return False


def twice(state: State) -> str | None:
    for partition, row in enumerate(state.times):
        for offset, times in enumerate(row):
            if times > 1:
                return f"p{partition}:{offset} was processed twice"
    return None


def _ask(broken: Predicate, policy: GroupPolicy, faults: Mapping[str, int]) -> Answer:
    policy = policy.searched
    budget = {name: faults.get(name, 0) for name in FAULTS}
    start = initial(policy, budget)
    expected = witnesses(policy, budget)
    found = explore(
        start, lambda state: successors(policy, state), broken, states_max=STATES_MAX, witnesses=expected
    )
    seen = tuple(name for name in expected if name in found.witnessed)
    if found.run is not None and found.reason is not None:
        names = [event.name for event in found.run]
        spent = {
            "member_crash": names.count("member_crash"),
            "rebalance": names.count("leave") + names.count("drop"),
        }
        trace = trace_of(policy, start, found.run)
        return Answer(
            "broken", found.reason, trace, {k: n for k, n in spent.items() if n}, found.states, seen
        )
    missing = [name for name in expected if name not in found.witnessed]
    if found.stopped or missing:
        why = f"never seen: {'; '.join(missing)}" if missing else f"stopped at {found.stopped}"
        return Answer("unknown", f"{why} within {BOUNDS}", (), {}, found.states, seen)
    return Answer("holds", "", (), {}, found.states, seen)


def successors(policy: GroupPolicy, state: State) -> Iterable[tuple[Event, Effects, State]]:
    for event in enabled(policy, state):
        after, effects = step(policy, state, event)
        yield event, effects, after


def witnesses(policy: GroupPolicy, budget: Mapping[str, int]) -> dict[str, Seen]:
    """What must be reachable before Holds means anything."""
    seen: dict[str, Seen] = {
        "a record is processed": effect_seen("processed"),
        "a commit is taken": effect_seen("stored" if policy.reading.store else "committed"),
    }
    if policy.assigned:
        if budget["member_crash"]:
            seen["it starts again"] = lambda event, effects, state: event.name == "restart"
        return seen
    if budget["member_crash"]:
        seen["a member dies"] = lambda event, effects, state: event.name == "member_crash"
        seen["its partition is taken over"] = lambda event, effects, state: (
            event.name == "expire" and any(" owns " in effect for effect in effects)
        )
    if budget["rebalance"]:
        seen["a member is dropped while it works"] = lambda event, effects, state: event.name == "drop"
        seen["a member comes back"] = lambda event, effects, state: event.name == "return"
        if policy.reading.commits != AUTO and _fences(policy):
            seen["a late commit is fenced"] = effect_seen("fenced")
    if policy.reading.commits != WITH_OUTPUT and any(budget.values()) and not policy.reading.workers:
        seen["every partition is read to its end"] = lambda event, effects, state: (
            (state.stored or state.committed) == ENDS
        )
    return seen


def _fences(policy: GroupPolicy) -> bool:
    """The coordinator does; a store that is apart from the output cannot, another one may."""
    store = policy.reading.store
    return store is None or (store.fences and policy.reading.commits == WITH_OUTPUT)


def replay(policy: GroupPolicy, start: State, run: Iterable[Event]) -> list[tuple[Event, Effects, State]]:
    """The run again, event by event; ValueError if one is not enabled where it stands."""
    return replayed(enabled, step, policy, start, run)


def trace_of(policy: GroupPolicy, start: State, run: Iterable[Event]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "step": number,
            "event": _plain(event),
            "effects": list(effects),
            "state": state_of(state),
        }
        for number, (event, effects, state) in enumerate(replay(policy, start, run), start=1)
    )


def _plain(event: Event) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": event.name, "text": event.text(), "member": f"m{event.member}"}
    fault = {"member_crash": "member_crash", "leave": "rebalance", "drop": "rebalance"}.get(event.name)
    if fault:
        plain["fault"] = fault
    return plain


def state_of(state: State) -> dict[str, Any]:
    """The state in the words of the report."""
    group = state.group
    generation = group.generation if isinstance(group, classic.Group) else group.epoch
    return {
        "kind": "group",
        "cells": told(state, generation),
        "generation": generation,
        "committed": _by_partition(state.committed),
        **({"stored": _by_partition(state.stored)} if state.stored else {}),
        "members": [
            {
                "id": f"m{number}",
                "alive": one is not None,
                "generation": None if one is None else one.generation,
                "positions": {}
                if one is None
                else {f"p{p}": one.consumer.positions[p] for p in owned(one.consumer)},
                "in_hand": []
                if one is None
                else [
                    f"p{span.partition}:{offset}"
                    for span in one.consumer.hand
                    for offset in range(span.first, span.end)
                ],
            }
            for number, one in enumerate(state.processes)
        ],
        "processed": {
            f"p{partition}:{offset}": times
            for partition, row in enumerate(state.times)
            for offset, times in enumerate(row)
            if times
        },
    }


def told(state: State, generation: int) -> dict[str, str]:
    """The columns of the run's table: a member as `positions | records in hand`."""
    cells = {"generation": str(generation), "committed": _offsets(_by_partition(state.committed))}
    if state.stored:
        cells["stored"] = _offsets(_by_partition(state.stored))
    for number, one in enumerate(state.processes):
        if one is None:
            cells[f"m{number}"] = "gone"
            continue
        places = " ".join(f"p{p}@{one.consumer.positions[p]}" for p in owned(one.consumer))
        hand = " ".join(f"p{s.partition}:{o}" for s in one.consumer.hand for o in range(s.first, s.end))
        cells[f"m{number}"] = f"{places or '-'} | {hand}".rstrip(" |")
    return cells


def _by_partition(offsets: tuple[int, ...]) -> dict[str, int | None]:
    return {f"p{partition}": None if offset == NEVER else offset for partition, offset in enumerate(offsets)}


def _offsets(places: Mapping[str, int | None]) -> str:
    """p0=2 p1=-, where nothing was committed."""
    return " ".join(f"{name}={'-' if offset is None else offset}" for name, offset in places.items())


def table(trace: Iterable[Mapping[str, Any]]) -> list[str]:
    """The run as aligned lines, one a step."""
    rows = [cells(one) for one in trace]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    return [
        (
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        ).rstrip()
        for row in rows
    ]


def cells(one: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    state = one["state"]
    stored = f" stored {_offsets(state['stored'])}" if "stored" in state else ""
    people = " ".join(_person(member) for member in state["members"])
    return (
        str(one["step"]),
        one["event"]["text"],
        f"gen={state['generation']} committed {_offsets(state['committed'])}{stored}",
        people,
        ", ".join(one["effects"]),
    )


def _person(member: Mapping[str, Any]) -> str:
    mark = "" if member["alive"] else "!"
    places = ",".join(f"{partition}@{offset}" for partition, offset in member["positions"].items())
    return f"{member['id']}{mark}:[{places or '-'}|{' '.join(member['in_hand'])}]"
