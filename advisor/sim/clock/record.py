"""A run of a schedule as timed rows: leader, ISR, every log's end and high watermark, what was acknowledged.

`record` plays one schedule under one phase, as `timeline.outcomes` does, and keeps a row for every step of
the schedule and every event that changes more than the ends of logs. What lies between (records appended,
copied, acknowledged) is one row, "replicate", at the moment of its last change, and at least one every
`sample`. Rows have the shape of a step in the JSON report, with `t_ms` besides; offsets and records are the
producer's, one a record. A run that is not recorded pays nothing for this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...tuples import NamedTuple
from ..partition.state import UP, Event, Replica, in_office, members
from ..partition.step import step as transition
from ..ranges import MILLISECOND, SECOND
from ..search.verdict import Effect
from .clock import UNBOUNDED
from .cluster import Cluster
from .grid import GRID, Phase
from .producer.client import Client
from .producer.connections import Batch
from .replicas import Append
from .timeline import WAITING, Outcome, Run, Setup, Step

# Events that only move the ends of logs: told together.
QUIET = ("produce", "fetch", "write")
# Steps that take their time: told when they begin.
LASTING = ("send", "term")
TOLD = ("elected", "joined", "truncated")
# After so long without a change a row is complete.
PAUSE = 100 * MILLISECOND
Row = dict[str, Any]


class Record(NamedTuple):
    outcome: Outcome
    rows: tuple[Row, ...]


def record(
    setup: Setup,
    schedule: Sequence[Step],
    phase: Phase = GRID[0],
    brokers: Sequence[int] = (),
    sample: int = SECOND,
    strides: bool = True,
    events_max: int = UNBOUNDED,
) -> Record:
    """`brokers`: the ids to show, in assignment order; else the places themselves. With `strides` a healthy
    stretch is told at its beginning, without record by record."""
    run = _RecordedRun(setup, phase, brokers or range(setup.partition.replicas), sample, strides, events_max)
    outcome = run.play(schedule)
    run.book.settle()
    return Record(outcome, tuple(run.book.rows))


class _Book:
    """The rows so far, and what was last written down."""

    def __init__(self, names: Sequence[int], sample: int) -> None:
        self.names, self.sample = names, sample
        self.rows: list[Row] = []
        self.cluster: Cluster
        self.client: Client
        self.logs = [_Log() for _ in names]
        self.changed_at: int | None = None  # when something last changed that is in no row yet
        self.begun = 0  # and when that began
        self.effects: list[str] | None = None  # of the step that is being taken
        self.errors: dict[str, int] = {}
        self.failures: list[tuple[str, int, int]] = []  # since the last row: class, first and last record

    def name(self, broker: int) -> int:
        return self.names[broker]

    def write(self, event: Mapping[str, Any], effects: Sequence[str] = ()) -> None:
        self.settle()
        self._add(dict(event), list(effects))

    def before(self) -> None:
        """Something quiet is about to change: what changed long before it is a row of its own."""
        if self.changed_at is not None:
            now = self.cluster.clock.now
            if now - self.changed_at >= PAUSE or now - self.begun >= self.sample:
                self.settle()

    def changed(self) -> None:
        """The ends of logs, or the producer's counts, may have moved."""
        now = self.cluster.clock.now
        if self.changed_at is None:
            self.begun = now
        self.changed_at = now

    def failed(self, records: Sequence[int], error: str) -> None:
        self.errors[error] = self.errors.get(error, 0) + len(records)
        first, last = records[0], records[-1]
        if self.failures and self.failures[-1][0] == error and self.failures[-1][2] + 1 == first:
            first = self.failures.pop()[1]
        self.failures.append((error, first, last))

    def settle(self) -> None:
        """Write down what is not yet."""
        if self.changed_at is None:
            return
        time, self.changed_at = self.changed_at, None
        state = self._state()
        last = self.rows[-1]["state"] if self.rows else None
        if last is not None and _ends(last) == _ends(state):
            return
        before = last["clients"]["producer"]["acked"] if last else 0
        acked = state["clients"]["producer"]["acked"] - before
        effects = [f"failed {_span(first, end)} {error}" for error, first, end in self.failures]
        self.failures.clear()
        text = "replicate" + (f", {acked} acked" if acked else "")
        event = {"name": "replicate", "text": text, "acked": acked}
        self._add(event, effects, time, state)

    def _add(self, event: Row, effects: list[str], time: int | None = None, state: Row | None = None) -> None:
        now = self.cluster.clock.now if time is None else time
        self.rows.append(
            {
                "step": len(self.rows) + 1,
                "t_ms": now // MILLISECOND,
                "event": event,
                "effects": effects,
                "state": self._state() if state is None else state,
            }
        )

    def _state(self) -> Row:
        cluster, client, name = self.cluster, self.client, self.name
        state = cluster.state
        for log, replica in zip(self.logs, state.replicas, strict=True):
            log.read(replica, cluster.appends)
        leader = in_office(state)
        heard = state.replicas[leader].remote if leader >= 0 else ()
        return {
            "leader": None if state.leader < 0 else name(state.leader),
            "epoch": state.epoch,
            "isr": [name(broker) for broker in members(state.isr)],
            "elr": [name(broker) for broker in members(state.elr)],
            "hw": max(
                (
                    log.end(replica.hw)
                    for place, (log, replica) in enumerate(zip(self.logs, state.replicas, strict=True))
                    if leader in (place, -1)
                ),
                default=0,
            ),
            "replicas": [
                {
                    "id": name(broker),
                    "alive": replica.life == UP,
                    "frozen": cluster.frozen[broker],
                    "leo": self.logs[broker].end(replica.leo),
                    "hw": self.logs[broker].end(replica.hw),
                    "log": self.logs[broker].text(),
                }
                for broker, replica in enumerate(state.replicas)
            ],
            "remote_leo": {
                str(name(broker)): None if leo < 0 else self.logs[leader].end(leo)
                for broker, leo in enumerate(heard)
                if broker != leader
            },
            "clients": {
                "producer": {
                    "leader": None if client.leader < 0 else name(client.leader),
                    "sent": client.sent,
                    "acked": client.answered - sum(self.errors.values()),
                    "waiting": client.sent - client.answered,
                    "errors": dict(sorted(self.errors.items())),
                }
            },
        }


