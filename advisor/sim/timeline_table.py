"""How long things take: one table of ranges for every schedule, and the grid of phases it is run over.

What a schedule leaves open (where in its heartbeat interval a broker dies, how long a fetch takes) is known
within ranges only. A `Phase` is one choice of them all; `GRID` is the fixed list of choices, both ends and
the middle of every range, mixed so that ends which work against each other meet. No choice depends on the
schedule. Times are microseconds. Each range says whether it was measured on real clusters or is an estimate
that still wants a measurement.
"""

from __future__ import annotations

from typing import NamedTuple

MILLISECOND = 1_000
SECOND = 1_000_000

# A broker's last heartbeat is up to an interval old when it dies: that part of the interval, and how much
# later than the session's end the controller acts (BrokerHeartbeatManager.nextCheckTimeNs: at once, when it
# is idle). With a session of 6 s and heartbeats every second, 31 kills (4.3 and 3.9) took 5.04 to 6.65 s.
HEARTBEAT_AGE = (1.0, 0.1, 0.0)
FENCE_LATE = (40 * MILLISECOND, 100 * MILLISECOND, 660 * MILLISECOND)
# ReplicaManager's isr-expiration task runs every replica.lag.time.max.ms / 2: a follower leaves after 1.0 to
# 1.5 of it (measured: 1.08 to 1.43).
SHRINK_RATIO = (1.0, 1.25, 1.5)
# One way over the network, and one leg of a follower's fetch (replica.fetch.min.bytes is 1: a parked fetch is
# answered with the append). Estimates for one machine: below a millisecond when it is idle, some when it is
# busy; what exceeds them is a stall, below.
NETWORK = (300, 700, 1_500)
FETCH = (300, 900, 2_000)
# From the controller's write to a broker acting on it. KRaft: the broker's fetch of the metadata log is
# parked at the controller and answered with the write (KafkaRaftClient), then MetadataLoader hands it on;
# ZooKeeper: a LeaderAndIsr request. Both at once but for their queues: an estimate.
NOTIFY = (2 * MILLISECOND, 8 * MILLISECOND, 25 * MILLISECOND)
# From the start of a process to its registration: 2 to 10 s in the recorded histories.
BOOT = (2 * SECOND, 4 * SECOND, 9 * SECOND)
# A clean stop: controlled shutdown, then flush and close; 0.4 to 1.9 s in the recorded schedules.
STOP = (400 * MILLISECOND, 800 * MILLISECOND, 1_900 * MILLISECOND)
# A thawed or healed broker is heard of by the controller with its next heartbeat: a part of the interval
# (BrokerLifecycleManager.scheduleNextCommunicationAfterSuccess).
HEARTBEAT = (0.05, 0.5, 1.0)

# A process that was stopped for seconds first works off what waited for it: so long it goes by the metadata
# it had, and for half of it answers nobody. A thawed leader took up to 39 records at 100 a second before it
# knew that it led no more (4.3).
CATCH_UP = (0, 100 * MILLISECOND, 400 * MILLISECOND)

# A killed process keeps its sockets until the kernel has taken it apart, while its clients send and nobody
# answers: the recorded kills took 50 to 150 ms.
DEATH = (5 * MILLISECOND, 50 * MILLISECOND, 120 * MILLISECOND)
# A broker that is told of a new leader takes nothing of the partition while it applies that
# (Partition.leaderIsrUpdateLock). How long is inferred from the order in which records were stored around
# clean stops; it was not measured by itself.
APPLY = (0, 20 * MILLISECOND, 60 * MILLISECOND)
# A network is not cut in an instant: the last follower is cut off first, the others this much later. The
# recorded cuts took 30 to 270 ms.
CUTTING = (0, 30 * MILLISECOND, 120 * MILLISECOND)
# TCP sends again what is not confirmed after the round trip and 200 ms at the least (Linux: TCP_RTO_MIN),
# then after twice that, and so on: followers cut off for 3.1 s were back after 3.2 s or 6.7 s (4.3).
RESEND = (202 * MILLISECOND, 215 * MILLISECOND, 235 * MILLISECOND)
# socket.connection.setup.timeout.ms, its default, and what ClusterConnectionStates makes of it: up to a fifth
# more or less. 8.3 to 9.9 s in the logs of brokers that were cut off.
SETUP = (8 * SECOND, 10 * SECOND, 12 * SECOND)
# On a busy machine a thread may wait that long for a processor just before a fault: a follower between
# writing one answer and asking for the next, or a leader between an append and its answer. Around kills at
# 100 records a second followers were 0 to 8 records behind, and 0 to 5 requests were stored or waiting
# unanswered (4.3).
STALL = (0, 8 * MILLISECOND, 40 * MILLISECOND)
FETCHES, ANSWERS = "fetches", "answers"
# send() after send() in a loop, and until the sender thread wakes up: ten records are one batch or several.
# The recorded loops of ten took 1 to 50 ms; the waking is an estimate.
PACE = (20, 200, 2_000)
WAKE = (0, 300, 1_000)

# Requests that a broker still takes from a connection after its client closed it: what its selector had read
# or reads in one go. A thawed leader took 2 in 10 of 10 observations; one whose followers were cut off took
# the first and 2 more (6 copies and 1 descent of five records over two such connections and a third).
STALE_REQUESTS = 2
# ExponentialBackoff spreads a retry's backoff by 20 % either way, up to its maximum (KIP-580, in the producer
# from 3.7); where the maximum is the first interval it does not (seen with the classes of 3.9 and 4.3).
# Batches take these in turn; Kafka draws anew at every look (RecordAccumulator.shouldBackoff).
JITTER = (1.0, 0.8, 1.15, 0.9, 1.2, 0.85, 1.1)
# replica.fetch.wait.max.ms, its default: how long a fetch that finds nothing is parked at the leader.
FETCH_WAIT = 500 * MILLISECOND


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
    _phase((2, 1), (1, 0), (1, 1), (1, 1, 1, 0), (1, 1, 1, 1), 1_900, stall=ANSWERS, stalled=2),
    _phase((1, 0), (0, 1), (2, 0), (0, 2, 2, 1), (0, 0, 0, 0), 9_000, stall=ANSWERS, stalled=1),
)
"""Over 118 schedules under load these meet whatever at least 6 in 100 choices made at random meet."""
