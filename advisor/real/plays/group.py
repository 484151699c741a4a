"""A group on the clock: members join, stall, are killed at the run's times; who owns what is watched."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ...join.reader import Reader
from ...model import Finding, UsageError
from ..audited import Audited, Client, number
from ..cluster.driver import Driver
from ..stage import Outcome, Plan, Stage, Step

# What is made to happen; everything else is watched.
_MADE = ("joins", "killed", "closes", "stalls", "start", "stop")
_WATCHED = (
    "assigned", "revoked", "lost", "polls", "left-slow", "processes", "commits", "committed",
)  # fmt: skip
_JOIN = 60.0
# A real client needs some seconds to start and to join.
_SLACK = 12.0
# Of each partition: several full batches.
_BATCHES = 6


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    strange = {
        step["event"]["name"]
        for step in trace
        if step["event"]["name"] not in (*_MADE, *_WATCHED)
        and not step["event"]["name"].endswith("Exception")
    }
    if strange:
        raise UsageError(
            f"the run needs what cannot be made to happen on a real cluster: {', '.join(sorted(strange))}"
        )
    partitions = 1 + max(
        (one for step in trace for owned in step["state"]["owned"].values() for one in owned), default=0
    )
    end = max(step.get("t_ms") or 0 for step in trace) / 1000
    return Plan(tuple(range(audited.replicas)), partitions=partitions, seconds=end + 30)


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    return _Play(stage, trace, finding).outcome()


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step], finding: Finding) -> None:
        self.stage, self.trace, self.finding = stage, trace, finding
        self.members: dict[str, Driver] = {}
        self.made: list[tuple[float, dict[str, Any]]] = []
        self.dead: set[str] = set()
        self.partitions = stage.plan.partitions

    def outcome(self) -> Outcome:
        self._fill()
        names = list(dict.fromkeys(name for step in self.trace for name in step["state"]["owned"]))
        late = {
            step["event"]["member"]
            for step in self.trace
            if step["event"]["name"] == "joins" and not self._owned_before(step["event"]["member"])
        }
        # Who owns something before the first step is there already.
        early = [name for name in names if name not in late]
        for name in early:
            self._start(name)
        if early:
            self._wait_assigned(early)
        self.begun = time.monotonic()
        for step in self.trace:
            self._at(step["t_ms"])
            self._make(step, late)
        # From the last thing that was made to happen on, as long as in the run, and for clients to start.
        made = [step["t_ms"] for step in self.trace if step["event"]["name"] in _MADE]
        rest = max(step["t_ms"] for step in self.trace) - max(made, default=0)
        time.sleep(max(0.0, self._last_made() + rest / 1000 + _SLACK - time.monotonic()))
        return self._judged()

    def _last_made(self) -> float:
        return max((at for at, _ in self.made), default=self.begun)

    def _owned_before(self, name: str) -> bool:
        """Does it own partitions before it joins for the first time in this run?"""
        first = next(step for step in self.trace if step["event"].get("member") == name)
        owned = self.trace[0]["state"]["owned"].get(name)
        return bool(owned) and not (first is self.trace[0] and first["event"]["name"] in ("joins",))

    def _fill(self) -> None:
        """A backlog of full batches on every partition."""
        polled = max(number(one.settings, "max.poll.records", 500) for one in self._clients())
        count = min(polled * _BATCHES, 5_000)
        self.stage.admin.tell("producer", id="source", settings=self.stage.at({"linger.ms": "5"}))
        for partition in range(self.partitions):
            self.stage.admin.tell(
                "send",
                id="source",
                topic=self.stage.topic,
                partition=partition,
                values=[f"r{n}" for n in range(count)],
            )
        wanted = count * self.partitions
        self.stage.admin.wait_for(lambda events: sum(one["event"] == "acked" for one in events) >= wanted, 60)

    def _clients(self) -> Sequence[Client]:
        return self.stage.audited.groups

    def _start(self, name: str) -> None:
        clients = self._clients()
        client = clients[min(int(name[1:]), len(clients) - 1)]
        driver = self.members[name] = self.stage.driver(name)
        settings = {"group.id": "group", **client.settings}
        commits = settings.get("enable.auto.commit", "true") == "false"
        work = Reader(self.stage.audited.deployment).workload("processing_ms") or 0
        driver.tell(
            "consumer",
            id=name,
            topic=self.stage.topic,
            settings=self.stage.at(settings),
            work_ms=work,
            commits=commits,
        )
        driver.tell("loop", id=name)

    def _wait_assigned(self, names: Sequence[str]) -> None:
        end = time.monotonic() + _JOIN
        while time.monotonic() < end:
            owned = self._owned(time.monotonic())
            if all(owned[name] for name in names) and sum(map(len, owned.values())) == self.partitions:
                return
            time.sleep(0.1)

    def _at(self, t_ms: float) -> None:
        time.sleep(max(0.0, self.begun + t_ms / 1000 - time.monotonic()))

    def _make(self, step: Step, late: set[str]) -> None:
        event = step["event"]
        name = event.get("member", "")
        match event["name"]:
            case "joins" | "start" if name in late and name not in self.members:
                self._start(name)
            case "killed":
                self.members[name].kill()
                self.dead.add(name)
            case "closes" | "stop":
                self.members[name].tell("close", id=name)
            case "stalls":
                seconds = float(event["text"].split()[-2])
                self.members[name].freeze()
                time.sleep(seconds)
                self.members[name].resume()
            case _:
                return
        self.stage.progress(event["text"])
        self.made.append((time.monotonic(), dict(event)))

    # What is seen.

    def _told(self) -> list[tuple[float, str, Mapping[str, Any]]]:
        found = [
            (one["heard"], name, one) for name, driver in self.members.items() for one in list(driver.events)
        ]
        return sorted(found, key=lambda one: one[0])

    def _owned(self, until: float) -> dict[str, list[int]]:
        owned: dict[str, set[int]] = {name: set() for name in self.members}
        for at, name, one in self._told():
            if at > until:
                break
            if one["event"] == "assigned":
                owned[name] |= set(one["partitions"])
            elif one["event"] in ("revoked", "lost"):
                owned[name] -= set(one["partitions"])
            elif one["event"] in ("died", "closed"):
                owned[name] = set()
        for at, event in self.made:
            if event["name"] == "killed" and at <= until:
                owned[event["member"]] = set()
        return {name: sorted(one) for name, one in owned.items()}

    def _judged(self) -> Outcome:
        steps: list[dict[str, Any]] = []
        happened: list[tuple[float, dict[str, Any]]] = [(at, event) for at, event in self.made]
        for at, name, one in self._told():
            text = _text(name, one)
            if text and at >= self.begun:
                happened.append((at, {"name": _event(one), "text": text, "member": name}))
        happened.sort(key=lambda pair: pair[0])
        for place, (at, event) in enumerate(happened[:60], 1):
            owned = self._owned(at)
            steps.append(
                {
                    "step": place,
                    "t_ms": round((at - self.begun) * 1000),
                    "event": event,
                    "effects": [],
                    "state": {
                        "kind": "group",
                        "cells": {name: _places(one) for name, one in owned.items()},
                        "owned": owned,
                    },
                }
            )
        return self._outcome(steps)

    def _outcome(self, steps: list[dict[str, Any]]) -> Outcome:
        told = [one for at, _, one in self._told() if at >= self.begun]
        evicted = [one for one in told if one["event"] in ("lost", "commit_failed")]
        died = [one for one in told if one["event"] == "died"]
        twice = _processed_twice(told)
        facts = [
            ("members that lost their partitions or their commit", str(len({one["id"] for one in evicted}))),
            ("commits refused", str(sum(one["event"] == "commit_failed" for one in told))),
            ("members that stopped", ", ".join(f"{one['id']} {one['error']}" for one in died) or "none"),
            ("records processed twice", str(twice)),
        ]
        guarantee = self.finding.evidence.guarantee
        if guarantee == "rebalance-pause":
            return self._pause(steps, facts)
        if died:
            words = "; ".join(f"{one['id']} stops: {one['error']}" for one in died)
        elif evicted:
            words = f"{len(evicted)} times a member that lives lost its partitions or its commit"
        else:
            words = "no member is evicted, none is refused"
        return Outcome(tuple(steps), bool(died or evicted), words, tuple(facts))

    def _pause(self, steps: list[dict[str, Any]], facts: list[tuple[str, str]]) -> Outcome:
        killed = next(at for at, event in self.made if event["name"] == "killed")
        taken = [
            at
            for at, _, one in self._told()
            if at > killed and one["event"] == "assigned" and one["partitions"]
        ]
        model = max(step["t_ms"] for step in self.trace)
        pause = (taken[-1] - killed) * 1000 if taken else model
        facts.append(("unread after the crash", f"{pause / 1000:.1f} s (model: {model / 1000:.1f} s)"))
        # The model's time is the most of a range as wide as a heartbeat.
        return Outcome(tuple(steps), pause > 0.8 * model, f"unread for {pause / 1000:.1f} s", tuple(facts))


def _processed_twice(told: Sequence[Mapping[str, Any]]) -> int:
    names = [one["record"] for one in told if one["event"] == "processed"]
    return len(names) - len(set(names))


def _event(one: Mapping[str, Any]) -> str:
    told = str(one["event"])
    if told in ("died", "commit_failed"):
        return str(one["error"])
    return "polls" if told == "polled" else told


def _text(name: str, one: Mapping[str, Any]) -> str:
    """As the model words it; empty where it does not tell."""
    places = _places(one.get("partitions", ()))
    match one["event"]:
        case "assigned" if one["partitions"]:
            return f"{name} gets {places}"
        case "revoked" if one["partitions"]:
            return f"{name} gives up {places}"
        case "lost" if one["partitions"]:
            return f"{name} has lost {places}"
        case "polled":
            return f"{name} polls {len(one['records'])} records"
        case "commit_failed":
            return f"{name} finishes its batch: the commit is refused"
        case "died":
            return f"{name} {one['error']}"
    return ""


def _places(partitions: Sequence[int]) -> str:
    return " ".join(f"p{one}" for one in partitions) or "-"
