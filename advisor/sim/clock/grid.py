"""The grid of phases that a schedule of faults is run over.

A `Phase` is one choice from every range of `ranges`; `GRID` is the fixed list of choices, both ends and the
middle of every range, mixed so that ends which work against each other meet. No choice depends on the
schedule. Times are microseconds.
"""

from __future__ import annotations

from ...tuples import NamedTuple
from ..ranges import (
    APPLY,
    BOOT,
    CATCH_UP,
    CUTTING,
    DEATH,
    FENCE_LATE,
    FETCH,
    HEARTBEAT,
    HEARTBEAT_AGE,
    NETWORK,
    NOTIFY,
    PACE,
    RESEND,
    SETUP,
    SHRINK_RATIO,
    STALL,
    STOP,
    WAKE,
)

# What may have stalled when a fault comes.
FETCHES, ANSWERS = "fetches", "answers"


class Phase(NamedTuple):
    """One choice from every range."""

    heartbeat_age: float
    fence_late: int
    shrink_ratio: float
    network: int
    fetch: int
    # The new leader acts on its election, and the old one on its dismissal, each after a time of its own.
    notify_leader: int
    notify_others: int
    boot: int
    stop: int
    heartbeat: float
    catch_up: int
    death: int
    apply: int
    cutting: int
    resend: int
    setup: int
    pace: int
    wake: int
    # Where between two records a fault falls.
    shift: int
    # Whether the client asks the leader itself for metadata, or another broker to which it is connected:
    # NetworkClient.leastLoadedNode begins at a random one and takes that with the fewest requests in flight.
    asks_leader: bool
    # Whether a fetch parked at the moment its follower freezes brings it the next record.
    parked_fetch: bool
    # What has stalled when a fault comes, and for how long.
    stall: str
    stalled: int


def _phase(
    ratios: tuple[int, int],
    speeds: tuple[int, int],
    notify: tuple[int, int],
    lives: tuple[int, int, int, int],
    busy: tuple[int, int, int, int],
    shift: int,
    asks_leader: bool = False,
    parked_fetch: bool = False,
    stall: str = "",
    stalled: int = 0,
) -> Phase:
    """Each number is a place in its range: 0 the least, 2 the most."""
    return Phase(
        HEARTBEAT_AGE[ratios[0]],
        FENCE_LATE[ratios[0]],
        SHRINK_RATIO[ratios[1]],
        NETWORK[speeds[0]],
        FETCH[speeds[1]],
        NOTIFY[notify[0]],
        NOTIFY[notify[1]],
        BOOT[lives[0]],
        STOP[lives[1]],
        HEARTBEAT[lives[2]],
        CATCH_UP[lives[2]],
        DEATH[lives[3]],
        APPLY[busy[0]],
        CUTTING[busy[1]],
        RESEND[speeds[0]],
        SETUP[ratios[1]],
        PACE[busy[2]],
        WAKE[busy[3]],
        shift,
        asks_leader,
        parked_fetch,
        stall,
        STALL[stalled],
    )


GRID: tuple[Phase, ...] = (
    _phase((1, 1), (0, 0), (0, 0), (0, 0, 0, 0), (0, 0, 0, 2), 0),
    _phase((0, 0), (1, 2), (0, 2), (1, 1, 1, 1), (2, 1, 2, 0), 2_600),
    _phase((2, 2), (0, 2), (0, 1), (2, 2, 2, 2), (1, 2, 0, 2), 4_100, asks_leader=True),
    _phase((2, 0), (2, 1), (1, 2), (0, 1, 2, 1), (1, 2, 1, 1), 1_300),
    _phase((0, 2), (1, 0), (1, 0), (1, 0, 1, 2), (2, 0, 2, 0), 3_300, asks_leader=True, parked_fetch=True),
    _phase((1, 0), (0, 2), (2, 0), (0, 2, 0, 0), (0, 1, 1, 1), 6_200),
    _phase((1, 2), (2, 2), (0, 1), (1, 1, 1, 1), (2, 0, 0, 0), 5_200),
    _phase((0, 1), (1, 2), (0, 2), (2, 0, 0, 2), (2, 1, 1, 1), 700, asks_leader=True),
    _phase((1, 1), (0, 1), (1, 2), (1, 0, 2, 1), (0, 0, 1, 0), 7_400, stall=FETCHES, stalled=2),
    _phase(
        (0, 0), (0, 2), (0, 0), (0, 1, 1, 0), (2, 2, 0, 1), 6_500, asks_leader=True, stall=FETCHES, stalled=2
    ),
    _phase((0, 1), (1, 0), (2, 1), (1, 1, 0, 0), (0, 0, 2, 2), 3_100, asks_leader=True),
    _phase((0, 2), (0, 2), (2, 2), (0, 0, 2, 2), (1, 0, 1, 2), 4_000),
    _phase((2, 1), (1, 0), (1, 1), (1, 1, 1, 0), (1, 1, 1, 1), 1_900, stall=ANSWERS, stalled=1),
    _phase((1, 0), (0, 1), (2, 0), (0, 2, 2, 1), (0, 0, 0, 0), 9_000, stall=ANSWERS, stalled=1),
)
"""Over 118 schedules under load these meet whatever at least 6 in 100 choices made at random meet."""
