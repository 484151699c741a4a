"""Output of kafka-producer-perf-test and kafka-consumer-perf-test: how many records of what size, when.

The producer's prints a line every five seconds, without a clock, then one for all; the consumer's a line with
its times. Records are spread evenly over each line's time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from ...packs.conditions import number
from ...syntax.numbers import LONG, integer
from ...tuples import NamedTuple

# A Monday: the producer's output says no time.
BEGIN_MS = 946_857_600_000
_EVERY_MS = 5_000
_PRODUCED = re.compile(
    r"^([0-9]{1,15}) records sent, ([0-9.]{1,20}) records/sec \(([0-9.]{1,20}) MB/sec\), "
    r"([0-9.]{1,20}) ms avg latency, ([0-9.]{1,20}) ms max latency"
)
_TIME = "%Y-%m-%d %H:%M:%S:%f"


class Stretch(NamedTuple):
    """Records of one size, evenly over some milliseconds."""

    begin_ms: int
    length_ms: int
    records: int
    value_size: int


class PerfOutput(NamedTuple):
    stretches: tuple[Stretch, ...]
    notes: tuple[str, ...]


def read_perf(lines: Sequence[str]) -> PerfOutput | None:
    """None: neither of the two."""
    produced = [match for match in map(_PRODUCED.match, lines) if match is not None]
    if produced:
        return _produced(produced)
    return _consumed([line.strip() for line in lines if line.strip()])


def _amount(text: str) -> float:
    return number(text) or 0.0


def _produced(found: list[re.Match[str]]) -> PerfOutput:
    """The last line is the sum of all; where it stands alone it is all that is known."""
    *parts, last = found
    total = integer(last[1], LONG) or 0
    rate, megabytes = _amount(last[2]), _amount(last[3])
    size = round(megabytes * (1 << 20) / rate) if rate else 0
    note = (
        f"kafka-producer-perf-test: {rate:,.0f} records a second of {size} bytes, {_amount(last[4]):g} ms on "
        f"average, {_amount(last[5]):g} ms at most; its clock is not in the output"
    )
    if sum(integer(part[1], LONG) or 0 for part in parts) > total:
        parts = found
    stretches = []
    begin = BEGIN_MS
    for part in parts or [last]:
        records, pace = integer(part[1], LONG) or 0, _amount(part[2])
        length = round(records / pace * 1000) if pace else _EVERY_MS
        each = round(_amount(part[3]) * (1 << 20) / pace) if pace else size
        stretches.append(Stretch(begin, max(1, length), records, each))
        begin += max(1, length)
    rest = total - sum(one.records for one in stretches)
    if parts and parts is not found and rest > 0 and rate:
        stretches.append(Stretch(begin, max(1, round(rest / rate * 1000)), rest, size))
    return PerfOutput(tuple(stretches), (note,))


def _consumed(lines: list[str]) -> PerfOutput | None:
    head = next((n for n, line in enumerate(lines) if line.startswith("start.time")), None)
    if head is None:
        return None
    names = [word.strip() for word in lines[head].split(",")]
    stretches, notes = [], []
    for line in lines[head + 1 :]:
        row = dict(zip(names, (word.strip() for word in line.split(",")), strict=False))
        try:
            begin, end = (
                datetime.strptime(row[name], _TIME).replace(tzinfo=UTC) for name in ("start.time", "end.time")
            )
        except (KeyError, ValueError):
            continue
        records = integer(row.get("data.consumed.in.nMsg", ""), LONG) or 0
        size = round(_amount(row.get("data.consumed.in.MB", "")) * (1 << 20) / records) if records else 0
        length = max(1, round((end - begin).total_seconds() * 1000))
        stretches.append(Stretch(round(begin.timestamp() * 1000), length, records, size))
        notes.append(
            f"kafka-consumer-perf-test: {records * 1000 / length:,.0f} records a second of {size} bytes "
            "were read"
        )
    return PerfOutput(tuple(stretches), tuple(notes)) if stretches else None
