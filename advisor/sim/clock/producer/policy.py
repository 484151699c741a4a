"""What settings and a version make of a producer on the clock."""

from __future__ import annotations

from ....tuples import NamedTuple
from ...ranges import MILLISECOND


class ClientPolicy(NamedTuple):
    """What settings and a version make of a producer. Times are microseconds."""

    acks: str = "all"
    idempotence: bool = True
    in_flight: int = 5
    retries: int | None = None
    batch_size: int = 16384
    linger: int = 5 * MILLISECOND
    max_request_size: int = 1 << 20
    buffer_memory: int = 32 << 20
    max_block: int = 60_000 * MILLISECOND
    request_timeout: int = 30_000 * MILLISECOND
    delivery_timeout: int = 120_000 * MILLISECOND
    retry_backoff: int = 100 * MILLISECOND
    retry_backoff_max: int = 1_000 * MILLISECOND
    # Exponentially, and with jitter (KIP-580, 3.7); before, every backoff is the same.
    backoff_grows: bool = True
    metadata_max_age: int = 300_000 * MILLISECOND
    # With no known broker in reach the bootstrap servers are asked again (KIP-899, the default from 4.0).
    rebootstraps: bool = True
    # A refused request names the new leader (KIP-951, 3.7).
    leader_in_answer: bool = True
    # Compressed bytes of records by their bytes; None: no compression.
    compression_ratio: float | None = None
    # NetworkClient's, or librdkafka's for each broker: doubled with every failure.
    reconnect_backoff: int = 50 * MILLISECOND
    reconnect_backoff_max: int = 1_000 * MILLISECOND
    # How librdkafka differs. Records wait one by one, each with a timeout of its own, and become a batch when
    # they are sent (rd_kafka_msgset_writer).
    batches_late: bool = False
    # queue.buffering.max.messages: records that may wait, those in flight among them.
    records_max: int | None = None
    # Its request.timeout.ms is the broker's to keep: who waits for followers is told so after that time, and
    # the connection stays. `request_timeout` is then socket.timeout.ms.
    acks_timeout: int | None = None

    @property
    def answer_wait(self) -> int:
        """How long who waits for followers is waited for, by the client or by the broker itself."""
        return (
            self.request_timeout
            if self.acks_timeout is None
            else min(self.request_timeout, self.acks_timeout)
        )
