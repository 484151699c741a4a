"""A group on a clock: its settings as times, and the grid of phases it is run over.

What a schedule leaves open (where in its heartbeat interval a member dies, how its random member id sorts)
is known within ranges only. A `Phase` is one choice from every range of `ranges`, `GRID` the fixed list of
choices: no choice depends on the schedule. A group's clock counts milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....tuples import NamedTuple
from ... import ranges
from ..consumer import EARLIEST, Reading

if TYPE_CHECKING:
    from ..plans import OwnAssignors


def _in_ms(times: ranges.Range) -> ranges.Range:
    least, usual, most = (ranges.in_ms(value) for value in times)
    return least, usual, most


ROUND_TRIP = _in_ms(ranges.ROUND_TRIP)
BOOT = _in_ms(ranges.CLIENT_BOOT)
OPEN = _in_ms(ranges.OPEN)
POLL_TIMER = _in_ms(ranges.POLL_TIMER)
FENCE_LATE = _in_ms(ranges.FENCE_LATE)
HANDED_OVER = _in_ms(ranges.HANDED_OVER)
LOADING = _in_ms(ranges.LOADING)
FINDING = _in_ms(ranges.FINDING)
FOLLOWED = _in_ms(ranges.FOLLOWED)
PARKED = _in_ms(ranges.PARKED)
BEAT_DRIFT = ranges.in_ms(ranges.BEAT_DRIFT)
RETRY_BACKOFF = ranges.in_ms(ranges.RETRY_BACKOFF)
LOOP = ranges.in_ms(ranges.LOOP)


class Phase(NamedTuple):
    beat: float = 0.5  # where in its heartbeat interval a member is when a fault hits
    # Of several faults one after the other: how much further in that interval each finds the member.
    further: float = 0.5
    age: float = 0.5  # where in metadata.max.age.ms the group's leader is when partitions are added
    # Whether heartbeats are where that age says: all began with the first member, its metadata is of that
    # moment, and every rebalance since was told by a heartbeat of it. Or the two have drifted apart.
    in_step: bool = False
    round_trip: int = ROUND_TRIP[1]
    boot: int = BOOT[1]
    open: int = OPEN[1]
    timer: int = POLL_TIMER[1]
    # Member ids are random: they sort by the order of joining (0), against it (1), with the newest in the
    # middle (2), or in no order at all (3 and more, each another one).
    order: int = 0
    late: bool = False  # an auto-commit of the consumer protocol carries what its poll returns
    followed: int = FOLLOWED[1]  # how long nothing in an added partition can be read
    parked: int = PARKED[1]  # how long a question waits behind a fetch
    slow: int = 1  # how soon another broker coordinates: the place in HEARTBEAT_AGE and the ranges after it


def _mixed(place: int, shift: int, in_step: bool) -> Phase:
    """Neighbours along `place` differ in every range."""
    order = shift if shift < 3 else shift + place
    age = (0.0, 0.3, 0.5, 0.7, 1.0)[place]
    further = age / 3 + order / 5 if in_step else age + order / 8
    return Phase(
        beat=(0.0, 0.3, 0.5, 0.7, 0.95)[(place + shift) % 5],
        further=further,
        age=age,
        in_step=in_step,
        round_trip=ROUND_TRIP[(place + shift) % 3],
        boot=BOOT[(place + 2 * shift) % 3],
        open=OPEN[(place + shift) % 3],
        timer=POLL_TIMER[place % 3],
        order=order,
        late=place % 2 == 1,
        followed=FOLLOWED[(2 * place + shift) % 3],
        parked=PARKED[(place + 2 * shift) % 3],
        slow=(place + shift) % 3,
    )


def _corner(beat: float, timer: int, end: int, order: int) -> Phase:
    """The least, or the most, of what a rebalance is made of."""
    return Phase(beat=beat, timer=timer, round_trip=ROUND_TRIP[end], open=OPEN[end], order=order)


GRID: tuple[Phase, ...] = (
    *(_mixed(place, shift, in_step) for in_step in (False, True) for shift in range(4) for place in range(5)),
    *(
        _corner(beat, timer, end, order)
        for order, end in ((0, 0), (1, -1))
        for timer in (POLL_TIMER[-1], POLL_TIMER[0])
        for beat in (0.0, 0.15)
    ),
)


class GroupSetup(NamedTuple):
    """One group: what its members and its brokers are set to."""

    protocol: str = "classic"
    strategies: tuple[str, ...] = ("range", "cooperative-sticky")
    own: OwnAssignors | None = None  # the functions behind strategies that are not Kafka's
    partitions: int = 1
    topics: tuple[int, ...] = ()  # partitions of each topic, if there are several
    session_ms: int = 45_000
    heartbeat_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    initial_delay_ms: int = 3_000
    assignment_interval_ms: int = 0  # least time between two targets of KIP-848; Kafka 4.3 has 1 s
    metadata_max_age_ms: int = 300_000
    request_timeout_ms: int = 30_000
    api_timeout_ms: int = 60_000  # default.api.timeout.ms, how long a synchronous commit is tried
    broker_session_ms: int = 9_000  # broker.session.timeout.ms
    broker_heartbeat_ms: int = 2_000  # broker.heartbeat.interval.ms
    reset: str = EARLIEST
    reset_duration_ms: int = 0  # of by_duration
    reading: Reading = Reading()
    auto_commit_interval_ms: int = 5_000
    process_ms: float = 0  # per record
    listener_ms: int = 0  # work done inside the rebalance listener, on a revocation
    session_bounds_ms: tuple[int, int] = (0, 2**31 - 1)  # what the brokers let a classic member ask for

    @property
    def cooperative(self) -> frozenset[str]:
        """The strategies under which members keep what they read while they join (KIP-429)."""
        kept = frozenset({"cooperative-sticky"})
        return kept if self.own is None else kept | self.own.cooperative

    @property
    def eager(self) -> bool:
        return self.protocol == "classic" and not self.cooperative.issuperset(self.strategies)


class Absence(NamedTuple):
    """`idle_ms`: a standalone consumer commits nothing for that long, because nothing is written, and is then
    restarted; else the group is away for `away_ms`."""

    away_ms: int
    offsets_ms: int | None = None  # how long offsets are kept
    records_ms: int | None = None  # how long records are kept
    idle_ms: int = 0


class FetchSetup(NamedTuple):
    """A consumer's fetches of one partition, and what is written to it."""

    min_bytes: int = 1
    max_wait_ms: int = 500
    request_timeout_ms: int = 30_000
    bytes_per_second: float = 0
    record_bytes: int = 1
