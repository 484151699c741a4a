"""What a partition's leader remembers of an idempotent producer, on a clock: a retry after it has forgotten.

The leader keeps the last batches of each producer id and forgets an id that wrote nothing for
`expiration_ms`; it looks for such ids every `check_ms` (ProducerStateManager.removeExpiredProducers: as old
is enough). A producer that it does not know may begin with any sequence (ProducerAppendInfo.checkSequence),
so a batch that was stored, and whose answers were lost until then, is stored again. A producer gives a batch
up when its delivery timeout is over, so one that is remembered for longer than that is never taken for new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

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
        cells = {"log": f"[{' '.join(log)}]", "leader knows": "r0" if known is not None else "nothing"}
        state = {"kind": "producer-memory", "cells": cells, "log": list(log)}
        event = {"name": name, "text": name.replace("_", " ") + " r0"}
        steps.append(
            {"step": len(steps) + 1, "t_ms": at, "event": event, "effects": list(effects), "state": state}
        )

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
