"""Who controls a cluster, and for how long nobody does (S7): ranges of time, each with what it is made of.

A controller fences silent brokers, elects leaders, writes ISRs and lets brokers register and stop. While
there is none, leaders in office go on writing and everything else waits. Times are microseconds.

KRaft: the voters elect one of them, and only a majority can. ZooKeeper: whoever creates the ephemeral node
/controller first, which is there until the session of the last one ends; any broker may.
"""

from __future__ import annotations

from ...tuples import NamedTuple
from ..ranges import MILLISECOND, SECOND

# KafkaRaftClient.MAX_FETCH_WAIT_MS: a voter's fetch finds nothing and is parked for so long, so its last
# answer is up to that old when the active controller dies.
FETCH_PARKED = 500 * MILLISECOND
# KafkaRaftClient.RETRY_BACKOFF_BASE_MS: the first backoff after a vote without a winner is 0 or 1 of it.
VOTE_BACKOFF = 100 * MILLISECOND
# LeaderState.CHECK_QUORUM_TIMEOUT_FACTOR (3.7): an active controller that hears of no majority resigns.
CHECK_QUORUM = 1.5
# Server.shutdown: how long a stopping KRaft broker waits to be let go (BrokerServer,
# controlledShutdownFuture).
STOP_WAIT_KRAFT = 300 * SECOND
# controlled.shutdown.max.retries and controlled.shutdown.retry.backoff.ms, their defaults (ZooKeeper only).
STOP_WAIT_ZOOKEEPER = 3 * 5 * SECOND


class Span(NamedTuple):
    """From a fault to a controller that acts."""

    least: int
    most: int
    why: str

    def at(self, part: float) -> int:
        return self.least + int((self.most - self.least) * part)


class Quorum(NamedTuple):
    """KRaft: controller.quorum.voters, .fetch.timeout.ms, .election.timeout.ms, .election.backoff.max.ms."""

    voters: int = 1
    fetch_timeout: int = 2 * SECOND
    election_timeout: int = 1 * SECOND
    election_backoff_max: int = 1 * SECOND

    @property
    def informs_who_registers(self) -> bool:
        """False: brokers fetch the metadata for themselves, over a connection of its own."""
        return False

    @property
    def renews_sessions(self) -> bool:
        """A new controller takes every registered broker as heard of just now (ClusterControlManager
        .activate)."""
        return True

    @property
    def stop_wait(self) -> int:
        """How long a stopping broker waits for a controller to let it go."""
        return STOP_WAIT_KRAFT

    def majority(self) -> int:
        return self.voters // 2 + 1

    def spare(self) -> int:
        """Voters that may be away: one of 3 or 4, two of 5 or 6; of 1 or 2 none."""
        return self.voters - self.majority()

    def wasted(self) -> int:
        """Voters that could go without a difference to `spare`: one of an even number."""
        return 1 - self.voters % 2

    def controls(self, away: int) -> bool:
        return self.voters - away >= self.majority()

    def takeover(self, away: int, clean: bool = False) -> Span | None:
        """The active controller leaves, and so `away` voters are gone in all. None: nobody takes over until
        one of them is back."""
        if not self.controls(away):
            return None
        if clean:
            # EndQuorumEpoch names successors, the most caught up first; that one stands at once, the others
            # after up to the maximal backoff (KafkaRaftClient.endEpochElectionBackoff).
            return Span(0, self.election_backoff_max, "it hands over")
        silent = max(0, self.fetch_timeout - FETCH_PARKED)
        # Who finds its fetches unanswered stands; if two stand at once neither may win, and both wait for
        # election.timeout.ms to twice that (QuorumState.randomElectionTimeoutMs) and a backoff.
        split = 2 * self.election_timeout + min(2 * VOTE_BACKOFF, self.election_backoff_max)
        alone = self.voters - away == 1
        most = self.fetch_timeout + (0 if alone else split)
        return Span(silent, most, "the voters left notice its silence and vote, twice if votes are split")

    def resigns(self) -> int:
        """How long an active controller that no majority answers goes on (KAFKA-15489, 3.7)."""
        return int(CHECK_QUORUM * self.fetch_timeout)


class Ensemble(NamedTuple):
    """ZooKeeper: zookeeper.session.timeout.ms and the ensemble's tickTime; how many brokers there are."""

    brokers: int = 3
    session_timeout: int = 18 * SECOND
    tick: int = 2 * SECOND

    @property
    def informs_who_registers(self) -> bool:
        """True: the controller sends a broker the news once it is registered (LeaderAndIsr)."""
        return True

    @property
    def renews_sessions(self) -> bool:
        """The sessions are ZooKeeper's: they run on while there is no controller."""
        return False

    @property
    def stop_wait(self) -> int:
        return STOP_WAIT_ZOOKEEPER

    def spare(self) -> int:
        return self.brokers - 1

    def controls(self, away: int) -> bool:
        return away < self.brokers

    def takeover(self, away: int, clean: bool = False) -> Span | None:
        if not self.controls(away):
            return None
        if clean:
            return Span(0, 0, "its session is closed, and with it the node /controller is gone")
        # A client speaks three times in a session (ClientCnxn.SendThread), and sessions end on ticks.
        least = self.session_timeout - self.session_timeout // 3
        return Span(least, self.session_timeout + self.tick, "its session with ZooKeeper has to end")


Control = Quorum | Ensemble


def until_fenced(
    control: Control, session_timeout: int, heartbeat: int, away: int, clean: bool = False
) -> Span | None:
    """From the death of a broker together with the active controller (one process of both roles, one rack) to
    its fence, and with it the election of new leaders. KRaft: one after the other, as a new controller gives
    everybody a new session. ZooKeeper: both sessions end at one time."""
    takes = control.takeover(away, clean)
    if takes is None:
        return None
    if control.renews_sessions:
        least, most = takes.least + session_timeout, takes.most + session_timeout
        return Span(least, most, f"{takes.why}; then the broker has a whole session more")
    least = max(takes.least, session_timeout - heartbeat)
    return Span(least, max(takes.most, session_timeout), f"{takes.why}, and the broker's own with it")
