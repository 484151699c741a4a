"""Leader epochs: which epoch wrote which offsets of a log, and where a follower must cut its own log.

A replica keeps one entry (epoch, start offset) for every leader epoch that wrote to its log. A follower
asks the leader where an epoch of its own ends and truncates to the answer (KIP-101, Kafka 0.11; KIP-279 in
2.0 made the leader answer with the epoch it knows as well). The behaviour is that of LeaderEpochFileCache
in 4.x; the text is that of its file, `leader-epoch-checkpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...tuples import NamedTuple

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
CHECKPOINT_VERSION = 0
_INT_MAX = 2**31 - 1
_LONG_MAX = 2**63 - 1


class EpochEntry(NamedTuple):
    """`epoch` wrote from `start_offset` on, up to the start of the next entry."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class EpochCache:
    """The entries of one replica, oldest first; epochs and start offsets both rise strictly."""

    entries: tuple[EpochEntry, ...] = ()

    def assign(self, epoch: int, start_offset: int) -> EpochCache:
        """The cache after `epoch` began at `start_offset`.

        Records of the latest epoch change nothing. Anything else drops every entry that the new one
        contradicts: an epoch as high, or an offset as late. So an epoch that wrote nothing vanishes when the
        next one begins at its offset.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"epoch {epoch} at offset {start_offset}: neither may be negative")
        latest = self.latest
        if latest is not None and latest.epoch == epoch and latest.start_offset <= start_offset:
            return self
        kept = tuple(e for e in self.entries if e.epoch < epoch and e.start_offset < start_offset)
        return EpochCache((*kept, EpochEntry(epoch, start_offset)))

    def truncate_from_end(self, end_offset: int) -> EpochCache:
        """The cache after the log was cut to end at `end_offset`; a negative offset cuts nothing."""
        if end_offset < 0:
            return self
        return EpochCache(tuple(e for e in self.entries if e.start_offset < end_offset))

    def truncate_from_start(self, start_offset: int) -> EpochCache:
        """The cache after everything below `start_offset` was deleted.

        The epoch that covers `start_offset` stays and now begins there, even where it wrote nothing
        beyond: the log must not forget the epoch it is in.
        """
        gone = tuple(e for e in self.entries if e.start_offset <= start_offset)
        if not gone:
            return self
        return EpochCache((EpochEntry(gone[-1].epoch, start_offset), *self.entries[len(gone) :]))

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(epoch known here, its end offset): what a leader answers to OffsetsForLeaderEpoch.

        The latest epoch ends at the end of the log, an older one where the next larger one begins. An epoch
        beyond all known ones has no answer, (-1, -1): the asker is ahead. One older than all known ones ends
        where the log now begins, as its records are deleted, and is answered with its own number.
        """
        latest = self.latest
        if latest is not None and latest.epoch == epoch and epoch != UNDEFINED_EPOCH:
            return epoch, log_end_offset
        following = [e for e in self.entries if e.epoch > epoch]
        if epoch == UNDEFINED_EPOCH or not following:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        floor = [e.epoch for e in self.entries if e.epoch <= epoch]
        return floor[-1] if floor else epoch, following[0].start_offset

    @property
    def latest(self) -> EpochEntry | None:
        return self.entries[-1] if self.entries else None

    def latest_epoch(self) -> int | None:
        return self.entries[-1].epoch if self.entries else None

    def previous_epoch(self, epoch: int) -> int | None:
        """The largest epoch below `epoch`."""
        return max((e.epoch for e in self.entries if e.epoch < epoch), default=None)

    def next_epoch(self, epoch: int) -> int | None:
        """The smallest epoch above `epoch`."""
        return min((e.epoch for e in self.entries if e.epoch > epoch), default=None)

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch that wrote `offset`, were the log long enough."""
        return max((e.epoch for e in self.entries if e.start_offset <= offset), default=None)

    def entry(self, epoch: int) -> EpochEntry | None:
        return next((e for e in self.entries if e.epoch == epoch), None)

    def in_range(self, start_offset: int, end_offset: int) -> tuple[EpochEntry, ...]:
        """The entries of the offsets from `start_offset` to before `end_offset`, the first one cut to fit."""
        kept = self if start_offset < 0 else self.truncate_from_start(start_offset)
        return kept.truncate_from_end(end_offset).entries


def cache_of(entries: Iterable[tuple[int, int]]) -> EpochCache:
    """The cache a broker builds from entries it reads: each is assigned in turn, contradictions drop out."""
    cache = EpochCache()
    for epoch, start_offset in entries:
        cache = cache.assign(epoch, start_offset)
    return cache


class CheckpointError(ValueError):
    """A `leader-epoch-checkpoint` that Kafka would refuse to load; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


