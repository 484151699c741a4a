"""A consumer that reads from a follower of its own rack (KIP-392): is a record passed over on the way?

The smallest model that can do it: a leader, one follower, one consumer, three records. An adversary chooses
when records are written, copied and read, when the leader sends the consumer to the follower and when it
comes back.

    produce          the leader appends
    copy             the follower fetches: its request tells the leader how far it was (the high watermark
                     moves), the answer brings the rest and that high watermark
    direct           the leader answers a fetch with the follower's id: only one that is in sync and holds the
                     consumer's position (ReplicaManager.findPreferredReadReplica)
    read             at the leader up to its high watermark, at the follower up to the follower's own
    return           the lease of metadata.max.age.ms is over: the consumer asks the leader again
    expire_follower  fault: the follower deletes a record that the leader still has
    wipe_follower    fault: the follower comes back empty

A position that a follower does not have is no reason for a reset: the client forgets the follower and asks
the leader (FetchCollector). A client that would reset is kept as a policy: the search must find its loss.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....tuples import NamedTuple
from ...search.explore import STATES_MAX, explore
from ...search.small_models import effect_seen
from ..consumer import LATEST

RECORDS = 3
FAULTS = ("expire_follower", "wipe_follower")
BOUNDS = f"a leader, a follower, a consumer, {RECORDS} records"


class Policy(NamedTuple):
    returns: bool = True  # out of range at a follower sends the client back to the leader
    reset: str = LATEST


class State(NamedTuple):
    end: int = 0  # the leader's log
    high: int = 0
    follower_start: int = 0
    follower_end: int = 0
    follower_high: int = 0
    in_sync: bool = True
    position: int = 0
    at_follower: bool = False
    read: frozenset[int] = frozenset()
    left: tuple[int, ...] = (1,) * len(FAULTS)


class Answer(NamedTuple):
    verdict: str
    reason: str
    run: tuple[str, ...]
    states: int
    witnesses: tuple[str, ...]


def enabled(policy: Policy, state: State) -> Iterable[str]:
    if state.end < RECORDS:
        yield "produce"
    yield "copy"
    yield "read"
    if state.at_follower:
        yield "return"
    elif state.in_sync and state.follower_start <= state.position <= state.follower_end:
        yield "direct"
    if state.left[0] and state.follower_start < state.follower_high:
        yield "expire_follower"
    if state.left[1] and state.follower_end > 0:
        yield "wipe_follower"


def step(policy: Policy, state: State, event: str) -> tuple[State, tuple[str, ...]]:
    match event:
        case "produce":
            end = state.end + 1
            return state._replace(end=end, high=state.high if state.in_sync else end), ()
        case "copy":
            return _copy(state)
        case "direct":
            return state._replace(at_follower=True), ("sent to the follower",)
        case "return":
            return state._replace(at_follower=False), ()
        case "read":
            return _read(policy, state)
        case "expire_follower":
            left = (state.left[0] - 1, state.left[1])
            return state._replace(follower_start=state.follower_start + 1, left=left), ()
        case "wipe_follower":
            left = (state.left[0], state.left[1] - 1)
            empty = state._replace(follower_start=0, follower_end=0, follower_high=0, left=left)
            return empty._replace(
                in_sync=state.high == 0, high=state.high if state.high == 0 else state.end
            ), ()
    raise ValueError(f"no event of follower reads is called {event!r}")


def _copy(state: State) -> tuple[State, tuple[str, ...]]:
    """One fetch of the follower. What the leader learns is how far it was before."""
    in_sync = state.in_sync or state.follower_end >= state.high
    high = max(state.high, min(state.end, state.follower_end)) if in_sync else state.end
    follower_high = min(state.end, high)
    moved = (f"high watermark {high}",) if high != state.high else ()
    told = (f"the follower's {follower_high}",) if follower_high != state.follower_high else ()
    after = state._replace(in_sync=in_sync, high=high, follower_end=state.end, follower_high=follower_high)
    return after, (*moved, *told)


def _read(policy: Policy, state: State) -> tuple[State, tuple[str, ...]]:
    if not state.at_follower:
        return _take(state, state.high)
    if state.follower_start <= state.position <= state.follower_end:
        return _take(state, state.follower_high)
    if policy.returns:
        return state._replace(at_follower=False), ("out of range: back to the leader",)
    place = state.high if policy.reset == LATEST else 0
    return state._replace(position=place), (f"out of range: reset to {place}",)


def _take(state: State, limit: int) -> tuple[State, tuple[str, ...]]:
    if limit <= state.position:
        return state, ()
    taken = range(state.position, limit)
    effects = tuple(f"read r{offset}" for offset in taken)
    return state._replace(position=limit, read=state.read | frozenset(taken)), effects


def passed_over(state: State) -> str | None:
    for offset in range(state.position):
        if offset not in state.read:
            return f"r{offset} is in the leader's log and was passed over"
    return None


def read_too_early(state: State) -> str | None:
    """A record that a failover might still take away."""
    early = sorted(offset for offset in state.read if offset >= state.high)
    return f"r{early[0]} was read above the leader's high watermark" if early else None


def no_record_skipped(policy: Policy) -> Answer:
    """Every run within the bounds: is a record passed over, or read before it is committed?"""

    def successors(state: State) -> Iterable[tuple[str, tuple[str, ...], State]]:
        for event in enabled(policy, state):
            after, effects = step(policy, state, event)
            yield event, effects, after

    def broken(state: State) -> str | None:
        return passed_over(state) or read_too_early(state)

    expected = {
        "the consumer is sent to the follower": effect_seen("sent to"),
        "a record is read": effect_seen("read"),
        "the follower is out of range": effect_seen("out of range"),
    }
    found = explore(State(), successors, broken, states_max=STATES_MAX, witnesses=expected)
    seen = tuple(name for name in expected if name in found.witnessed)
    if found.run is not None and found.reason is not None:
        return Answer("broken", found.reason, tuple(found.run), found.states, seen)
    if found.stopped or len(seen) < len(expected):
        return Answer("unknown", "not every witness was seen", (), found.states, seen)
    return Answer("holds", "", (), found.states, seen)
