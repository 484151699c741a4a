"""A long line of batches that a healthy cluster works off: taken in one stride.

After an outage a producer has hundreds of batches waiting, and with acks=all a broker takes them one by one.
While nothing is wrong and nothing is planned their fate is certain: stored in their order, acknowledged. The
sender holds still until what it has under way is answered, then the line is stored as one. How long that
takes is an estimate from the phase; no outcome depends on it, as the line is taken only if it fits before
whatever happens next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ranges import MILLISECOND
from .timeline_calm import calm, ends, still

if TYPE_CHECKING:
    from .timeline_client import Client

LONG = 16  # batches: below, holding still costs more than it saves
REST = 40 * MILLISECOND
AGAIN = 100 * MILLISECOND
MARGIN = 60 * MILLISECOND


class Backlog:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.held = False
        self.not_before = 0
        self.strides = True

    def holds(self) -> bool:
        """The sender is to wait: the line is about to be taken, or is being taken."""
        if self.held:
            return True
        client = self.client
        queue = client.buffer.queues[0]
        if len(queue) < LONG or not self.strides or client.clock.now < self.not_before:
            return False
        soon = client.clock.horizon - client.clock.now < REST + MARGIN + self.needs(len(queue))
        if soon or not self._certain():
            self.not_before = client.clock.now + AGAIN
            return False
        self.held = True
        client.clock.after(REST, self._take)
        return True

    def _certain(self) -> bool:
        client = self.client
        cluster = client.cluster
        queue = client.buffer.queues[0]
        return (
            client.policy.acks != "0"
            and calm(client)
            and all(batch.attempts == 0 and batch.size <= cluster.policy.max_message_bytes for batch in queue)
        )

    def needs(self, batches: int) -> int:
        """How long so many take, one by one."""
        phase = self.client.cluster.phase
        if self.client.policy.acks == "all":
            return batches * (2 * phase.network + 3 * phase.fetch)
        return batches * phase.network

    def _time_left(self, needed: int) -> bool:
        client = self.client
        now = client.clock.now
        first = client.buffer.queues[0][0]
        in_time = now + needed + MARGIN < first.created + client.policy.delivery_timeout
        return in_time and now + needed + MARGIN < ends(client)

    def _take(self) -> None:
        client = self.client
        queue = client.buffer.queues[0]
        count = len(queue) - (not queue[-1].is_full()) if queue else 0
        needed = self.needs(count)
        if count <= 0 or not (still(client) and self._certain()):
            self._give_up()
            return
        if not self._time_left(needed):
            self._give_up()
            return
        client.store_line(count)
        client.clock.after(needed, self._release)

    def _give_up(self) -> None:
        self.not_before = self.client.clock.now + AGAIN
        self._release()

    def _release(self) -> None:
        self.held = False
        self.client.resume()
