"""What happens to one deployment when brokers go away: played on the clock, summed up in figures.

A broker's process dies, for good or for a while (`crash`), every broker is restarted in turn (`roll`), no
broker answers for a while (`silence`), all replicas of a rack go (`lost_rack`). One partition is played, at
up to PLAYED records a second; a higher rate is played at that pace, batches and memory scaled alike, and its
counts are multiplied. Figures are ranges over the timeline's grid of phases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....context import Again
from ....join.reader import Reader
from ....model import Deployment
from ....sim.clock.grid import GRID
from ....sim.clock.measure import Known, Measured
from ....sim.clock.producer.policy import ClientPolicy
from ....sim.clock.quorum import until_fenced
from ....sim.clock.record import record
from ....sim.clock.replicas import ClusterPolicy
from ....sim.clock.timeline import Setup, Step
from ....sim.ranges import BOOT, FENCE_LATE, MILLISECOND, SECOND, SHRINK_RATIO, STOP
from ....sim.wire.batches import BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, contents_size
from ....tuples import NamedTuple

PLAYED, PLAYED_MAX, PLAYED_CLOSELY = 50, 800, 3_000
# No rate is stated: records are counted per so many a second.
PER = 1000
BYTES = 1000
# Before the fault, after the last step, and beyond the slowest phase of what is waited for.
LEAD, TAIL, MARGIN = 2 * SECOND, 3 * SECOND, 5 * SECOND
# An outage is played for so long at the most, in milliseconds: the rest of it is more of the same (`longer`).
PLAYED_MAX_MS = 600_000
# Shorter waits of send() are no sign that memory is short.
PAUSED_MS = 1_000
# send() was refused: no memory for so long.
REFUSED = "BufferExhaustedException"

# Runs are this process's own: what is kept on disk is kept by the whole setup.
_KNOWN = Known()

Remember = Callable[[str, str, Callable[[], Any]], Any]
Range = tuple[int, int]


class Load(NamedTuple):
    """What is sent to the brokers that fail. `stated`: the rate is the project's own, `total` all of it.
    `sized`: the size of a record is stated too, without which nothing is said of memory."""

    rate: float
    total: float
    size: int
    stated: bool
    sized: bool
    assumptions: tuple[str, ...]


class Figures(NamedTuple):
    """Least and most over the phases; times in milliseconds, records at the load's rate. `resumes`: writes go
    on before anything is brought back, in every phase (True), in none (False) or in some (None)."""

    stopped: Range
    failed: Range
    refused: Range
    blocked: Range
    lost: Range
    stranded: Range
    duplicates: Range
    readable: Range
    errors: tuple[str, ...]
    resumes: bool | None
    leaders: tuple[int, ...]


def load_of(look: Reader, part: str = "one broker") -> Load:
    """The stated workload, as much of it as goes to `part` of the cluster: one broker, or all."""
    rate, size = look.workload("records_per_second"), look.workload("record_bytes")
    said = []
    share = 1.0
    partitions, brokers = look.count("topic.partitions"), look.count("cluster.brokers")
    if rate is None:
        said.append(
            f"no rate is stated ([workload] records_per_second): {PER:,} records/s go to what is away"
        )
    elif part == "one broker" and partitions and brokers and partitions > 1:
        led = -(-partitions // brokers)
        share = led / partitions
        said.append(f"the broker leads {led} of {partitions} partitions, and records are spread evenly")
    elif part == "one broker":
        said.append("all records go to partitions that the broker leads")
    if size is None:
        said.append("memory is taken to be ample: no record size is stated ([workload] record_bytes)")
    total = float(rate if rate is not None else PER)
    sized = size is not None and rate is not None
    return Load(total * share, total, int(size or BYTES), rate is not None, sized, tuple(said))


def fenced_after(cluster: ClusterPolicy) -> Range:
    """From a broker's death to its fence, the least and the most: its last heartbeat is up to an interval
    old."""
    least = cluster.session_timeout - cluster.heartbeat_interval + FENCE_LATE[0]
    most = cluster.session_timeout + cluster.session_tick + FENCE_LATE[-1]
    if cluster.voters_at:
        # It may be the active controller as well; then another has to take over first.
        both = until_fenced(cluster.control, cluster.session_timeout, cluster.heartbeat_interval, 1)
        most = max(most, both.most + FENCE_LATE[-1] if both is not None else most)
    return max(0, least), most


def variants(setup: Setup) -> list[Setup]:
    """The broker that fails is the active controller too, or it is not."""
    seats = setup.cluster.voters_at
    if len(seats) < 2:
        return [setup]
    return [setup, setup._replace(cluster=setup.cluster._replace(voters_at=(*seats[1:], seats[0])))]


# -- schedules ---------------------------------------------------------------------------------------------


def crash(setup: Setup, length: int | None = None) -> list[Step]:
    """The leader's process dies; without a `length` it stays away until another leads."""
    _, fence = fenced_after(setup.cluster)
    others = list(range(1, setup.partition.replicas))
    away = fence + MARGIN if length is None else length
    steps = [Step("sleep", timeout=LEAD), Step("kill9", 0)]
    if length is None and others:
        steps += [Step("wait_leader", others, timeout=away), Step("sleep", timeout=TAIL)]
    else:
        steps += [Step("sleep", timeout=away)]
    back = [Step("start", 0), _all_in_sync(setup), Step("sleep", timeout=TAIL)]
    return [*steps, *back] if length is not None else steps


