"""Connections of a producer, and the broker's end of them.

A broker takes one request of a connection at a time, in order; with acks=all the next one only when the one
in front is answered (KafkaChannel's muting, seen on 2.8, 3.9 and 4.3). A frozen broker takes none: they wait
in its socket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .accumulator import QueuedBatch
from .ranges import STALE_REQUESTS
from .sequences import Numbered
from .timeline_clock import Clock
from .timeline_cluster import Cluster
from .timeline_replicas import OK, Append

Batch = QueuedBatch[int]
TIMED_OUT = "timed out"


class Request:
    """A batch on a connection. `offset` and `epoch`: what its answer waits for, once it is appended."""

    __slots__ = ("batch", "connection", "epoch", "number", "offset", "sent")

    def __init__(self, batch: Batch, connection: Connection, number: Numbered | None, sent: int) -> None:
        self.batch, self.connection, self.number, self.sent = batch, connection, number, sent
        self.offset = self.epoch = -1


class Connection:
    """To one broker. Both ends see its line of requests."""

    __slots__ = ("broker", "busy", "line", "open", "timer", "unanswered")

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.open = True  # as the client sees it
        self.timer = False
        self.line: deque[Request] = deque()  # not yet handled by the broker
        self.busy: Request | None = None  # appended, waiting for its commit
        self.unanswered: deque[Request] = deque()  # as the client sees it


class Listener:
    """The brokers' end. What they answer and when they close reaches the client through the two calls."""

    def __init__(
        self,
        clock: Clock,
        cluster: Cluster,
        answered: Callable[[Request, str], None],
        closed: Callable[[Connection], None],
        acks_timeout: int | None = None,
    ) -> None:
        self.clock, self.cluster, self.answered, self.closed = clock, cluster, answered, closed
        self.acks_timeout = acks_timeout  # of the requests; None: the client has given up by then
        self.behind_cut_with: int | None = None  # the broker that alone is on the client's side of a cut
        self.connections: list[Connection] = []
        cluster.on_commit = self.answer_waiting
        cluster.on_down = self._broken
        cluster.on_ready = self._ready

    def reaches(self, broker: int) -> bool:
        return self.behind_cut_with is None or self.behind_cut_with == broker

    def connect(self, broker: int) -> Connection:
        connection = Connection(broker)
        self.connections.append(connection)
        return connection

    def arrive(self, request: Request) -> None:
        connection = request.connection
        if self.reaches(connection.broker) and self.cluster.alive(connection.broker):
            connection.line.append(request)
            self._serve(connection)

    def _serve(self, connection: Connection) -> None:
        while connection.line and connection.busy is None and self.cluster.serves(connection.broker):
            if not connection.open:
                connection.line.clear()
                return
            self._handle(connection, connection.line.popleft())

    def _handle(self, connection: Connection, request: Request) -> None:
        batch = request.batch
        append = Append(tuple(batch.records), request.number)
        answer, offset = self.cluster.produce(connection.broker, append, batch.size)
        if answer and self.clock.now < self.cluster.answers_from:
            connection.busy = request
            self.clock.at(self.cluster.answers_from, self._reply_late, request, answer)
        elif answer:
            self._reply(request, answer)
        else:
            request.offset = offset
            request.epoch = self.cluster.state.replicas[connection.broker].epoch
            connection.busy = request
            if self.acks_timeout is not None:
                self.clock.after(self.acks_timeout, self._waited_enough, request, idle=True)

    def _waited_enough(self, request: Request) -> None:
        """DelayedProduce.onExpiration: REQUEST_TIMED_OUT, whatever is stored stays stored."""
        if self.cluster.serves(request.connection.broker):
            self._reply_late(request, TIMED_OUT)

    def _reply(self, request: Request, answer: str) -> None:
        delay = self.cluster.phase.network
        if self.cluster.model.policy.acks != "0":
            self.clock.after(delay, self.answered, request, answer)
        elif answer != OK:
            # There is no answer to carry an error: the broker closes the connection.
            self.clock.after(delay, self.closed, request.connection)

    def _reply_late(self, request: Request, answer: str) -> None:
        connection = request.connection
        if connection.busy is request:
            connection.busy = None
            self._reply(request, answer)
            self._serve(connection)

    def answer_waiting(self) -> None:
        """The cluster has moved: requests that wait may be answered."""
        if self.clock.now < self.cluster.answers_from:
            self.clock.at(self.cluster.answers_from, self.answer_waiting)
            return
        for connection in [one for one in self.connections if one.busy is not None]:
            request = connection.busy
            if request is None or request.offset < 0 or not self.cluster.serves(connection.broker):
                continue
            answer = self.cluster.committed(connection.broker, request.epoch, request.offset)
            if answer:
                connection.busy = None
                self._reply(request, answer)
                self._serve(connection)
                self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        if not connection.open and not connection.line and connection.busy is None:
            self.connections.remove(connection)

    def take_stale(self, connection: Connection) -> None:
        """The client has closed; the broker finds out after a few more requests."""
        if not self.cluster.acts(connection.broker):
            return
        for _ in range(min(STALE_REQUESTS, len(connection.line))):
            waiting = connection.busy
            connection.busy = None
            self._handle(connection, connection.line.popleft())
            connection.busy = waiting or connection.busy
        connection.line.clear()
        self._forget(connection)

    def thawed(self, broker: int) -> None:
        for connection in list(self.connections):
            if connection.broker == broker and not connection.open:
                self.take_stale(connection)
        self._ready(broker)

    def _ready(self, broker: int) -> None:
        for connection in list(self.connections):
            if connection.broker == broker:
                self._serve(connection)
        self.answer_waiting()

    def _broken(self, broker: int) -> None:
        """A broker's process is gone: its connections break."""
        for connection in list(self.connections):
            if connection.broker == broker:
                connection.line.clear()
                connection.busy = None
                self.clock.after(self.cluster.phase.network, self.closed, connection)
                self._forget(connection)
