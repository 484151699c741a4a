"""A Java producer in time: its buffer, its connection to the leader, timeouts, retries, metadata.

One partition, so one connection matters: the one to the broker that the producer takes for the leader. Where
Kafka has it: RecordAccumulator and Sender (batches, retries at the head of the queue, delivery.timeout.ms),
NetworkClient (request.timeout.ms ends every request of a connection, reconnect backoff), TransactionManager
(sequences, epochs), Metadata (max.age, refresh on error), KafkaChannel (a broker takes one request of a
connection at a time, and with acks=all the next one only after the answer).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile

from ...producer.accumulator import BLOCKED, NEW_BATCH, Batching, QueuedBatch
from ...producer.sequences import OUT_OF_ORDER, Numbered
from ...ranges import JITTER, MILLISECOND
from ...wire.batches import BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, contents_size
from ..clock import Clock
from ..cluster import Cluster
from ..replicas import NOT_ENOUGH_AFTER_APPEND, NOT_ENOUGH_REPLICAS, NOT_LEADER, OK, TOO_LARGE
from .backlog import Backlog
from .buffer import Buffer
from .calm import copiers
from .connections import TIMED_OUT, Batch, Connection, Listener, Request
from .policy import ClientPolicy
from .sequence_numbers import Numbers

DISCONNECTED = "disconnected"
CLASSES = {
    NOT_LEADER: "NotLeaderOrFollowerException",
    NOT_ENOUGH_REPLICAS: "NotEnoughReplicasException",
    NOT_ENOUGH_AFTER_APPEND: "NotEnoughReplicasAfterAppendException",
    OUT_OF_ORDER: "OutOfOrderSequenceException",
    TOO_LARGE: "RecordTooLargeException",
    DISCONNECTED: "NetworkException",
    TIMED_OUT: "TimeoutException",
}
"""The exception a callback gets when the last retry ended so."""


@cache
def _contents_size(value_size: int) -> int:
    """Of a record without a key."""
    return contents_size(-1, value_size)


class Client:
    def __init__(self, clock: Clock, cluster: Cluster, policy: ClientPolicy) -> None:
        self.clock, self.cluster, self.policy = clock, cluster, policy
        batching = Batching(
            0 if policy.batches_late else policy.batch_size,
            policy.linger,
            policy.max_request_size,
            policy.in_flight,
            policy.buffer_memory,
            policy.compression_ratio,
        )
        self.buffer = Buffer(batching, {0: [0]})
        self.buffer.parts = {}
        if policy.batches_late:
            self.buffer.late_size = policy.batch_size
        limit = min(policy.max_request_size, policy.buffer_memory)
        self.contents_max = limit - BATCH_OVERHEAD - MAX_RECORD_OVERHEAD
        self.leader = cluster.state.leader
        self.leader_epoch = 0
        self.nodes = list(cluster.registered())
        self.listener = Listener(clock, cluster, self._answered, self._closed, policy.acks_timeout)
        self.connection: Connection | None = None
        self.attempt = 0
        self.failed_connects = 0
        self.connecting = False
        self.refreshing = False
        self.failures: dict[int, str] = {}  # by record: the exception's class
        self.answered = 0  # records whose callback was called, either way
        self.sent = 0
        # The oldest first, but for what came apart (`mixed`).
        self.unfinished: dict[int, Batch] = {}
        self.mixed = False
        self.numbers = Numbers()
        self.on_memory: list[Callable[[], None]] = []
        self.expiry = self.waking = False
        self.wake_at = -1
        self.backlog = Backlog(self)
        cluster.on_thaw = self._thawed
        self.ages_at = 0
        self._age_later()

    # -- the caller ----------------------------------------------------------------------------------------

    def offer(self, size: int) -> bool:
        """send() of the next record; False: there is no memory for it now, and nothing happened."""
        contents = _contents_size(size)
        if contents > self.contents_max:
            self.fail_next("RecordTooLargeException")
            return True
        now, buffer = self.clock.now, self.buffer
        if self.policy.records_max is not None and self.sent - self.answered >= self.policy.records_max:
            return False
        done = buffer.append(now, 0, contents, self.sent, now // MILLISECOND)
        if done == BLOCKED:
            self._sender()
            return False
        self.sent += 1
        if done & NEW_BATCH:
            batch = buffer.queues[0][-1]
            self.unfinished[batch.number] = batch
            if not self.expiry:
                self._expiry_later()
        if not self.waking and not self._occupied():
            self._wake_soon()
        return True

    def _occupied(self) -> bool:
        """The sender could do nothing now: an answer, a timeout or a connection wakes it."""
        connection = self.connection
        if connection is None:
            return self.connecting if self.leader >= 0 else self.refreshing
        now = self.clock.now
        if self.wake_at > now and self.buffer.queues[0][0].backs_off(now):
            return True
        full = self.policy.acks != "0" and len(connection.unanswered) >= self.policy.in_flight
        return full and connection.broker == self.leader

    def fail_next(self, error: str) -> None:
        """send() itself fails."""
        self.failures[self.sent] = error
        self.answered += 1
        self.sent += 1
        self.buffer.give_up()

    def idle(self) -> bool:
        return not self.unfinished

    def acknowledged(self) -> set[int]:
        """The records whose callback came without an exception."""
        waiting = (record for batch in self.unfinished.values() for record in batch.records)
        return set(range(self.sent)) - self.failures.keys() - set(waiting)

    def stride(self, count: int) -> None:
        """A calm stretch: that many records in one."""
        self._store(range(self.sent, self.sent + count))
        self.answered += count
        self.sent += count

    def store_line(self, count: int) -> None:
        """That many of the batches that wait, in one: stored in their order and acknowledged."""
        now = self.clock.now
        batches = [self.buffer.take(now) for _ in range(count)]
        self._store([record for batch in batches for record in batch.records])
        for batch in batches:
            self._acknowledge(batch)

    def _store(self, records: Sequence[int]) -> None:
        number = None
        if self.policy.idempotence:
            number = self.numbers.give(-1, len(records))
            self.numbers.acked(-1)
        self.cluster.stride(self.leader, copiers(self.cluster, self.leader), records, number)

    def up_to_date(self) -> bool:
        """It knows the leader, and of which epoch: no answer to a question for metadata is news."""
        state = self.cluster.state
        return self.leader == state.leader and self.leader_epoch == state.epoch

    def resume(self) -> None:
        self._sender()

    # -- the sender ----------------------------------------------------------------------------------------

    def _sender(self) -> None:
        now = self.clock.now
        if self.backlog.holds():
            return
        while self._may_send(now):
            batch = self.buffer.take(now)
            if self.policy.batches_late and not batch.attempts:
                for number_taken in self.buffer.gather(batch):
                    del self.unfinished[number_taken]
            number = self.numbers.give(batch.number, len(batch.records)) if self.policy.idempotence else None
            connection = self.connection
            assert connection is not None, "_may_send looked"
            request = Request(batch, connection, number, now)
            if self.policy.acks == "0":
                self._acknowledge(batch)
            else:
                connection.unanswered.append(request)
                self._timeout_later(connection)
            self.clock.after(self.cluster.phase.network, self.listener.arrive, request)

    def _may_send(self, now: int) -> bool:
        nodes, due = self.buffer.ready(now)
        if not nodes:
            if due is not None and (self.wake_at < now or due < self.wake_at):
                self.wake_at = due
                self.clock.at(due, self._wake, idle=True)
            return False
        connection = self._connected()
        if connection is None:
            return False
        policy = self.policy
        if policy.acks != "0" and len(connection.unanswered) >= policy.in_flight:
            return False
        if policy.in_flight == 1 and any(other.unanswered for other in self.listener.connections):
            # Sender.guaranteeMessageOrder: the partition is muted, whatever the connection.
            return False
        if not policy.idempotence:
            return True
        head = self.buffer.head()
        assert head is not None, "a ready node has a batch"
        if head.number not in self.numbers.of:
            return not self.numbers.gap
        # A retry waits for every batch before it: one request at a time, then.
        return self.numbers.of[head.number] == self.numbers.lowest()

    def _wake_soon(self) -> None:
        """The sender is a thread of its own: it wakes up a little later."""
        due = self.clock.now + self.cluster.phase.wake
        if not self.waking:
            self.waking = True
            self.clock.at(due, self._woken, idle=True)

    def _woken(self) -> None:
        self.waking = False
        self._sender()

    def _wake(self) -> None:
        self.wake_at = -1
        self._sender()

    # -- answers -------------------------------------------------------------------------------------------

    def _answered(self, request: Request, answer: str) -> None:
        connection = request.connection
        if not connection.open or not self.listener.reaches(connection.broker):
            return
        if request not in connection.unanswered:
            return
        connection.unanswered.remove(request)
        if answer == NOT_LEADER and self.policy.leader_in_answer:
            told = self.cluster.informed[connection.broker]
            if told not in (-1, connection.broker):
                self._led_by(told, self.cluster.told[connection.broker])
        if request.batch.number in self.unfinished:
            if answer == OK:
                self._acknowledge(request.batch)
            else:
                self._retry_or_fail(request, answer)
        if answer == NOT_LEADER:
            self._refresh(self.policy.leader_in_answer)
        if self.cluster.phase.wake:
            self._wake_soon()  # it looks at all answers of one moment, then sends
        else:
            self._sender()

    def _acknowledge(self, batch: Batch) -> None:
        self.numbers.acked(batch.number)
        self._finish(batch, "")

    def _finish(self, batch: Batch, result: str) -> None:
        del self.unfinished[batch.number]
        self.answered += len(batch.records)
        if result:
            self.failures.update(dict.fromkeys(batch.records, result))
        self.buffer.finish(batch)
        waiting, self.on_memory = self.on_memory, []
        for wake in waiting:
            self.clock.after(0, wake)

    def _fail(self, batch: Batch, error: str, noted: bool = True) -> None:
        self.numbers.failed(batch.number, noted)
        self._finish(batch, error)

    def _retry_or_fail(self, request: Request, error: str) -> None:
        batch = request.batch
        now = self.clock.now
        if error == TOO_LARGE and len(batch.records) > 1 and not self.policy.batches_late:
            self._split(batch)
            return
        out_of_tries = self.policy.retries is not None and batch.attempts >= self.policy.retries
        if error != TOO_LARGE and not out_of_tries and self._came_apart(batch):
            return
        if now - batch.created >= self.policy.delivery_timeout:
            self._fail(batch, "TimeoutException")
            return
        if error == TOO_LARGE or out_of_tries:
            self._fail(batch, CLASSES[error])
            return
        if error == OUT_OF_ORDER:
            self.numbers.refused(batch.number, request.number, self.unfinished)
        self._requeue(batch, moved=request.connection.broker != self.leader)

    def _came_apart(self, batch: Batch) -> bool:
        """Without sequences the records of a failed batch wait one by one again, each for its own time. (With
        them a batch is sent again as it was.)"""
        parts = self.buffer.parts.pop(batch.number, [])
        if self.policy.idempotence or len(parts) < 2:
            return False
        del self.unfinished[batch.number]
        self.buffer.finish(batch)
        now = self.clock.now
        for part in reversed(parts):
            part.attempts = batch.attempts
            self.buffer.incomplete.add(part.number)
            self.buffer.memory_used += part.limit
            self.unfinished[part.number] = part
            self.mixed = True
            if now - part.created >= self.policy.delivery_timeout:
                self._fail(part, "TimeoutException")
            else:
                self._requeue(part, moved=False)
        return True

    def _requeue(self, batch: Batch, moved: bool) -> None:
        policy = self.policy
        backoff = min(policy.retry_backoff << min(batch.attempts, 16), policy.retry_backoff_max)
        if policy.backoff_grows and policy.retry_backoff_max > policy.retry_backoff:
            backoff = int(backoff * JITTER[(batch.number + batch.attempts) % len(JITTER)])
            backoff = min(backoff, policy.retry_backoff_max)
        if moved and policy.leader_in_answer:
            backoff = 0
        self.buffer.requeue(batch, self.clock.now, backoff)
        if policy.batches_late:
            self.buffer.sort_in(batch)
        elif policy.idempotence:
            # RecordAccumulator.insertInSequenceOrder
            queue = self.buffer.queues[0]
            queue.popleft()
            of = self.numbers.of
            place = 0
            while place < len(queue) and of.get(queue[place].number, LAST) < of[batch.number]:
                place += 1
            self.buffer.put_back(batch, place)

    def _split(self, batch: Batch) -> None:
        """RecordAccumulator.splitAndReenqueue: by batch.size first, a piece that is refused again in half.
        The pieces go to the head of the queue in their order."""
        buffer = self.buffer
        limit = self.policy.batch_size
        if batch.ratio == SPLIT:
            limit = max(batch.size // 2, batch.size // len(batch.records) + BATCH_OVERHEAD)
        each = (batch.size - BATCH_OVERHEAD) // len(batch.records)
        most = max(1, (limit - BATCH_OVERHEAD) // each)
        number = self.numbers.of.pop(batch.number, None)
        del self.unfinished[batch.number]
        buffer.finish(batch)
        first = number.first if number is not None else 0
        pieces = []
        for start in range(0, len(batch.records), most):
            records = batch.records[start : start + most]
            size = BATCH_OVERHEAD + each * len(records)
            piece: Batch = QueuedBatch(
                buffer.batches, 0, batch.created, size, SPLIT, batch.base_timestamp, records, closed=True
            )
            piece.size = size
            piece.last_attempt = self.clock.now
            buffer.batches += 1
            buffer.incomplete.add(piece.number)
            buffer.memory_used += piece.limit
            self.unfinished[piece.number] = piece
            self.mixed = True
            if number is not None:
                self.numbers.of[piece.number] = Numbered(
                    number.epoch, first + start, first + start + len(records) - 1
                )
            pieces.append(piece)
        place = 0
        queue = buffer.queues[0]
        if number is not None:
            while place < len(queue) and self.numbers.of.get(queue[place].number, LAST) < number:
                place += 1
        for piece in reversed(pieces):
            buffer.put_back(piece, place)

    # -- timeouts ------------------------------------------------------------------------------------------

    def _timeout_later(self, connection: Connection) -> None:
        if not connection.timer and connection.unanswered:
            connection.timer = True
            due = connection.unanswered[0].sent + self.policy.request_timeout
            self.clock.at(due, self._timeouts, connection, idle=True)

    def _timeouts(self, connection: Connection) -> None:
        connection.timer = False
        if connection.unanswered:
            if self.clock.now - connection.unanswered[0].sent >= self.policy.request_timeout:
                self._close(connection, TIMED_OUT)
            else:
                self._timeout_later(connection)

    def _expiry_later(self) -> None:
        if not self.expiry and self.unfinished:
            self.expiry = True
            due = next(self._oldest_first()).created + self.policy.delivery_timeout
            if self.policy.batches_late:
                due = max(-(-due // SCAN), self.clock.now // SCAN + 1) * SCAN
            self.clock.at(due, self._expire, idle=True)

    def _expire(self) -> None:
        """delivery.timeout.ms counts from a batch's creation, in the queue and in flight alike."""
        self.expiry = False
        now = self.clock.now
        given_up = now - self.policy.delivery_timeout
        late = list(takewhile(lambda batch: batch.created <= given_up, self._oldest_first()))
        queue = self.buffer.queues[0]
        for batch in late:
            if batch.number not in self.unfinished:
                continue
            if batch in queue:
                queue.remove(batch)
            elif self.policy.batches_late:
                self._give_up_request(batch)
                continue
            self._fail(batch, "TimeoutException", noted=batch.attempts > 0 or self.policy.batches_late)
        if not queue:
            self.buffer.queued.pop(0, None)
        self._expiry_later()
        self._sender()

    def _oldest_first(self) -> Iterator[Batch]:
        if self.mixed:
            self.unfinished = dict(sorted(self.unfinished.items(), key=lambda item: item[1].created))
            self.mixed = False
        return iter(self.unfinished.values())

    def _give_up_request(self, batch: Batch) -> None:
        """rd_kafka_ProduceRequest: a request waits no longer than its first record may, and one that timed
        out ends its connection (socket.max.fails is 1)."""
        for connection in self.listener.connections:
            if any(request.batch is batch for request in connection.unanswered):
                self._close(connection, TIMED_OUT)
                return

    # -- connections ---------------------------------------------------------------------------------------

    def _connected(self) -> Connection | None:
        """The connection to the leader, if there is one. What is under way to an old leader goes on there."""
        if self.connection is not None and self.connection.broker == self.leader:
            return self.connection
        self.connection = None
        if self.leader < 0:
            self._refresh()
        elif not self.connecting:
            self._connect()
        return None

    def _connect(self) -> None:
        broker = self.leader
        self.connecting = True
        self.attempt += 1
        if not self.cluster.alive(broker):
            self.clock.after(self.cluster.phase.network, self._connect_failed, self.attempt)
        elif self.cluster.acts(broker) and self.listener.reaches(broker):
            # To the broker that it asks for metadata it is connected already.
            delay = 2 * self.cluster.phase.network if self.cluster.phase.asks_leader else 0
            self.clock.after(delay, self._connect_done, self.attempt)
        else:
            # The kernel accepts, nobody answers: until it thaws, or the request is given up.
            self.clock.after(self.policy.request_timeout, self._connect_failed, self.attempt)

    def _thawed(self, broker: int) -> None:
        self.listener.thawed(broker)
        if self.connecting and broker == self.leader:
            self.clock.after(2 * self.cluster.phase.network, self._connect_done, self.attempt)

    def _connect_done(self, attempt: int) -> None:
        if not self.connecting or attempt != self.attempt:
            return
        if not self.cluster.acts(self.leader):
            self._connect_failed(attempt)
            return
        self.connecting = False
        self.failed_connects = 0
        self.connection = self.listener.connect(self.leader)
        self._sender()

    def _connect_failed(self, attempt: int) -> None:
        if not self.connecting or attempt != self.attempt:
            return
        self.attempt += 1
        self._refresh()
        policy = self.policy
        backoff = min(policy.reconnect_backoff << min(self.failed_connects, 8), policy.reconnect_backoff_max)
        self.failed_connects += 1
        self.clock.after(backoff, self._reconnect, self.attempt)

    def _reconnect(self, attempt: int) -> None:
        if attempt == self.attempt:
            self.connecting = False
            self._sender()

    def _closed(self, connection: Connection) -> None:
        if connection.open and self.listener.reaches(connection.broker):
            self._close(connection, DISCONNECTED)

    def _close(self, connection: Connection, error: str) -> None:
        """Every request of the connection ends with an error, oldest first."""
        connection.open = False
        ended, connection.unanswered = connection.unanswered, deque()
        if connection is self.connection:
            self.connection = None
        self.listener.take_stale(connection)
        for request in ended:
            if request.batch.number in self.unfinished:
                self._retry_or_fail(request, error)
        self._refresh()
        self._sender()

    # -- metadata ------------------------------------------------------------------------------------------

    def _age_later(self) -> None:
        self.ages_at = self.clock.now + self.policy.metadata_max_age
        self.clock.at(self.ages_at, self._age, idle=True)

    def _age(self) -> None:
        self._refresh()
        self._age_later()

    def _refresh(self, at_once: bool = False) -> None:
        if self.refreshing:
            return
        self.refreshing = True
        delay = 2 * self.cluster.phase.network if at_once else self.policy.retry_backoff
        self.clock.after(delay, self._refreshed, idle=True)

    def _refreshed(self) -> None:
        self.refreshing = False
        asked = self._source()
        if asked == NONE:
            self._refresh()
            return
        if asked == self.leader and self._has_to_connect():
            # Batches that are due go first over the connection that it is asked by (Sender.runOnce).
            self._refresh()
            self._sender()
            return
        cluster = self.cluster
        told, epoch = cluster.state.leader, cluster.state.epoch
        if asked != ANOTHER:
            told, epoch = cluster.informed[asked], cluster.told[asked]
        if asked == ANOTHER or not self.cluster.uninformed >> asked & 1:
            # A broker that the controller does not reach knows no better than the client does.
            self.nodes = self.cluster.registered()
        # That nobody leads is news of an epoch of its own (PartitionChangeBuilder): who still names the last
        # leader knows less.
        self._led_by(told, epoch + (told < 0))
        if told < 0 or not self.cluster.alive(told):
            self._refresh()
        self._sender()

    def _has_to_connect(self) -> bool:
        connected = self.connection is not None and self.connection.broker == self.leader
        return not connected and bool(self.buffer.ready(self.clock.now)[0])

    def _led_by(self, broker: int, epoch: int) -> None:
        if epoch < self.leader_epoch:
            return  # Metadata.updateLatestMetadata: news of an older epoch is no news
        self.leader_epoch = epoch
        if broker == self.leader:
            return
        self.leader = broker
        self.connecting = False
        self.attempt += 1
        self.failed_connects = 0
        if self.policy.leader_in_answer:
            # ProducerBatch.hasLeaderChangedForTheOngoingRetry (KIP-951): a retry to another leader does not
            # back off.
            for batch in self.buffer.queues[0]:
                batch.backoff_ms = 0

    def _source(self) -> int:
        """Whom it asks: a broker it knows and reaches; with none left, a bootstrap server or nobody."""

        def answers(broker: int) -> bool:
            return self.cluster.acts(broker) and self.listener.reaches(broker)

        known = [broker for broker in self.nodes if answers(broker)]
        if not known and self.policy.rebootstraps:
            known = [broker for broker in self.cluster.brokers if answers(broker)]
        if self.cluster.phase.asks_leader and self.leader in known:
            return self.leader
        others = [broker for broker in known if broker != self.leader]
        if self.cluster.policy.others and self.listener.reaches(ANOTHER):
            others.append(ANOTHER)
        return (others or known or [NONE])[0]


NONE, ANOTHER = -1, -2
"""Whom it asks for metadata, if no broker with a replica: nobody, or a broker without one."""
LAST = Numbered(1 << 62, 0, 0)
"""Behind every number: what a batch without one counts as."""
SCAN = 1_000 * MILLISECOND
"""How often librdkafka looks for messages and requests that are too old (rd_kafka_broker_timeout_scan)."""
SPLIT = -1.0
"""Marks, in place of a compression ratio, a batch that came from a split."""