def handover(setup: Setup) -> list[Step]:
    """The leader is shut down properly, as in any restart."""
    return [Step("sleep", timeout=LEAD), Step("term", 0), Step("sleep", timeout=TAIL)]


def roll(setup: Setup) -> list[Step]:
    steps = [Step("sleep", timeout=LEAD)]
    for broker in range(setup.partition.replicas):
        steps += [Step("term", broker), Step("sleep", timeout=SECOND), Step("start", broker)]
        steps.append(_all_in_sync(setup))
    return [*steps, Step("sleep", timeout=TAIL)]


def silence(setup: Setup, length: int) -> tuple[Setup, list[Step]]:
    """No broker answers for so long, and then all do: nobody is fenced and no ISR shrinks meanwhile."""
    cluster = setup.cluster._replace(
        session_timeout=max(setup.cluster.session_timeout, 2 * length),
        lag_time_max=max(setup.cluster.lag_time_max, 2 * length),
    )
    brokers = range(setup.partition.replicas)
    return setup._replace(cluster=cluster), [
        Step("sleep", timeout=LEAD),
        *(Step("sigstop", broker) for broker in brokers),
        Step("sleep", timeout=length),
        *(Step("sigcont", broker) for broker in brokers),
        Step("sleep", timeout=TAIL),
    ]


def lost_rack(setup: Setup, brokers: Sequence[int]) -> list[Step]:
    _, fence = fenced_after(setup.cluster)
    lag = int(SHRINK_RATIO[-1] * setup.cluster.lag_time_max)
    away = max(fence, lag) + MARGIN
    return [
        Step("sleep", timeout=LEAD),
        *(Step("kill9", broker) for broker in brokers),
        Step("sleep", timeout=away),
    ]


def _all_in_sync(setup: Setup) -> Step:
    _, session = fenced_after(setup.cluster)
    everybody = list(range(setup.partition.replicas))
    return Step("wait_isr", everybody, timeout=BOOT[-1] + session + 2 * MARGIN)


def duration(setup: Setup, steps: Sequence[Step]) -> int:
    """How long the records must go on: as long as the slowest phase takes."""
    total = 0
    for step in steps:
        total += step.timeout if step.name in ("sleep", "wait_leader") else 0
        total += BOOT[-1] + 2 * SECOND if step.name == "start" else 0
        total += 2 * STOP[-1] if step.name == "term" else 0
    return total


# -- played ------------------------------------------------------------------------------------------------


def play(setup: Setup, steps: Sequence[Step], load: Load, remember: Remember) -> Figures:
    """The figures of a schedule under a load, each distinct one played once."""
    setup, schedule, factor = prepared(setup, steps, load)
    rows = _played(setup, schedule, remember)
    return _figures(rows, factor, setup.client.max_block < schedule[0].gap)


def _played(setup: Setup, schedule: Sequence[Step], remember: Remember) -> list[dict[str, Any]]:
    def compute() -> Any:
        return [_row(one) for each in variants(setup) for one in _KNOWN.measure(each, schedule)]

    return list(remember("outage", repr((setup, schedule)), compute))


