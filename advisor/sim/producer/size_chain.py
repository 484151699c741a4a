"""One record on its way: which links of the chain take it, by their own measure, and which do not.

Each link measures something else, so limits that look alike differ by some bytes:

- The Java client compares an upper bound of a batch of this one record, before compression, with its largest
  request and with its whole buffer (KafkaProducer.ensureValidRecordSize); librdkafka compares key, value,
  headers and 36 bytes with its largest message (rd_kafka_msg_max_wire_size).
- A broker closes the connection that announces a request larger than it reads (NetworkReceive), which the
  client takes for a failure of the network and tries again until it gives up.
- The leader compares the batch as it is, after compression, with the topic's limit (UnifiedLog.append:
  RecordTooLarge, not tried again where the batch has one record) and with the size of a segment.
- Followers and readers ask for so many bytes. Before 0.10.1 a batch that does not fit is never delivered: the
  follower leaves the ISR for good, the reader does not move. Since KIP-74 (0.10.1) the first batch is always
  sent whole, so these limits stop nobody.
- librdkafka drops a connection whose answer is larger than it expects, and asks for the same again, for ever.

A record here has a value, no key and no headers; its batch has this record alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...tuples import NamedTuple
from ..wire.batches import BATCH_OVERHEAD, record_size, upper_bound
from ..wire.legacy import message_size

# What librdkafka allows for besides key, value and headers: five numbers of 5 bytes, a time of 10, and 1.
LIBRDKAFKA_OVERHEAD = 36
VALUE_MAX = 2**31 - 1

REFUSED, STUCK = "refused", "stuck"


class Chain(NamedTuple):
    """The limits in bytes, None where a link is not in sight. `magic` is the format: 2 from 0.11, 1 in 0.10,
    0 before. `whole_batches`: readers and followers are sent a first batch of any size (KIP-74)."""

    client_family: str = "java"
    magic: int = 2
    compressed: bool = False
    whole_batches: bool = True
    request: int | None = None
    buffer: int | None = None
    connection: int | None = None
    batch: int | None = None
    segment: int | None = None
    replica: int | None = None
    reader: int | None = None
    receiver: int | None = None


class Passage(NamedTuple):
    """One link that the record came to: what it measured, what it allows, and what became of the record."""

    link: str
    measured: int
    limit: int
    outcome: str  # passed | refused | stuck

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


# The links in the order of the way, and what a record that is too large comes to there.
LINKS = ("request", "buffer", "connection", "batch", "segment", "replica", "reader", "receiver")
_OUTCOMES = {"connection": STUCK, "replica": STUCK, "reader": STUCK, "receiver": STUCK}
CLIENT = ("request", "buffer")
_SOFT = ("replica", "reader")


def batch_bytes(chain: Chain, value: int) -> int:
    """A batch of one record without key, as it is stored; compression may make it smaller."""
    if chain.magic < 2:
        return message_size(chain.magic, -1, value)
    return BATCH_OVERHEAD + record_size(-1, value)


def measured(chain: Chain, link: str, value: int) -> int:
    if link not in CLIENT:
        return batch_bytes(chain, value)
    if chain.client_family == "librdkafka":
        return LIBRDKAFKA_OVERHEAD + value
    return upper_bound(-1, value, magic=chain.magic, compressed=chain.compressed)


def links(chain: Chain) -> list[str]:
    """Those that are in sight and can stop a record."""
    return [
        link
        for link in LINKS
        if getattr(chain, link) is not None and not (chain.whole_batches and link in _SOFT)
    ]


def send(chain: Chain, value: int) -> Iterator[Passage]:
    """The record's way, up to the link that does not let it pass."""
    for link in links(chain):
        size, limit = measured(chain, link, value), getattr(chain, link)
        outcome = "passed" if size <= limit else _OUTCOMES.get(link, REFUSED)
        yield Passage(link, size, limit, outcome)
        if outcome != "passed":
            return


def largest(chain: Chain, link: str) -> int:
    """The largest value that this link lets pass, -1 if none: what it measures grows with the value."""
    limit = getattr(chain, link)
    if measured(chain, link, 0) > limit:
        return -1
    low, high = 0, min(VALUE_MAX, limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measured(chain, link, middle) <= limit else (low, middle - 1)
    return low


class Gap(NamedTuple):
    """Values of `least` to `most` bytes pass all links before `link`, and not this one."""

    link: str
    least: int
    most: int
    outcome: str


def gaps(chain: Chain) -> list[Gap]:
    """Every link that stops what all links before it let pass, in the order of the way. What the client
    refuses it refuses before anything else: that is no gap."""
    found = []
    most: int | None = None
    for link in links(chain):
        here = largest(chain, link)
        if most is not None and here < most and link not in CLIENT:
            found.append(Gap(link, here + 1, most, _OUTCOMES.get(link, REFUSED)))
        most = here if most is None else min(most, here)
    return found