def _ends(state: Mapping[str, Any]) -> tuple[Any, ...]:
    producer = state["clients"]["producer"]
    replicas = ((replica["leo"], replica["hw"]) for replica in state["replicas"])
    return (*replicas, state["hw"], producer["acked"], tuple(producer["errors"].items()))


class _Log:
    """A replica's log in records: a batch is one entry there, and a healthy stretch is, too."""

    def __init__(self) -> None:
        self.entries: tuple[tuple[int, int], ...] = ()
        self.ends: list[int] = []
        self.pieces: list[tuple[int, int, int]] = []  # (epoch, first, last) of consecutive records

    def read(self, replica: Replica, appends: Sequence[Append]) -> None:
        log, known = replica.log, self.entries
        if log is known:
            return
        same = len(known)
        if log[:same] != known:  # it was cut: read it again
            same = 0
            self.ends.clear()
            self.pieces.clear()
        self._append(log, same, appends)
        self.entries = log

    def _append(self, log: tuple[tuple[int, int], ...], start: int, appends: Sequence[Append]) -> None:
        end = self.ends[-1] if self.ends else 0
        for place in range(start, len(log)):
            epoch, entry = log[place]
            records = appends[entry].records
            end += len(records)
            self.ends.append(end)
            for first, last in _runs(records):
                if self.pieces and self.pieces[-1][0] == epoch and self.pieces[-1][2] + 1 == first:
                    self.pieces[-1] = (epoch, self.pieces[-1][1], last)
                else:
                    self.pieces.append((epoch, first, last))

    def end(self, entries: int) -> int:
        return self.ends[entries - 1] if entries else 0

    def text(self) -> list[str]:
        return [_span(first, last) + (f"@{epoch}" if epoch else "") for epoch, first, last in self.pieces]


