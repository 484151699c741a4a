"""A group on a clock: its settings as times, and the ranges of what no setting says.

What a schedule leaves open (where in its heartbeat interval a member dies, how its random member id sorts)
is known within ranges only. A `Phase` is one choice of them all, `GRID` the fixed list of choices: no choice
depends on the schedule. Times are milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .consumer import EARLIEST, Reading

if TYPE_CHECKING:
    from .group_plans import OwnAssignors

# One request and its answer, with what client and broker do about it. Rebalances among idle members took 80
# to 90 ms from the last join to the new assignment on the recorded clusters: a join, a sync and a callback.
ROUND_TRIP = (10, 25, 40)
# From the start of a client's process to its first join; and of a consumer in a process that runs. The
# recorded restarts took 1 to 3 s until the assignment.
BOOT = (900, 1_500, 2_600)
OPEN = (50, 150, 300)
RETRY_BACKOFF = 100  # retry.backoff.ms
# The heartbeat thread looks at the poll timer at least this often (AbstractCoordinator.HeartbeatThread waits
# retry.backoff.ms), and so does a poll() that still lacks a position.
POLL_TIMER = (10, 60, 110)
# A heartbeat goes out when the interval since the last one is over and its thread has woken up, so every
# one is a little later than the clock: after a kill the survivors' heartbeats therefore come just after the
# end of the dead member's session, not just before (reassignment took 0.88 to 0.98 of it in 8 kills).
BEAT_DRIFT = 3
# A broker that dies is fenced when broker.session.timeout.ms is over since its last heartbeat, which was that
# part of an interval ago, and somewhat later (as in timeline_table.py, here in milliseconds). One that stops
# in good order hands over before it ends.
HEARTBEAT_AGE = (1.0, 0.1, 0.0)
FENCE_LATE = (40, 100, 660)
HANDED_OVER = (100, 400, 1_500)
# The new leader of a partition of __consumer_offsets reads it before it answers.
LOADING = (10, 60, 300)
# A client without a coordinator asks again after retry.backoff.ms, doubled up to retry.backoff.max.ms.
FINDING = (20, 400, 1_100)
# A fetch waits at a broker until something is written there for it, at most replica.fetch.wait.max.ms or
# fetch.max.wait.ms (both 500), and holds up what comes after it on its connection. So followers begin to
# fetch an added partition that late: until then its high watermark stands still, nothing in it can be read,
# and `latest` takes its beginning for its end. And a consumer that fetches from a broker is told that late
# where another partition of that broker ends.
FOLLOWED = (20, 250, 520)
PARKED = (0, 150, 450)
BROKERS = 3  # lead in turn; at each another fetch waits, the last one longest
# How long an empty poll of an application takes before it calls poll() again, and the pause of a loop that
# has nothing to do between two polls.
LOOP = 1


class Phase(NamedTuple):
    beat: float = 0.5  # where in its heartbeat interval a member is when a fault hits
    age: float = 0.5  # where in metadata.max.age.ms the group's leader is when partitions are added
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


GRID: tuple[Phase, ...] = tuple(
    Phase(
        beat=(0.0, 0.3, 0.5, 0.7, 0.95)[(place + shift) % 5],
        age=(0.0, 0.3, 0.5, 0.7, 1.0)[place],
        round_trip=ROUND_TRIP[(place + shift) % 3],
        boot=BOOT[(place + 2 * shift) % 3],
        open=OPEN[(place + shift) % 3],
        timer=POLL_TIMER[place % 3],
        order=shift if shift < 3 else shift + place,
        late=place % 2 == 1,
        followed=FOLLOWED[(2 * place + shift) % 3],
        parked=PARKED[(place + 2 * shift) % 3],
        slow=(place + shift) % 3,
    )
    for shift in range(4)
    for place in range(5)
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
