"""The baseline of the search bench: a plain breadth-first search with a dict of tuples, and nothing clever.

It asks the question of tests/sim/specification.py for KIP-320 and is written as one would write it by hand
for that question alone: flat tuples, bit masks, no layers. About 100,000 states a core-second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

# (logs, high watermarks, epochs, leaders, ISRs as masks, quorum leader, quorum ISR, requests, records
# written); a log is a tuple of (record, epoch), a request is (leader, ISR) and its epoch is its place.
State = tuple  # type: ignore[type-arg]


def search(replicas: int, records: int, epoch_max: int) -> tuple[int, bool]:
    """The number of distinct states, and whether StrongIsr holds in all of them."""
    everyone = (1 << replicas) - 1
    none = (-1,) * replicas
    start: State = (((),) * replicas, (0,) * replicas, none, none, (0,) * replicas, -1, everyone, (), 0)
    came_from: dict[State, State | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        for after in successors(state, replicas, records, epoch_max):
            if after not in came_from:
                came_from[after] = state
                if not strong_isr(after, replicas):
                    return len(came_from), False
                queue.append(after)
    return len(came_from), True


def put(items: tuple, place: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:place], item, *items[place + 1 :])


def successors(state: State, replicas: int, records: int, epoch_max: int) -> Iterator[State]:
    logs, hws, epochs, leaders, isrs, leader, isr, requests, written = state
    if len(requests) <= epoch_max:
        for r in range(replicas):
            if isr >> r & 1 and r != leader:
                yield logs, hws, epochs, leaders, isrs, r, isr, (*requests, (r, isr)), written
            if r == leader:
                less = isr & ~(1 << r) or isr
                yield logs, hws, epochs, leaders, isrs, -1, less, (*requests, (-1, less)), written
            elif isr >> r & 1:
                less = isr & ~(1 << r)
                yield logs, hws, epochs, leaders, isrs, leader, less, (*requests, (leader, less)), written
    for r in range(replicas):
        log, hw, epoch = logs[r], hws[r], epochs[r]
        for e in range(epoch + 1, len(requests)):
            lead, with_isr = requests[e]
            if lead == r:
                yield (
                    logs, hws, put(epochs, r, e), put(leaders, r, r), put(isrs, r, with_isr),
                    leader, isr, requests, written,
                )  # fmt: skip
            elif lead >= 0 and leaders[lead] == lead and epochs[lead] == e:
                end = 0
                for offset in range(min(len(log), len(logs[lead]))):
                    if log[offset] == logs[lead][offset]:
                        end = offset + 1
                yield (
                    put(logs, r, log[:end]), put(hws, r, min(hw, end)), put(epochs, r, e),
                    put(leaders, r, lead), put(isrs, r, with_isr), leader, isr, requests, written,
                )  # fmt: skip
        if leaders[r] == r:
            mine = isrs[r]
            if written < records and len(log) < records:
                longer = put(logs, r, (*log, (written, epoch)))
                yield longer, hws, epochs, leaders, isrs, leader, isr, requests, written + 1
            follow = [leaders[f] == r and epochs[f] == epoch for f in range(replicas)]
            if hw < len(log) and all(
                follow[f] and hw < len(logs[f]) for f in range(replicas) if mine >> f & 1
            ):
                yield logs, put(hws, r, hw + 1), epochs, leaders, isrs, leader, isr, requests, written
            if leader == r and epoch == len(requests) - 1:
                reached = hw == len(log) or log[hw][1] == epoch
                for f in range(replicas):
                    if mine >> f & 1:
                        changed = mine & ~(1 << f)
                        allowed = f != r and (not follow[f] or len(logs[f]) < len(log))
                    else:
                        changed = mine | 1 << f
                        allowed = follow[f] and len(logs[f]) >= hw and reached
                    if allowed:
                        yield (
                            logs, hws, epochs, leaders, put(isrs, r, changed),
                            leader, changed, requests, written,
                        )  # fmt: skip
        elif leaders[r] >= 0:
            lead = leaders[r]
            if leaders[lead] == lead and epochs[lead] == epoch and len(log) < len(logs[lead]):
                longer = put(logs, r, (*log, logs[lead][len(log)]))
                yield (
                    longer, put(hws, r, min(hws[lead], len(log) + 1)), epochs, leaders, isrs,
                    leader, isr, requests, written,
                )  # fmt: skip


def strong_isr(state: State, replicas: int) -> bool:
    logs, hws, _, leaders, _, _, isr, _, _ = state
    for r in range(replicas):
        hw = hws[r]
        if hw and leaders[r] == r:
            for f in range(replicas):
                if isr >> f & 1 and (logs[f][:hw] != logs[r][:hw] or len(logs[f]) < hw):
                    return False
    return True