def parse_checkpoint(text: str) -> tuple[EpochEntry, ...]:
    """The entries of a `leader-epoch-checkpoint`: a version line, a count line, then "epoch offset" lines.

    Kafka's CheckpointFile takes an empty file, or one that ends after the version, for no entries at all;
    every other surprise stops the broker's log directory, so each is an error here.
    """
    lines = re.split(r"\r\n|\n|\r", text)
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return ()
    version = _number(lines[0], 1, "the version of the file, a whole number", _INT_MAX)
    if version != CHECKPOINT_VERSION:
        raise CheckpointError(1, f"version {version}, but the only version known is {CHECKPOINT_VERSION}")
    if len(lines) == 1:
        return ()
    count = _number(lines[1], 2, "the number of entries, a whole number", _INT_MAX)
    entries = tuple(_entry(line, number) for number, line in enumerate(lines[2:], start=3))
    if len(entries) != count:
        raise CheckpointError(2, f"{count} entries announced, {len(entries)} found")
    return entries


def _entry(line: str, number: int) -> EpochEntry:
    # Leading white space makes an empty first field, as it does in Kafka's split; trailing does not.
    fields = re.split(r"[ \t\x0b\f]+", line.rstrip(" \t\x0b\f"))
    if len(fields) != 2:
        raise CheckpointError(number, f'expected "epoch offset", found {line!r}')
    epoch = _number(fields[0], number, "an epoch", _INT_MAX)
    start_offset = _number(fields[1], number, "a start offset", _LONG_MAX)
    if epoch < 0 or start_offset < 0:
        raise CheckpointError(number, f"epoch {epoch} at offset {start_offset}: neither may be negative")
    return EpochEntry(epoch, start_offset)


def _number(text: str, line: int, what: str, largest: int) -> int:
    # Twenty digits hold every long; int() refuses texts of thousands.
    if not re.fullmatch(r"[+-]?0*[0-9]{1,20}", text) or not -largest - 1 <= int(text) <= largest:
        raise CheckpointError(line, f"expected {what}, found {text!r}")
    return int(text)


def explain_checkpoint(entries: tuple[EpochEntry, ...], log_end_offset: int | None = None) -> tuple[str, ...]:
    """What the entries mean, one sentence a line, with the answer a follower of each epoch would get."""
    cache = cache_of(entries)
    if not cache.entries:
        return ("No leader epoch has written to this replica's log: a follower that asks gets no answer.",)
    lines = [*_dropped(entries, cache)]
    end = "the end of this log" if log_end_offset is None else f"{log_end_offset}, the end of this log"
    for index, (epoch, start) in enumerate(cache.entries):
        following = cache.entries[index + 1] if index + 1 < len(cache.entries) else None
        if following is None:
            lines.append(
                f"Epoch {epoch} wrote from offset {start} on and is the latest: "
                f"a follower whose last epoch is {epoch} is told {end}, and keeps what it has before that."
            )
        else:
            lines.append(
                f"Epoch {epoch} wrote offsets {start} to {following.start_offset - 1}: "
                f"a follower whose last epoch is {epoch} is told {following.start_offset}, where epoch "
                f"{following.epoch} begins, and cuts off whatever it has from there on."
            )
        if following is not None and following.epoch - epoch > 1:
            lines.append(_between(epoch, following))
    first, last = cache.entries[0], cache.entries[-1]
    if first.epoch > 0:
        lines.append(
            f"An epoch before {first.epoch} has no records left here: the answer is {first.start_offset}, "
            "where the oldest known epoch begins."
        )
    lines.append(
        f"An epoch after {last.epoch} is unknown here: no answer, as the asker is ahead of this replica."
    )
    return tuple(lines)


def _between(epoch: int, following: EpochEntry) -> str:
    missing = range(epoch + 1, following.epoch)
    named = f"Epoch {missing[0]}" if len(missing) == 1 else f"Epochs {missing[0]} to {missing[-1]}"
    return (
        f"{named} wrote nothing that is kept: asked for, the answer is epoch {epoch} "
        f"and offset {following.start_offset}."
    )


def _dropped(entries: tuple[EpochEntry, ...], cache: EpochCache) -> Iterable[str]:
    for entry in entries:
        if entry not in cache.entries:
            yield (
                f"The entry {entry.epoch} {entry.start_offset} contradicts a later one "
                "(epochs and offsets both rise in a sound file) and is dropped when a broker loads it."
            )
