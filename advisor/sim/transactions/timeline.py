"""Transactions on a clock: the same transition rules, with time choosing the events.

One producer opens a transaction at 0 and works on it; a second writes without transactions, a record every
`gap_ms`; a reader takes whatever it is shown at once. The coordinator looks for transactions that are older
than their timeout every `check_ms` (TransactionCoordinator.startup, abortTimedOutTransactions: older, not
as old), so the end of an abandoned transaction is known only within that interval: `check_at_ms` is when it
looks first.

Taken as instant, since they are milliseconds beside timeouts of seconds: the requests to the coordinator
and to the partition, and the markers. The coordinator and the partition's leader are up all along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...tuples import NamedTuple
from ..search.verdict import Step, Trace
from .questions import plain, state_of
from .step import ABORT, Event, TransactionPolicy, enabled, initial, last_stable_offset, step


class Plan(NamedTuple):
    """What happens when, in milliseconds from the begin of the transaction. None: it never does."""

    timeout_ms: int
    check_ms: int
    check_at_ms: int
    work_ms: int  # from begin to the commit
    crash_ms: int | None = None
    restart_ms: int | None = None  # the producer is back, under the same transactional id
    gap_ms: int = 1_000
    until_ms: int = 60_000


class Told(NamedTuple):
    """What a run comes to. `pinned_ms`: how long the last stable offset stood at the transaction's first
    record, None if it still does; `hidden`: records of others that waited behind it; `fate` of the
    transaction: commit, abort or nothing yet; `errors`: what its producer was told."""

    steps: Trace  # each with its instant
    pinned_ms: int | None
    hidden: int
    fate: str
    errors: tuple[str, ...]


def in_time(policy: TransactionPolicy, plan: Plan) -> Told:
    """The plan's run, event by event, each at its instant."""
    clock = policy._replace(outlasts=False)  # when a transaction expires is the clock's to say
    others = 0 if plan.gap_ms <= 0 else plan.until_ms // plan.gap_ms
    state = initial(clock, {"producer_crash": 1}, works=2, others=others)
    steps: list[Step] = []
    errors: list[str] = []
    released: int | None = None

    def happen(at: int, event: Event) -> bool:
        nonlocal state
        if event not in tuple(enabled(clock, state)):
            return False
        state, effects = step(clock, state, event)
        last = steps[-1] if steps else None
        seen = state_of(clock, state)
        if event.name == "read" and last is not None and last.event["name"] == "read" and last.t_ms == at:
            # What is read in one instant is one line.
            steps[-1] = last._replace(effects=(*last.effects, *effects), state=seen)
        else:
            steps.append(Step(len(steps) + 1, plain(event), effects, seen, at))
        errors.extend(effect for effect in effects if effect.startswith("fenced p0"))
        return True

    for at, event in _agenda(plan):
        if event.name == "check":
            if state.phase == "ongoing" and at > plan.timeout_ms:
                happen(at, Event("expire"))
        else:
            happen(at, event)
        happen(at, Event("mark"))
        while happen(at, Event("read")):
            pass
        if released is None and state.log and last_stable_offset(clock, state) == len(state.log):
            released = at
    return Told(tuple(steps), released, _waited(steps), state.fates[0], tuple(errors))


def _agenda(plan: Plan) -> Iterator[tuple[int, Event]]:
    """Every instant at which something may happen, in order; at one instant in the order of the list."""
    found = [(0, 0, Event("begin", "p0")), (0, 1, Event("send", "r0")), (0, 2, Event("write", "r0"))]
    if plan.crash_ms is not None:
        found.append((plan.crash_ms, 3, Event("producer_crash")))
    if plan.restart_ms is not None:
        found.append((plan.restart_ms, 4, Event("take_over")))
    found.append((plan.work_ms, 5, Event("commit", "p0")))
    # Of the coordinator's looks only the first after the timeout can find anything.
    late = plan.timeout_ms + 1 - plan.check_at_ms
    look = plan.check_at_ms + plan.check_ms * max(0, -(-late // plan.check_ms))
    found.append((look, 6, Event("check")))
    if plan.gap_ms > 0:
        times = range(plan.gap_ms, plan.until_ms + 1, plan.gap_ms)
        found += [(at, 7, Event("other", f"o{number}")) for number, at in enumerate(times)]
    for at, _, event in sorted(found):
        if at <= plan.until_ms:
            yield at, event


def _waited(steps: Sequence[Step]) -> int:
    """Records of others that could not be read in the instant in which they were written."""
    written = {one.event["record"]: one.t_ms for one in steps if one.event["name"] == "other"}
    at_once = [
        effect
        for one in steps
        if one.event["name"] == "read"
        for effect in one.effects
        if written.get(effect.partition(" ")[2]) == one.t_ms
    ]
    return len(written) - len(at_once)


def pinned_range(policy: TransactionPolicy, timeout_ms: int, check_ms: int) -> tuple[int, int]:
    """The least and the most that an abandoned transaction holds the last stable offset, by when the
    coordinator happens to look: the instants just after the timeout, and exactly at it."""
    found = []
    for at in (timeout_ms + 1, timeout_ms):
        # The first look of its grid that can matter; earlier ones find nothing.
        plan = Plan(
            timeout_ms,
            check_ms,
            check_at_ms=at,
            work_ms=timeout_ms + 2 * check_ms,
            crash_ms=0,
            gap_ms=0,
            until_ms=timeout_ms + 2 * check_ms,
        )
        told = in_time(policy, plan)
        assert told.fate == ABORT
        assert told.pinned_ms is not None
        found.append(told.pinned_ms)
    return min(found), max(found)