def _span(first: int, last: int) -> str:
    return f"r{first}" if first == last else f"r{first}-r{last}"


def _runs(records: Sequence[int]) -> list[tuple[int, int]]:
    if not records:
        return []
    if records[-1] - records[0] == len(records) - 1:
        return [(records[0], records[-1])]
    return [(record, record) for record in records]


class _RecordedCluster(Cluster):
    book: _Book

    def apply(self, event: Event) -> None:
        book = self.book
        quiet = event.name in QUIET
        if book.effects is None and not (quiet and self._in_step(event.broker)):
            book.settle()
        book.before()
        self.state, effects = transition(self.model, self.state, event)
        told = self._told(effects)
        if book.effects is not None:
            book.effects += told
        elif told or not quiet:
            book.write(self._event(event), told)
        if quiet:
            book.changed()

    def _in_step(self, broker: int) -> bool:
        """A member of the ISR that knows its leader: its fetches do no more than move the ends of logs."""
        return bool(self.state.isr >> broker & 1) and self.state.replicas[broker].epoch == self.state.epoch

    def _event(self, event: Event) -> Row:
        name = self.book.name
        data: Row = {"name": event.name, "text": event.name}
        if event.broker >= 0:
            data["broker"] = name(event.broker)
            data["text"] = f"{event.name} b{data['broker']}"
        return data

    def _told(self, effects: Sequence[Effect]) -> list[str]:
        told = []
        for effect in effects:
            if effect.name in TOLD:
                broker = int(effect.subject[1:])
                how = effect.how
                if effect.name == "truncated":
                    log = self.book.logs[broker]
                    log.read(self.state.replicas[broker], self.appends)
                    how = f"to {log.end(self.state.replicas[broker].leo)}"
                told.append(effect._replace(subject=f"b{self.book.name(broker)}", how=how).text())
        return told


class _RecordedClient(Client):
    book: _Book

    def _finish(self, batch: Batch, result: str) -> None:
        self.book.before()
        super()._finish(batch, result)
        if result:
            self.book.failed(batch.records, result)
        self.book.changed()

    def fail_next(self, error: str) -> None:
        self.book.before()
        self.book.failed([self.sent], error)
        super().fail_next(error)
        self.book.changed()


class _RecordedRun(Run):
    def __init__(
        self,
        setup: Setup,
        phase: Phase,
        names: Sequence[int],
        sample: int,
        strides: bool,
        events_max: int,
    ) -> None:
        self.book = _Book(names, sample)
        super().__init__(setup, phase, strides, events_max)

    def _make(self, setup: Setup) -> tuple[Cluster, Client]:
        cluster = _RecordedCluster(self.clock, self.phase, setup.partition, setup.cluster)
        client = _RecordedClient(self.clock, cluster, setup.client)
        self.book.cluster, self.book.client = cluster, client
        cluster.book = client.book = self.book
        return cluster, client

    def _act(self, step: Step) -> None:
        book = self.book
        if step.name in WAITING:
            super()._act(step)
            return
        event: Row = {"name": step.name, "text": step.name}
        if step.name == "send":
            event |= {"text": f"send {step.value}", "records": step.value}
        elif isinstance(step.value, int):
            event |= {"text": f"{step.name} b{book.name(step.value)}", "broker": book.name(step.value)}
        elif step.value is not None:
            event |= {"text": f"{step.name} {_settings(step.value)}"}
        if step.name in LASTING:
            book.write(event)
            super()._act(step)
            return
        book.settle()
        book.effects = []
        super()._act(step)
        effects, book.effects = book.effects, None
        book.write(event, effects)


def _settings(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={str(to).lower()}" for key, to in value.items())
    return str(value)