def prepared(setup: Setup, steps: Sequence[Step], load: Load) -> tuple[Setup, list[Step], float]:
    """The setup and the schedule as they are played, and by what counts are to be multiplied."""
    lasts = duration(setup, steps)
    pace = min(PLAYED, max(1.0, PLAYED_MAX * SECOND / lasts))
    if setup.client.acks != "all" and setup.partition.replicas > 1:
        # What is lost is what was sent within a moment of the fault: more of them tell it more exactly.
        pace = min(PLAYED, max(pace, PLAYED_CLOSELY * SECOND / lasts))
    client, factor = scaled(setup.client, load, pace)
    gap = int(SECOND * factor / load.rate)
    sending = Step("send", max(1, lasts // gap), size=load.size, gap=gap)
    return setup._replace(client=client), [sending, *steps], factor


def scaled(client: ClientPolicy, load: Load, pace: float) -> tuple[ClientPolicy, float]:
    """The client at the pace that is played, and by what counts are to be multiplied: as many batches fill in
    a second, and memory is full after as many seconds, as at the stated rate."""
    factor = max(1.0, load.rate / pace)
    if client.batches_late:
        return _scaled_late(client, load, factor), factor
    if factor == 1.0 and load.sized:
        return client, factor
    contents = contents_size(-1, load.size)
    batch, each = _batch(client, load.size)
    fewer = max(1, int(each / factor))
    size = BATCH_OVERHEAD + fewer * (contents + MAX_RECORD_OVERHEAD)
    if not load.sized:
        return client._replace(batch_size=size, buffer_memory=1 << 40), factor
    records = client.buffer_memory // batch * each / factor
    memory = max(size, int(records / fewer * size))
    return client._replace(batch_size=size, buffer_memory=memory), factor


def _row(one: Measured) -> dict[str, Any]:
    return {
        "stopped": one.stopped,
        "blocked": one.blocked,
        "failed": dict(one.failed),
        "lost": one.outcome.acked_lost,
        "duplicates": one.outcome.duplicates,
        "readable": one.outcome.failed_but_readable,
        "stranded": one.stranded,
        "going": one.going,
        "leader": one.leader,
    }


def _figures(rows: Sequence[Mapping[str, Any]], factor: float, at_once: bool) -> Figures:
    def span(values: Sequence[float]) -> Range:
        return round(min(values)), round(max(values))

    def times(name: str) -> Range:
        return span([row[name] / MILLISECOND for row in rows])

    def records(name: str) -> Range:
        return span([row[name] * factor for row in rows])

    # One thread sends: while it waits for memory it offers nothing else, whatever the rate.
    refusals = factor if at_once else 1.0
    going = {row["going"] for row in rows}
    return Figures(
        times("stopped"),
        span([factor * sum(n for name, n in row["failed"].items() if name != REFUSED) for row in rows]),
        span([refusals * row["failed"].get(REFUSED, 0) for row in rows]),
        times("blocked"),
        records("lost"),
        records("stranded"),
        records("duplicates"),
        records("readable"),
        tuple(sorted({name for row in rows for name in row["failed"]})),
        going.pop() if len(going) == 1 else None,
        tuple(sorted({row["leader"] for row in rows})),
    )


def settles(setup: Setup) -> bool:
    """Whether an outage comes to a steady state within half of what is played of it: every timeout has run
    out by then, and each record that is sent meets what the one before it met."""
    cluster, client = setup.cluster, setup.client
    waits = (
        fenced_after(cluster)[1],
        int(SHRINK_RATIO[-1] * cluster.lag_time_max),
        client.linger + client.delivery_timeout,
    )
    return max(waits) < PLAYED_MAX_MS * MILLISECOND // 2


def longer(figures: Figures, load: Load, more_ms: int) -> Figures | None:
    """The figures of an outage that lasts so much longer than the one played, which had settled. Where writes
    go on without who is away nothing changes; where they do not, every record that is sent meanwhile expires.
    None where it is no matter of the rate alone: send() waits for memory, or nobody waits for an answer."""
    if figures.stopped[1] < PLAYED_MAX_MS // 2:
        return figures
    waits = figures.refused[1] or figures.blocked[1] >= PAUSED_MS
    if figures.stopped[0] < PLAYED_MAX_MS // 2 or waits or figures.lost[1] or not figures.failed[0]:
        return None
    expired = round(load.rate * more_ms / 1000)
    return figures._replace(
        stopped=(figures.stopped[0] + more_ms, figures.stopped[1] + more_ms),
        failed=(figures.failed[0] + expired, figures.failed[1] + expired),
    )


# -- in words ----------------------------------------------------------------------------------------------


def seconds(span: Range) -> str:
    least, most = (f"{value / 1000:.1f}".removesuffix(".0") for value in span)
    return f"{least} s" if least == most else f"{least} to {most} s"


def count(span: Range) -> str:
    """To two figures: a simulated count is no exacter than that."""
    least, most = (round(value, 2 - len(str(value))) if value >= 100 else value for value in span)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def rate_text(load: Load) -> str:
    return f"at {load.total:,.0f} records/s" if load.total >= 10 else f"at {load.total:.2g} records/s"


def is_written_to(deployment: Deployment) -> bool:
    return deployment.producer is not None or deployment.topic is not None


# -- memory ------------------------------------------------------------------------------------------------


def _scaled_late(client: ClientPolicy, load: Load, factor: float) -> ClientPolicy:
    """The same of librdkafka, which counts the records that wait and their bytes."""
    each = BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + contents_size(-1, load.size)
    records = int(_room(client, load) / factor) if load.sized else None
    return client._replace(
        batch_size=max(1, int(client.batch_size / factor)),
        buffer_memory=1 << 40,
        max_request_size=max(client.max_request_size, each),
        records_max=None if records is None else max(1, records),
    )


def _room(client: ClientPolicy, load: Load) -> int:
    """How many records of librdkafka's may wait."""
    by_bytes = client.buffer_memory // load.size
    return by_bytes if client.records_max is None else min(by_bytes, client.records_max)


def _batch(client: ClientPolicy, size: int) -> tuple[int, int]:
    """The memory of a batch, and how many records of this size it takes."""
    contents = contents_size(-1, size)
    memory = max(client.batch_size, BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + contents)
    return memory, max(1, (memory - BATCH_OVERHEAD) // (contents + MAX_RECORD_OVERHEAD))


def lasts(client: ClientPolicy, load: Load) -> int:
    """Milliseconds until the buffer is full when nothing leaves it."""
    if client.batches_late:
        return int(_room(client, load) / load.rate * 1000)
    memory, records = _batch(client, load.size)
    return int(client.buffer_memory // memory * records / load.rate * 1000)


def memory_for(client: ClientPolicy, load: Load, ms: int) -> int:
    """What the buffer needs to take in all that is sent in that time, with a little to spare."""
    if client.batches_late:
        return int(load.rate * ms / 1000 * load.size * 1.1)
    memory, records = _batch(client, load.size)
    return int(load.rate * ms / 1000 / records * memory * 1.1) + memory


# -- a run to show -----------------------------------------------------------------------------------------

BOUNDS = f"one partition on the clock, {len(GRID)} phases"
ROWS_MAX = 24


def told(setup: Setup, steps: Sequence[Step], load: Load, remember: Remember) -> tuple[dict[str, Any], ...]:
    """The run with the most failures, a row for each event, in the report's shape."""
    setup, schedule, _ = prepared(setup, steps, load)
    rows = _played(setup, schedule, remember)
    worst = max(range(len(rows)), key=lambda n: (sum(rows[n]["failed"].values()), rows[n]["duplicates"], -n))
    variant, phase = divmod(worst, len(GRID))

    def compute() -> Any:
        brokers = range(1, setup.partition.replicas + 1)
        return _cells(record(variants(setup)[variant], schedule, GRID[phase], list(brokers)).rows)

    return tuple(remember("outage-run", repr((setup, schedule)), compute))


def told_again(
    steps: Sequence[Step],
    load: Load,
    remember: Remember,
    adjusted: Callable[[Setup], Setup] = lambda setup: setup,
) -> Again:
    """The same happens to another deployment."""

    def played(changed: Deployment) -> Sequence[Mapping[str, Any]]:
        from .setup import timed

        other = timed(changed)
        return told(adjusted(other.setup), steps, load, remember) if other is not None else ()

    return played


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for row in rows:
        state = row["state"]
        producer = state["clients"]["producer"]
        if row["event"]["name"] == "replicate" and kept and kept[-1]["event"]["name"] == "replicate":
            kept.pop()
        cells = {
            "leader": "none" if state["leader"] is None else f"b{state['leader']}",
            "ISR": ",".join(f"b{broker}" for broker in state["isr"]) or "none",
            "acked": str(producer["acked"]),
            "waiting": str(producer["waiting"]),
            "failed": str(sum(producer["errors"].values())),
        }
        event = dict(row["event"])
        if event["name"] == "replicate":
            event |= {"waits": producer["waiting"] > 1, "acked": 0}
            event["text"] = "records wait" if event["waits"] else "records copied"
        counts = {"acked": producer["acked"], "waiting": producer["waiting"]}
        counts["failed"] = sum(producer["errors"].values())
        effects = [effect for effect in row["effects"] if not effect.startswith("failed")]
        kept.append(
            {"t_ms": row["t_ms"], "event": event, "effects": effects, "cells": cells, "counts": counts}
        )
    return [
        {
            "step": number,
            "t_ms": row["t_ms"],
            "event": row["event"],
            "effects": row["effects"],
            "state": {"kind": "timeline", "cells": row["cells"], "counts": row["counts"]},
        }
        for number, row in enumerate(kept[:ROWS_MAX], 1)
    ]
