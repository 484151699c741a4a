"""A consumer between two polls: positions, records in hand, what a commit would carry, where a reset leads.

Pure values and functions, used alike by the search (group_model.py) and by the clock (group_timeline.py).

Four offsets of a partition matter (S22): the *position* is the next record a poll returns, the *committed*
offset is where another member would begin, the high watermark (for read_committed the last stable offset)
is where reading ends, the log end is where writing goes on.

- Auto-commit of the classic consumer runs inside poll(), before new records are returned, and carries the
  positions (ConsumerCoordinator.maybeAutoCommitOffsetsAsync): all that was returned so far counts as done.
  That is true of a loop that processes between polls, and false of workers that are still busy.
- The consumer of KIP-848 commits from a background thread, so a commit due around a poll may carry the
  positions *after* that poll: the batch just returned counts as done before it was looked at. Seen on 4.3.1
  in 8 of 10 runs.
- A rebalance that takes partitions from a living member calls its listener, and auto-commit commits once
  more; a member that was dropped without noticing goes on with what it has in hand and is fenced when it
  commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...tuples import NamedTuple

NOT_OWNED = -1
NEVER = -1  # no committed offset

# How offsets are committed.
AUTO, AFTER, BEFORE, WITH_OUTPUT = "auto", "after", "before", "with-output"
# What an application's own commit carries beside workers.
FIRST_OPEN, FINISHED, POLLED = "first-unfinished", "as-finished", "polled"
# auto.offset.reset.
EARLIEST, LATEST, NONE, BY_DURATION = "earliest", "latest", "none", "by_duration"

NO_OFFSET = "NoOffsetForPartitionException"
OUT_OF_RANGE = "OffsetOutOfRangeException"


class Store(NamedTuple):
    """Offsets that an application keeps beside its output, and not in Kafka. Whether they are written with
    the output, before or after it is `Reading.commits`."""

    seeks: bool = True  # on assignment it goes to the stored offset
    fences: bool = True  # a write that does not begin at the stored offset is refused
    auto_commit: bool = False  # the client goes on committing to Kafka by itself


class Reading(NamedTuple):
    """How a member reads, processes and commits."""

    batch: int = 500  # max.poll.records
    commits: str = AUTO
    workers: bool = False  # records are handed to other threads, poll() goes on
    commits_on_revoke: bool = False  # a rebalance listener that commits (auto-commit does so by itself)
    asynchronous: bool = False  # commitAsync: the next poll does not wait for the answer
    late_commit: bool = False  # auto-commit may carry what the poll has just returned (KIP-848)
    carries: str = FIRST_OPEN  # of workers
    store: Store | None = None


class Span(NamedTuple):
    """Records of one partition, [first, end)."""

    partition: int
    first: int
    end: int


class Consumer(NamedTuple):
    positions: tuple[int, ...]  # by partition; NOT_OWNED
    hand: tuple[Span, ...] = ()  # returned by poll() and not processed yet, oldest first


def owned(consumer: Consumer) -> tuple[int, ...]:
    return tuple(partition for partition, position in enumerate(consumer.positions) if position != NOT_OWNED)


def in_hand(consumer: Consumer) -> int:
    return sum(span.end - span.first for span in consumer.hand)


def fetch(consumer: Consumer, ends: Sequence[int], most: int) -> Consumer:
    """What the next poll returns: partition after partition, at most `most` records, each as far as it may
    be read (`ends`)."""
    positions = list(consumer.positions)
    spans: list[Span] = []
    for partition, position in enumerate(positions):
        if position == NOT_OWNED or ends[partition] <= position or not most:
            continue
        taken = min(most, ends[partition] - position)
        spans.append(Span(partition, position, position + taken))
        positions[partition] += taken
        most -= taken
    return Consumer(tuple(positions), (*consumer.hand, *spans)) if spans else consumer


def process(consumer: Consumer, records: int = 1) -> tuple[Consumer, tuple[Span, ...]]:
    """The next records in hand, in the order in which they were returned."""
    hand = list(consumer.hand)
    done: list[Span] = []
    while records and hand:
        span = hand.pop(0)
        count = min(records, span.end - span.first)
        done.append(Span(span.partition, span.first, span.first + count))
        if span.first + count < span.end:
            hand.insert(0, span._replace(first=span.first + count))
        records -= count
    return consumer._replace(hand=tuple(hand)), tuple(done)


def process_one(consumer: Consumer, partition: int, offset: int) -> tuple[Consumer, tuple[Span, ...]]:
    """One record in hand, whichever: a pool of workers keeps no order."""
    hand: list[Span] = []
    for span in consumer.hand:
        if span.partition == partition and span.first <= offset < span.end:
            parts = (span._replace(end=offset), span._replace(first=offset + 1))
            hand += [part for part in parts if part.first < part.end]
        else:
            hand.append(span)
    return consumer._replace(hand=tuple(hand)), (Span(partition, offset, offset + 1),)


def consumed(consumer: Consumer) -> dict[int, int]:
    """What a commit without arguments carries (SubscriptionState.allConsumed)."""
    return {
        partition: position for partition, position in enumerate(consumer.positions) if position != NOT_OWNED
    }


def commit(committed: tuple[int, ...], offsets: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(offsets.get(partition, offset) for partition, offset in enumerate(committed))


def assign(consumer: Consumer, starts: Mapping[int, int]) -> Consumer:
    """Partitions are added, each read from where `starts` says."""
    return consumer._replace(
        positions=tuple(starts.get(p, position) for p, position in enumerate(consumer.positions))
    )


def revoke(consumer: Consumer, partitions: Sequence[int], forget: bool) -> Consumer:
    """Partitions are taken away. `forget`: what of them is in hand is dropped with them, as when a loop
    stands between two polls; workers go on with theirs."""
    positions = tuple(
        NOT_OWNED if partition in partitions else position
        for partition, position in enumerate(consumer.positions)
    )
    hand = tuple(span for span in consumer.hand if not forget or span.partition not in partitions)
    return Consumer(positions, hand)


def start(reset: str, committed: int, log_start: int, end: int, young: int | None) -> int | str | None:
    """Where a partition is read from when it is assigned: the committed offset if there is one that can be
    read, else by auto.offset.reset. An exception's name if the consumer stops; None if no position is found
    yet: by_duration (KIP-1106, 4.0) on a partition without a record that young (`young` None) waits and
    asks again only after request.timeout.ms (seen on 4.3.1).

    The four situations: a new group, expired offsets and an added partition have no committed offset; an
    offset below the log's start or beyond its end is out of range.
    """
    if committed != NEVER and log_start <= committed <= end:
        return committed
    if reset == NONE:
        return NO_OFFSET if committed == NEVER else OUT_OF_RANGE
    if reset == EARLIEST:
        return log_start
    if reset == LATEST:
        return end
    return young


def readable(high_watermark: int, last_stable: int, read_committed: bool) -> int:
    """How far a consumer may read (S25): to the high watermark, with read_committed to the last stable
    offset, which an open transaction pins."""
    return min(high_watermark, last_stable) if read_committed else high_watermark


def offsets_expire_after(empty_since_ms: int, retention_ms: int, check_interval_ms: int) -> tuple[int, int]:
    """When the offsets of a group go that has been empty since that time (KIP-211, 2.1 on): after
    offsets.retention.minutes, at the next look of the broker."""
    due = empty_since_ms + retention_ms
    return due, due + check_interval_ms


def fetch_wait_ms(bytes_per_second: float, min_bytes: int, max_wait_ms: int) -> int:
    """How long a fetch is held at the broker: until fetch.min.bytes are there or fetch.max.wait.ms over."""
    if min_bytes <= 1:
        return 0
    if bytes_per_second <= 0:
        return max_wait_ms
    return min(max_wait_ms, int(min_bytes * 1000 / bytes_per_second))
