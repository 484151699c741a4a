"""How long things take: the one table of ranges, for brokers, producers and consumer groups alike.

What a schedule leaves open (where in its heartbeat interval a broker dies, how long a fetch takes) is known
within ranges only. Each range is its least, a usual and its most, in microseconds; a share of an interval is
a number from 0 to 1. A comment says where a range comes from: a range that was measured is as wide as it was
seen, and one that is an estimate says so. `timeline_table` and `group_phases` choose from this table, and
nothing else does.
"""

from __future__ import annotations

Range = tuple[int, int, int]
Shares = tuple[float, float, float]

MILLISECOND = 1_000
SECOND = 1_000_000


def in_ms(value: int) -> int:
    """A time of this table on a clock of whole milliseconds."""
    return value // MILLISECOND


def _ms(least: int, usual: int, most: int) -> Range:
    return least * MILLISECOND, usual * MILLISECOND, most * MILLISECOND


# -- brokers and their controller --------------------------------------------------------------------------

# A broker's last heartbeat is up to an interval old when it dies: that part of the interval, and how much
# later than the session's end the controller acts (BrokerHeartbeatManager.nextCheckTimeNs: at once, when it
# is idle). With a session of 6 s and heartbeats every second, 31 kills (4.3 and 3.9) took 5.04 to 6.65 s:
# the soonest fence is the one with the oldest heartbeat.
HEARTBEAT_AGE: Shares = (1.0, 0.1, 0.0)
FENCE_LATE = _ms(40, 100, 660)
# ReplicaManager's isr-expiration task runs every replica.lag.time.max.ms / 2: a follower leaves after 1.0 to
# 1.5 of it (measured: 1.08 to 1.43).
SHRINK_RATIO: Shares = (1.0, 1.25, 1.5)
# One way over the network, and one leg of a follower's fetch (replica.fetch.min.bytes is 1: a parked fetch is
# answered with the append). Estimates for one machine: below a millisecond when it is idle, some when it is
# busy; what exceeds them is a stall, below.
NETWORK: Range = (300, 700, 1_500)
FETCH: Range = (300, 900, 2_000)
# From the controller's write to a broker acting on it. KRaft: the broker's fetch of the metadata log is
# parked at the controller and answered with the write (KafkaRaftClient), then MetadataLoader hands it on;
# ZooKeeper: a LeaderAndIsr request. Both at once but for their queues: an estimate.
NOTIFY = _ms(2, 8, 25)
# From the start of a process to its registration: 2 to 10 s in the recorded histories.
BOOT = _ms(2_000, 4_000, 10_000)
# A clean stop: controlled shutdown, then flush and close. 39 recorded stops took 0.4 to 6.4 s, all but 4 of
# them at most 2.7 s.
STOP = _ms(400, 900, 6_400)
# A thawed or healed broker is heard of by the controller with its next heartbeat: a part of the interval
# (BrokerLifecycleManager.scheduleNextCommunicationAfterSuccess).
HEARTBEAT: Shares = (0.05, 0.5, 1.0)
# A process that was stopped for seconds first works off what waited for it: so long it goes by the metadata
# it had, and for half of it answers nobody. A thawed leader took up to 39 records at 100 a second before it
# knew that it led no more (4.3).
CATCH_UP = _ms(0, 100, 400)
# A killed process keeps its sockets until the kernel has taken it apart, while its clients send and nobody
# answers. 74 recorded kills took 31 ms to 1.33 s until the process was gone, all but 3 of them at most
# 340 ms; its sockets may go well before.
DEATH = _ms(5, 80, 1_331)
# A broker that is told of a new leader takes nothing of the partition while it applies that
# (Partition.leaderIsrUpdateLock). How long is inferred from the order in which records were stored around
# clean stops; it was not measured by itself.
APPLY = _ms(0, 20, 60)
# A network is not cut in an instant: the last follower is cut off first, the others this much later. 32
# recorded cuts took 5 to 271 ms from the first rule to the last.
CUTTING = _ms(0, 30, 271)
# TCP sends again what is not confirmed after the round trip and 200 ms at the least (Linux: TCP_RTO_MIN),
# then after twice that, and so on: followers cut off for 3.1 s were back after 3.2 s or 6.7 s (4.3).
RESEND = _ms(202, 215, 235)
# socket.connection.setup.timeout.ms, its default, and what ClusterConnectionStates makes of it: up to a fifth
# more or less. 8.3 to 9.9 s in the logs of brokers that were cut off.
SETUP = _ms(8_000, 10_000, 12_000)
# On a busy machine a thread may wait that long for a processor just before a fault: a follower between
# writing one answer and asking for the next, or a leader between an append and its answer. Around kills at
# 100 records a second followers were 0 to 8 records behind, and 0 to 5 requests were stored or waiting
# unanswered (4.3): up to 80 ms of fetches, and about the middle of that range of answers.
STALL = _ms(0, 40, 80)

