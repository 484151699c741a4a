"""The values of the small group that is searched: its policy, its members' own sides, a state, an event.

What can happen and what each event does is in group_model.py.
"""

from __future__ import annotations

from ....tuples import NamedTuple
from .. import classic as classic
from .. import kip848 as epochs
from ..consumer import AUTO, LATEST, Consumer, Reading, Span

ENDS = (2, 1)  # records of each partition
PARTITIONS = range(len(ENDS))
FAULTS = ("member_crash", "rebalance")
RETURNS = 1  # how often a member that is out may come back
COUNTED = 2  # how often a record was processed is counted so far

Effects = tuple[str, ...]


class GroupPolicy(NamedTuple):
    protocol: str = "classic"  # or consumer (KIP-848)
    cooperative: bool = False
    reading: Reading = Reading()
    assigned: tuple[int, ...] = ()  # members that assign() themselves every partition and do not subscribe
    instances: int = 2  # of such
    reset: str = LATEST  # auto.offset.reset, where nothing was ever committed

    @property
    def searched(self) -> GroupPolicy:
        """Batches beyond two records are alike in a group of three."""
        return self._replace(reading=self.reading._replace(batch=min(self.reading.batch, max(ENDS))))

    @property
    def automatic(self) -> bool:
        """Does the client commit by itself, be it beside a store of the application's own?"""
        store = self.reading.store
        return self.reading.commits == AUTO or (store is not None and store.auto_commit)


class Process(NamedTuple):
    """A member's own side. `generation` is what it believes to be of (or its epoch); `out`: it knows that it
    is not a member; `due`: its next commit is due; `pending`: processed, not in effect before the commit;
    `finished`: by partition, the record after the one that a worker finished last."""

    consumer: Consumer
    generation: int
    out: bool = False
    due: bool = False
    pending: tuple[Span, ...] = ()
    flying: tuple[int, tuple[tuple[int, int], ...]] | None = None  # an asynchronous commit, under way
    alone: bool = False  # it assigned its partitions itself: no coordinator knows it
    finished: tuple[tuple[int, int], ...] = ()


class State(NamedTuple):
    group: classic.Group | epochs.EpochGroup
    processes: tuple[Process | None, ...]  # by member number; None: gone
    committed: tuple[int, ...]
    times: tuple[tuple[int, ...], ...]  # by partition and offset: how often processed
    left: tuple[int, ...]  # budget of each fault
    returns: int
    stored: tuple[int, ...] = ()  # offsets in a store of the application's own


class Event(NamedTuple):
    name: str
    member: int
    how: str = ""

    def text(self) -> str:
        return f"{self.name} m{self.member} {self.how}".rstrip()


def generation_of(group: classic.Group | epochs.EpochGroup, number: int) -> int:
    return group.generation if isinstance(group, classic.Group) else epochs.member(group, number).epoch


def is_member(state: State, number: int) -> bool:
    group = state.group
    return classic.knows(group, number) if isinstance(group, classic.Group) else epochs.knows(group, number)


def living(state: State) -> list[int]:
    """Those that take part in rebalances."""
    return [
        number
        for number, one in enumerate(state.processes)
        if one is not None and not one.out and not one.alone
    ]


def dead(state: State) -> list[int]:
    """Members whose process is gone and whose session is not over."""
    return [n for n, one in enumerate(state.processes) if one is None and is_member(state, n)]


def process_of(state: State, number: int) -> Process:
    one = state.processes[number]
    if one is None:
        raise KeyError(number)
    return one


def put(state: State, number: int, one: Process | None) -> State:
    processes = state.processes
    return state._replace(processes=(*processes[:number], one, *processes[number + 1 :]))


def without(state: State, number: int) -> State:
    return put(state, number, None)


def spend(state: State, fault: str) -> State:
    place = FAULTS.index(fault)
    left = state.left
    return state._replace(left=(*left[:place], left[place] - 1, *left[place + 1 :]))
