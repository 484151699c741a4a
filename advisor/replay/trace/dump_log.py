"""The text of kafka-dump-log with --deep-iteration or --print-data-log: a line a batch, a line a record.

Words differ by release (keysize or keySize, compresscodec in either case), so each line is read as pairs of
a word and a value. Records of a batch follow it, marked by `|` from 2.3 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...sim.wire.batches import BATCH_OVERHEAD, contents_size, placed_size
from ...syntax.numbers import LONG, integer, is_digits
from ...tuples import NamedTuple

_PAIR = re.compile(r"\b(\w++): (\S++)")


def _partition(line: str) -> tuple[str, int] | None:
    """Of the line `Dumping /data/orders-3/00000000000000000000.log`: orders, 3."""
    _, dumping, path = line.partition("Dumping ")
    folder, _, file = path.rstrip().rpartition("/")
    topic, _, number = folder.rpartition("/")[2].rpartition("-")
    segment = file.removesuffix(".log")
    if not (dumping and topic and segment != file and is_digits(segment) and is_digits(number)):
        return None
    partition = integer(number, (0, 10**9 - 1))
    return None if partition is None else (topic, partition)


class Compression(NamedTuple):
    """Bytes of compressed batches and of their records before."""

    packed: int = 0
    raw: int = 0

    @property
    def ratio(self) -> float | None:
        return self.packed / self.raw if self.raw and self.packed else None


class DumpReader:
    """Rows of the records; `compression` and `batches` count while they are read."""

    def __init__(self, topic: str | None) -> None:
        self.topic, self.partition = topic, 0
        self.compression = Compression()
        self.batches = self.records = 0
        self._codec, self._base, self._stamp, self._left, self._size = "none", 0, 0, 0, 0

    def rows(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        for line in lines:
            named = _partition(line)
            if named is not None:
                self.topic, self.partition = named
                continue
            pairs = {word.lower(): value for word, value in _PAIR.findall(line.partition(" payload:")[0])}
            if "baseoffset" in pairs:
                self._batch(pairs)
            elif "offset" in pairs and ("valuesize" in pairs or "payloadsize" in pairs):
                yield self._record(pairs)

    def _number(self, pairs: dict[str, str], *words: str) -> int | None:
        for word in words:
            if word in pairs:
                return integer(pairs[word].rstrip(","), LONG)
        return None

    def _batch(self, pairs: dict[str, str]) -> None:
        self.batches += 1
        self._codec = pairs.get("compresscodec", "none").lower()
        self._base = self._number(pairs, "baseoffset") or 0
        self._size = self._number(pairs, "size") or 0
        self._left = -1
        if self._codec not in ("none", "nocompressioncodec"):
            packed = max(0, self._size - BATCH_OVERHEAD)
            self.compression = self.compression._replace(packed=self.compression.packed + packed)

    def _record(self, pairs: dict[str, str]) -> dict[str, Any]:
        self.records += 1
        offset = self._number(pairs, "offset")
        stamp = self._number(pairs, "createtime", "logappendtime")
        key_size = self._number(pairs, "keysize")
        value_size = self._number(pairs, "valuesize", "payloadsize")
        if self._left < 0:
            self._left, self._stamp = 0, stamp or 0
        if self._codec not in ("none", "nocompressioncodec") and value_size is not None:
            contents = contents_size(-1 if key_size is None else key_size, value_size)
            size = placed_size(contents, max(0, (offset or 0) - self._base), (stamp or 0) - self._stamp)
            self.compression = self.compression._replace(raw=self.compression.raw + size)
        return {
            "timestamp": stamp, "topic": self.topic, "partition": self.partition, "offset": offset,
            "key_size": key_size, "value_size": value_size,
        }  # fmt: skip