# Requests that a broker still takes from a connection after its client closed it: what its selector had read
# or reads in one go. A thawed leader took 2 in 10 of 10 observations; one whose followers were cut off took
# the first and 2 more (6 copies and 1 descent of five records over two such connections and a third).
STALE_REQUESTS = 2
# replica.fetch.wait.max.ms, its default: how long a fetch that finds nothing is parked at the leader.
FETCH_WAIT = 500 * MILLISECOND

# -- producers ---------------------------------------------------------------------------------------------

# send() after send() in a loop, and until the sender thread wakes up: ten records are one batch or several.
# The recorded loops of ten took 1 to 50 ms, the first of them with a question for metadata; a loop that runs
# hot is faster. The waking is an estimate.
PACE: Range = (20, 200, 5_000)
WAKE: Range = (0, 300, 1_000)
# ExponentialBackoff spreads a retry's backoff by 20 % either way, up to its maximum (KIP-580, in the producer
# from 3.7); where the maximum is the first interval it does not (seen with the classes of 3.9 and 4.3).
# Batches take these in turn; Kafka draws anew at every look (RecordAccumulator.shouldBackoff).
JITTER = (1.0, 0.8, 1.15, 0.9, 1.2, 0.85, 1.1)

# -- consumers and their coordinator -----------------------------------------------------------------------

# One request and its answer, with what client and broker do about it. Rebalances among idle members took 80
# to 90 ms from the last join to the new assignment on the recorded clusters: a join, a sync and a callback,
# two and a half of these. A single request of an idle client is faster: an estimate.
ROUND_TRIP = _ms(10, 25, 40)
# From the start of a client's process to its first join: the recorded restarts took 1 to 3 s until the
# assignment, of which the join and its rebalance are about 100 ms.
CLIENT_BOOT = _ms(900, 1_500, 2_900)
# The same of a consumer in a process that runs: an estimate.
OPEN = _ms(50, 150, 300)
# The heartbeat thread looks at the poll timer at least this often (AbstractCoordinator.HeartbeatThread waits
# retry.backoff.ms), and so does a poll() that still lacks a position.
POLL_TIMER = _ms(10, 60, 110)
# A heartbeat goes out when the interval since the last one is over and its thread has woken up, so every
# one is a little later than the clock: after a kill the survivors' heartbeats therefore come just after the
# end of the dead member's session, not just before (reassignment took 0.88 to 0.98 of it in 8 kills).
BEAT_DRIFT = 3 * MILLISECOND
# A broker that coordinates groups and stops in good order hands them over before it ends: within STOP, and
# how soon is an estimate. (One that dies is fenced as any broker is.)
HANDED_OVER = _ms(100, 400, 1_500)
# The new leader of a partition of __consumer_offsets reads it before it answers: an estimate.
LOADING = _ms(10, 60, 300)
# A client without a coordinator asks again after retry.backoff.ms, doubled up to retry.backoff.max.ms
# (1 s), each spread by 20 %.
FINDING = _ms(20, 400, 1_200)
# A fetch waits at a broker until something is written there for it, at most replica.fetch.wait.max.ms or
# fetch.max.wait.ms (both 500), and holds up what comes after it on its connection. So followers begin to
# fetch an added partition that late: until then its high watermark stands still, nothing in it can be read,
# and `latest` takes its beginning for its end. And a consumer that fetches from a broker is told that late
# where another partition of that broker ends.
FOLLOWED = _ms(0, 250, 520)
PARKED = _ms(0, 150, 500)
BROKERS = 3  # lead in turn; at each another fetch waits, the last one longest
RETRY_BACKOFF = 100 * MILLISECOND  # retry.backoff.ms
# How long an empty poll of an application takes before it calls poll() again, and the pause of a loop that
# has nothing to do between two polls: an estimate.
LOOP = 1 * MILLISECOND
