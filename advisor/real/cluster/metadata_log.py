"""Who led and who was in sync, when: read from the controller's own log.

No broker has to answer for it, so it is told of frozen and of dead ones too. The records are TopicRecord (2),
PartitionRecord (3) and PartitionChangeRecord (5) of Kafka's metadata, in its flexible format.
"""

from __future__ import annotations

import struct
from pathlib import Path

from ...tuples import NamedTuple
from .record_batches import segments, stored_in, unsigned

_TOPIC, _PARTITION, _CHANGE = 2, 3, 5
_NO_LEADER = -1


class PartitionState(NamedTuple):
    at_ms: int
    leader: int | None
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()


def history(folder: Path, topic: str, partition: int = 0) -> list[PartitionState]:
    """Every state of one partition, in order; none if the topic is not there yet."""
    found: list[PartitionState] = []
    topic_id = b""
    for path in segments(folder / "__cluster_metadata-0"):
        for one in stored_in(path):
            if one.control or len(one.value) < 3:
                continue
            _, at = unsigned(one.value, 0)  # the frame's own version
            kind, at = unsigned(one.value, at)
            version, at = unsigned(one.value, at)
            body = _Body(one.value, at)
            if kind == _TOPIC and body.text() == topic:
                topic_id = body.take(16)
            elif kind in (_PARTITION, _CHANGE) and topic_id:
                where = body.int32(), body.take(16)
                if where == (partition, topic_id):
                    found.append(_state(body, kind, version, found, one.timestamp))
    return found


def _state(body: _Body, kind: int, version: int, before: list[PartitionState], at_ms: int) -> PartitionState:
    if kind == _CHANGE:
        last = before[-1]
        tags = body.tags()
        isr = _Body(tags[0], 0).int32s() if 0 in tags else last.isr
        leader = _leader(_Body(tags[1], 0).int32()) if 1 in tags else last.leader
        elr = _Body(tags[6], 0).int32s() if 6 in tags else last.elr
        return PartitionState(at_ms, leader, isr, elr)
    body.int32s()  # replicas
    isr = body.int32s()
    body.int32s()  # removing
    body.int32s()  # adding
    leader = _leader(body.int32())
    body.take(8)  # leader epoch, partition epoch
    if version >= 1:
        body.skip_uuids()
    eligible = body.tags().get(1)
    return PartitionState(at_ms, leader, isr, _Body(eligible, 0).int32s() if eligible else ())


def _leader(number: int) -> int | None:
    return None if number == _NO_LEADER else number


class _Body:
    """The fields of one record, read one after the other."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def int32(self) -> int:
        return int(struct.unpack(">i", self.take(4))[0])

    def _count(self) -> int:
        number, self._at = unsigned(self._data, self._at)
        return number

    def int32s(self) -> tuple[int, ...]:
        return tuple(self.int32() for _ in range(max(self._count() - 1, 0)))

    def skip_uuids(self) -> None:
        self.take(16 * max(self._count() - 1, 0))

    def text(self) -> str:
        return self.take(max(self._count() - 1, 0)).decode()

    def tags(self) -> dict[int, bytes]:
        found = {}
        for _ in range(self._count()):
            tag, size = self._count(), self._count()
            found[tag] = self.take(size)
        return found
