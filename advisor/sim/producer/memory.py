"""What a partition's leader remembers of an idempotent producer, on a clock: a retry after it has forgotten.

The leader keeps the last batches of each producer id and forgets an id that wrote nothing for
`expiration_ms`; it looks for such ids every `check_ms` (ProducerStateManager.removeExpiredProducers: as old
is enough). A producer that it does not know may begin with any sequence (ProducerAppendInfo.checkSequence),
so a batch that was stored, and whose answers were lost until then, is stored again. A producer gives a batch
up when its delivery timeout is over, so one that is remembered for longer than that is never taken for new.

Before 2.4 (KAFKA-7190, ProducerStateManager.truncateHead) it also forgets whom retention has left no record
of. There a producer that is not known has to begin with sequence 0; its client, refused, numbers its batches
anew and sends them again (TransactionManager.canRetry).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...tuples import NamedTuple
from .sequences import STORED, Numbered, ProducerState, judge, remember


class Retried(NamedTuple):
    """`copies` of the batch in the log at the end; `forgotten_ms` is when the leader forgot, None: never."""

    steps: tuple[Mapping[str, Any], ...]
    copies: int
    forgotten_ms: int | None


def retry_in_time(expiration_ms: int, check_ms: int, check_at_ms: int, retry_ms: int) -> Retried:
    """A batch stored at 0, its answer lost, sent again at `retry_ms`; the leader looks first at
    `check_at_ms`."""
    number = Numbered(0, 0, 0)
    known: ProducerState | None = remember(ProducerState(0), number)
    log = ["r0"]
    forgotten: int | None = None
    steps: list[dict[str, Any]] = []

    def told(at: int, name: str, *effects: str) -> None:
        knows = "r0" if known is not None else "nothing"
        steps.append(_step(len(steps) + 1, at, name, f"{name.replace('_', ' ')} r0", effects, log, knows))

    told(0, "write", "stored r0")
    told(0, "lost_response")
    for at in range(check_at_ms, retry_ms + 1, check_ms):
        if known is not None and at >= expiration_ms:
            known, forgotten = None, at
            told(at, "forget")
    verdict = judge(known, number)
    if verdict == STORED:
        log.append("r0")
    told(retry_ms, "retry", f"{verdict} r0")
    return Retried(tuple(steps), len(log), forgotten)


def purged_in_time(retention_ms: int, check_ms: int, idle_ms: int) -> tuple[Mapping[str, Any], ...]:
    """One record, then nothing for `idle_ms`, from nobody: the log is looked at just after the record is too
    old. Then the next one."""
    steps: list[dict[str, Any]] = []
    log = ["r0"]
    knows = "r0"

    def told(at: int, name: str, text: str, *effects: str) -> None:
        steps.append(_step(len(steps) + 1, at, name, text, effects, log, knows))

    told(0, "write", "write r0", "stored r0")
    if idle_ms > retention_ms:
        log.clear()
        knows = "nothing"
        told(min(idle_ms, retention_ms + check_ms), "delete", "delete segments", "deleted r0")
        told(idle_ms, "send", "send r1 with sequence 1", "refused r1: UNKNOWN_PRODUCER_ID")
        told(idle_ms, "renumber", "number anew from sequence 0")
    log.append("r1")
    knows = "r1"
    told(idle_ms, "send", "send r1", "stored r1")
    return tuple(steps)


def _step(
    number: int, at: int, name: str, text: str, effects: Sequence[str], log: Sequence[str], knows: str
) -> dict[str, Any]:
    cells = {"log": f"[{' '.join(log)}]", "leader knows": knows}
    state = {"kind": "producer-memory", "cells": cells, "log": list(log)}
    event = {"name": name, "text": text}
    return {"step": number, "t_ms": at, "event": event, "effects": list(effects), "state": state}
