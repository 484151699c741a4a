"""A run of transactions: a transactional producer, others who write without one, and a reader."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from ...model import Finding, UsageError
from ..audited import Audited, number
from ..cluster.driver import Driver, DriverError
from ..stage import Outcome, Plan, Stage, Step

_ANSWER = 30.0
_READ_MS = 5_000
_MILLISECONDS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000}
_PLAYED = {
    "begin", "send", "write", "commit", "abort", "mark", "expire", "take_over", "other", "producer_crash",
    "read",
}  # fmt: skip


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    strange = {step["event"]["name"] for step in trace} - _PLAYED
    if strange:
        raise UsageError(
            f"the run needs what cannot be made to happen on a real cluster: {', '.join(sorted(strange))}"
        )
    end = max(step.get("t_ms") or 0 for step in trace) / 1000
    return Plan(tuple(range(audited.replicas)), seconds=end + 25)


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    return _Play(stage, trace, finding).outcome()


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step], finding: Finding) -> None:
        self.stage, self.trace, self.finding = stage, trace, finding
        self.drivers: dict[str, Driver] = {}
        self.current = "p0"
        self.read: list[tuple[str, float]] = []
        self.aborted: set[str] = set()
        self.written: dict[str, float] = {}
        self.open: list[str] = []
        self.steps: list[dict[str, Any]] = []
        self.crashed: float | None = None

    def outcome(self) -> Outcome:
        stage = self.stage
        self.readers = stage.driver("reader")
        # The reader whose file the finding is about, else the only one.
        group = next(
            (one for one in stage.audited.groups if one.name in self.finding.message), stage.audited.groups[0]
        )
        settings = stage.at(
            {
                "group.id": "readers",
                **group.settings,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": "false",
            }
        )
        self.readers.tell("consumer", id="reader", topic=stage.topic, settings=settings)
        self.readers.tell("by_hand", id="reader")
        self.readers.tell("producer", id="other", settings=stage.at({}))
        self.readers.wait_for(lambda events: any(one["event"] == "assigned" for one in events), 40)
        begun = time.monotonic()
        for step in self.trace:
            event = step["event"]
            stage.progress(event["text"])
            if event["name"] == "other" and step.get("t_ms"):
                while time.monotonic() < begun + step["t_ms"] / 1000:
                    self._look()  # it goes on reading meanwhile
            effects = self._do(step)
            self._look()
            at = round((time.monotonic() - begun) * 1000) if "t_ms" in step else None
            self.steps.append(self._seen(step, effects, at))
        return self._judged()

    def _do(self, step: Step) -> list[str]:
        event = step["event"]
        name, record = event["name"], event.get("record", "")
        match name:
            case "begin":
                self._producer(event["producer"]).tell("begin", id=event["producer"])
            case "send":
                self.drivers[self.current].tell(
                    "send", id=self.current, topic=self.stage.topic, partition=0, values=[record]
                )
                self.open.append(record)
            case "write":
                self._wait_stored(record)
                return [f"stored {record}"]
            case "commit" | "abort":
                self.drivers[event["producer"]].tell(name, id=event["producer"])
                done, self.open = self.open, []
                self.aborted |= set(done) if name == "abort" else set()
                return [f"decided {name} {' '.join(done)}"]
            case "producer_crash":
                self.drivers.pop(self.current).kill()
                self.crashed = time.monotonic()
            case "take_over":
                self._producer("p1")
            case "other":
                self.readers.tell("send", id="other", topic=self.stage.topic, partition=0, values=[record])
                self._wait_stored(record)
                self.written[record] = time.monotonic()
                return [f"stored {record}"]
            case "expire":
                return self._expire()
            case "read":
                before = len(self.read)
                self._look(_READ_MS)
                return [f"read {one}" for one, _ in self.read[before:]]
        return []

    def _producer(self, name: str) -> Driver:
        if name not in self.drivers:
            self.drivers[name] = self.stage.producer(name)
            self.drivers[name].tell(
                "producer", id=name, settings=self.stage.at(self.stage.audited.producer.settings)
            )
            self.drivers[name].tell("init", id=name, within=90)
            self.current = name
        return self.drivers[name]

    def _wait_stored(self, record: str) -> None:
        end = time.monotonic() + _ANSWER
        while record not in self.stage.records(self._leader()) and time.monotonic() < end:
            time.sleep(0.05)

    def _leader(self) -> int:
        leader = self.stage.cluster.now(self.stage.topic).leader
        return self.stage.plan.ids[0] if leader is None else leader

    def _expire(self) -> list[str]:
        """Until the coordinator gives the transaction up: the last stable offset moves on."""
        timeout = number(self.stage.audited.producer.settings, "transaction.timeout.ms", 60_000) / 1000
        end = time.monotonic() + timeout + 30
        while self._is_pinned() and time.monotonic() < end:
            self._look()
        done, self.open = self.open, []
        self.aborted |= set(done)
        return [f"decided abort {one}" for one in done]

    def _is_pinned(self) -> bool:
        answer = self.stage.admin.tell("ends", topic=self.stage.topic)
        return bool(answer["read_committed"] < answer["read_uncommitted"])

    def _lso(self) -> int:
        answer = self.stage.admin.tell("ends", topic=self.stage.topic)
        return int(answer["read_committed"])

    def _look(self, within_ms: int = 300) -> None:
        """What the reader is shown; it goes on reading."""
        try:
            answer = self.readers.tell("poll", id="reader", least=1, within_ms=within_ms)
        except DriverError:
            return
        now = time.monotonic()
        self.read += [(one.split(":", 2)[2], now) for one in answer["records"]]
        self.readers.tell("free", id="reader")

    def _seen(self, step: Step, effects: list[str], at: int | None) -> dict[str, Any]:
        log = self.stage.records(self._leader())
        lso = self._lso()
        read = [one for one, _ in self.read]
        seen: dict[str, Any] = {
            "step": step["step"],
            "event": dict(step["event"]),
            "effects": effects,
            "state": {
                "kind": "transaction",
                "cells": {"LSO": str(lso), "log": f"[{' '.join(log)}]", "read": " ".join(read) or "-"},
                "log": log,
                "hw": len(log),
                "lso": lso,
                "reader": {"isolation": "", "position": len(read), "read": read},
                "producers": {},
                "coordinator": {},
            },
        }
        if at is not None:
            seen["t_ms"] = at
        return seen

    def _judged(self) -> Outcome:
        read = [one for one, _ in self.read]
        wrong = [one for one in read if one in self.aborted]
        facts = [
            ("read", " ".join(read) or "nothing"),
            ("aborted", " ".join(sorted(self.aborted)) or "nothing"),
        ]
        if self.finding.evidence.guarantee == "records-visible":
            limit = _limit(self.finding)
            shown = dict(reversed(self.read))
            waits = {one: shown[one] - at for one, at in self.written.items() if one in shown}
            begun = self.crashed or 0
            # From the crash on nothing more was shown, until the first record of others was.
            held = max((shown[one] - begun for one in list(waits)[:1]), default=0.0) * 1000
            facts.append(("readers were held back", f"{held / 1000:.1f} s"))
            words = f"nothing was shown to the reader for {held / 1000:.1f} s after the crash"
            return Outcome(tuple(self.steps), held > limit, words, tuple(facts))
        words = (
            f"{' '.join(wrong)} was read, and its transaction was aborted"
            if wrong
            else "no aborted record was read"
        )
        return Outcome(tuple(self.steps), bool(wrong), words, tuple(facts))


def _limit(finding: Finding) -> float:
    """The limit that the finding names, in milliseconds."""
    text = dict(finding.evidence.numbers).get("limit", "")
    match = re.match(r"([\d.]+) (ms|s|min|h)\b", text)
    return float(match[1]) * _MILLISECONDS[match[2]] if match else 0.0
