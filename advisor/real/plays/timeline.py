"""A run on the clock: records at the stated pace, and what brokers suffer at the run's own times.

All times are the audited ones. What the run only observes (a fence, an election) is watched for, not made.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...ask.answers.producer.outage import load_of
from ...join.reader import Reader
from ...model import Finding, UsageError
from ..audited import Audited, number
from ..cluster.driver import Driver
from ..stage import Outcome, Plan, Stage, Step
from .partition import told_history

_ID = "producer"
_FAULTS = ("sigstop", "sigcont", "kill9", "term", "start", "return")
_CUTS = ("isolate", "unisolate", "cut_off", "heal", "controller_kill9", "controller_start", "controller_term")
# Python and one driver keep this pace on any machine; a higher rate is played at it, memory scaled alike.
PACE_MAX = 500.0
_END = 180.0


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    names = {step["event"]["name"] for step in trace}
    if names & set(_CUTS):
        raise UsageError(
            "the run cuts the network or the controller off, which is not played on a real cluster"
        )
    changed: tuple[str, ...] = ()
    load = _load(audited, trace)
    if load[0] > PACE_MAX:
        changed += (
            f"{PACE_MAX:g} records/s instead of {load[0]:g}, and buffer.memory smaller in the same measure",
        )
    brokers = max(audited.replicas, len(trace[0]["state"]["cells"]["ISR"].split(",")))
    end = max(step.get("t_ms") or 0 for step in trace) / 1000
    return Plan(tuple(range(1, brokers + 1)), changed=changed, seconds=end + 10)


def _load(audited: Audited, trace: Sequence[Step]) -> tuple[float, int]:
    """Records a second that go to the brokers of the run, and the bytes of one."""
    frozen = {step["event"].get("broker") for step in trace if step["event"]["name"] == "sigstop"}
    load = load_of(Reader(audited.deployment), "all" if len(frozen) > 1 else "one broker")
    return load.rate, load.size


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    return _Play(stage, trace).outcome()


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step]) -> None:
        self.stage, self.trace, self.cluster = stage, trace, stage.cluster
        self.done: list[tuple[int, dict[str, Any]]] = []

    def outcome(self) -> Outcome:
        rate, size = _load(self.stage.audited, self.trace)
        settings = dict(self.stage.audited.producer.settings)
        if rate > PACE_MAX:
            _scale(settings, PACE_MAX / rate)
            rate = PACE_MAX
        self.driver: Driver = self.stage.producer()
        self.driver.tell("producer", id=_ID, settings=self.stage.at(settings))
        self.stage.warm(self.driver, _ID)
        self.count = max(1, round(rate * self._seconds()))
        self.begun_ms = time.time() * 1000
        begun = time.monotonic()
        self.driver.tell(
            "stream", id=_ID, topic=self.stage.topic, partition=0, records=self.count, rate=rate, size=size
        )
        self._note("send", records=self.count, text=f"send {self.count}")
        for step in self.trace:
            event = step["event"]
            if event["name"] not in _FAULTS:
                continue
            if event["name"] in ("start", "return"):
                self._all_answered(begun + step["t_ms"] / 1000 - time.monotonic())
            else:
                time.sleep(max(0.0, begun + step["t_ms"] / 1000 - time.monotonic()))
            self.stage.progress(event["text"])
            self._suffer(event["name"], event["broker"])
            self._note(event["name"], broker=event["broker"], text=event["text"])
        self._all_answered(_END)
        self._note("replicate", text="the end", acked=0, waits=False)
        return self._judged()

    def _seconds(self) -> float:
        """For how long the run sends: its count, at the pace that it had before the first fault."""
        total = next(step["event"]["records"] for step in self.trace if step["event"]["name"] == "send")
        place = next(
            (n for n, step in enumerate(self.trace) if step["event"]["name"] in _FAULTS), len(self.trace) - 1
        )
        before = self.trace[max(place - 1, 0)]
        sent = sum(before["state"]["counts"].values())
        return float(total * before["t_ms"] / 1000 / sent) if sent and before["t_ms"] else 20.0

    def _suffer(self, name: str, broker: int) -> None:
        match name:
            case "sigstop":
                self.cluster.freeze(broker)
            case "sigcont":
                self.cluster.resume(broker)
            case "kill9":
                self.cluster.kill(broker)
            case "term":
                self.cluster.stop(broker)
            case _:
                self.cluster.restart(broker)

    def _all_answered(self, within: float) -> None:
        self.driver.wait_for(
            lambda events: sum(one["event"] in ("acked", "failed") for one in events) >= self.count + 1,
            max(within, 0.1),
        )

    def _note(self, name: str, **words: Any) -> None:
        self.done.append((round(time.time() * 1000 - self.begun_ms), {"name": name, **words}))

    # What is seen.

    def _judged(self) -> Outcome:
        history = self.cluster.history(self.stage.topic)
        happened = list(self.done)
        for before, after in pairwise(history):
            at = round(after.at_ms - self.begun_ms)
            if after.leader != before.leader and after.leader is not None:
                event = {"name": "elect", "text": f"elect b{after.leader}"}
                happened.append((at, {**event, "effects": [f"elected b{after.leader} clean"]}))
            elif len(after.isr) < len(before.isr):
                gone = next(iter(set(before.isr) - set(after.isr)))
                happened.append((at, {"name": "shrink", "broker": gone, "text": f"shrink b{gone}"}))
            elif len(after.isr) > len(before.isr):
                new = next(iter(set(after.isr) - set(before.isr)))
                happened.append(
                    (
                        at,
                        {
                            "name": "fetch",
                            "broker": new,
                            "text": f"fetch b{new}",
                            "effects": [f"joined b{new}"],
                        },
                    )
                )
        happened.sort(key=lambda pair: pair[0])
        steps = tuple(self._step(number, at, event) for number, (at, event) in enumerate(happened, 1))
        failed = Counter(one["error"] for one in self.driver.told("failed"))
        acked = len(self.driver.told("acked")) - 1
        readable = set(self.stage.read().get(0, ()))
        stored = sum(one["record"] in readable for one in self.driver.told("failed"))
        lost = sum(
            one["record"] not in readable for one in self.driver.told("acked") if one["record"] != "warm-up"
        )
        errors = ", ".join(f"{name} {number}" for name, number in sorted(failed.items()))
        facts = (
            ("sent", str(self.count)),
            ("confirmed", str(acked)),
            ("failed", errors or "none"),
            ("failed and stored all the same", str(stored)),
            ("confirmed and not readable", str(lost)),
            ("leader and ISR", told_history(history)),
        )
        words = f"{failed.total()} of {self.count} records failed: {errors}" if failed else "no record failed"
        return Outcome(steps, bool(failed), words, facts)

    def _step(self, number: int, at: int, event: Mapping[str, Any]) -> dict[str, Any]:
        until = self.begun_ms + at
        told = [one for one in self.driver.told("acked", "failed") if one["record"] != "warm-up"]
        offered = sum(one["at_ms"] - one["after_ms"] <= until for one in told)
        acked = sum(one["event"] == "acked" and one["at_ms"] <= until for one in told)
        failed = sum(one["event"] == "failed" and one["at_ms"] <= until for one in told)
        states = [one for one in self.cluster.history(self.stage.topic) if one.at_ms <= until + 1]
        state = states[-1] if states else self.cluster.history(self.stage.topic)[0]
        counts = {"acked": acked, "waiting": max(0, offered - acked - failed), "failed": failed}
        isr = ",".join(f"b{one}" for one in sorted(state.isr)) or "none"
        return {
            "step": number,
            "t_ms": at,
            "event": {key: value for key, value in event.items() if key != "effects"},
            "effects": list(event.get("effects", ())),
            "state": {
                "kind": "timeline",
                "cells": {
                    "leader": "none" if state.leader is None else f"b{state.leader}",
                    "ISR": isr,
                    **{name: str(value) for name, value in counts.items()},
                },
                "counts": counts,
            },
        }


def _scale(settings: dict[str, str], factor: float) -> None:
    memory = number(settings, "buffer.memory", 33_554_432)
    batch = number(settings, "batch.size", 16_384)
    settings["buffer.memory"] = str(max(int(memory * factor), batch))
