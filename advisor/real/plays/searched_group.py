"""A group's run that the search found: members poll, process, commit and crash as they are told.

Each member is a process of its own. The search has no clock, so sessions are short.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ...join.reader import Reader
from ...model import Finding, UsageError
from ..audited import Audited
from ..cluster.driver import Driver
from ..stage import Outcome, Plan, Stage, Step

SESSION_MS = 6_000
_BROKER = {
    "group.initial.rebalance.delay.ms": "500",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "1000",
}
_SHORTENED = f"sessions of {SESSION_MS} ms: the run has no clock, and this one is not to take minutes"
_PLAYED = {
    "poll",
    "process",
    "commit",
    "deliver",
    "member_crash",
    "leave",
    "drop",
    "expire",
    "return",
    "restart",
}
_JOIN = 60.0
_LATE = "committing late"
# A poll loop in which an auto-commit may carry the batch that a poll has just returned.
_RACE = {"max.poll.records": "10", "auto.commit.interval.ms": "200"}
_RACE_RECORDS, _RACE_WORK_MS, _RACE_CRASH, _RACE_CRASHES = 40, 60, 15, 8


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    strange = {step["event"]["name"] for step in trace} - _PLAYED
    if strange:
        raise UsageError(
            f"the run needs what cannot be made to happen on a real cluster: {', '.join(sorted(strange))}"
        )
    late = is_race(trace)
    changed: tuple[str, ...] = (_SHORTENED,)
    if late:
        changed += (
            f"{_RACE_RECORDS} records in batches of 10, auto.commit.interval.ms=200, {_RACE_WORK_MS} ms of "
            f"work for each, and {_RACE_CRASHES} crashes in the second batch: it is a race",
        )
    partitions = 1 if late else len(trace[0]["state"]["committed"])
    return Plan(
        tuple(range(audited.replicas)),
        partitions=partitions,
        broker=_BROKER,
        changed=changed,
        seconds=60 if late else 25,
    )


def is_race(trace: Sequence[Step]) -> bool:
    return any(_LATE in step["event"]["text"] for step in trace)


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    guarantee = finding.evidence.guarantee or ""
    return _race(stage, trace) if is_race(trace) else _Play(stage, trace, guarantee).outcome()


def _settings(stage: Stage) -> dict[str, str]:
    settings = {"group.id": "group", **stage.audited.groups[0].settings, "auto.offset.reset": "earliest"}
    if settings.get("group.protocol") != "consumer":
        settings |= {"session.timeout.ms": str(SESSION_MS), "heartbeat.interval.ms": "1000"}
    return stage.at(settings)


def _fill(stage: Stage, count: int) -> None:
    stage.admin.tell("producer", id="source", settings=stage.at({}))
    for partition in range(stage.plan.partitions):
        values = [f"r{n}" for n in range(count)]
        stage.admin.tell("send", id="source", topic=stage.topic, partition=partition, values=values)
    wanted = count * stage.plan.partitions
    stage.admin.wait_for(lambda events: sum(one["event"] == "acked" for one in events) >= wanted, 60)


def _committed(stage: Stage, group: str = "") -> dict[str, int]:
    found = stage.admin.tell("committed", group=group or _settings(stage)["group.id"])["offsets"]
    return {f"p{one}": found.get(str(one), 0) for one in range(stage.plan.partitions)}


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step], guarantee: str) -> None:
        self.stage, self.trace, self.guarantee = stage, trace, guarantee
        self.members: dict[str, Driver] = {}
        self.in_hand: dict[str, list[str]] = {}
        self.processed: list[str] = []
        self.steps: list[dict[str, Any]] = []
        self.frozen: set[str] = set()
        self.gone: set[str] = set()
        workload = Reader(stage.audited.deployment).workload("processing")
        self.processing = str(workload or "loop")

    def outcome(self) -> Outcome:
        records = 1 + max(
            (
                int(one.split(":")[1])
                for step in self.trace
                for member in step["state"]["members"]
                for one in member["in_hand"]
            ),
            default=1,
        )
        _fill(self.stage, records)
        self.records = records
        for one in self.trace[0]["state"]["members"]:
            self._start(one["id"])
        self._settle()
        self.names = self._same_places()
        for step in self.trace:
            self.stage.progress(step["event"]["text"])
            told = self._do(step)
            self.steps.append(self._seen(step, told))
        return self._judged()

    def _start(self, name: str) -> None:
        driver = self.members[name] = self.stage.driver(name)
        self.in_hand[name] = []
        driver.tell(
            "consumer",
            id=name,
            topic=self.stage.topic,
            settings=_settings(self.stage),
            processing=self.processing,
        )
        driver.tell("by_hand", id=name)

    def _owned(self, name: str) -> set[int]:
        owned: set[int] = set()
        for one in self.members[name].told("assigned", "revoked", "lost"):
            owned = (
                owned | set(one["partitions"])
                if one["event"] == "assigned"
                else owned - set(one["partitions"])
            )
        return owned

    def _settle(self, without: Sequence[str] = ()) -> None:
        """Until every partition has one owner among those who are there."""
        end = time.monotonic() + _JOIN
        live = [one for one in self.members if one not in (*self.gone, *without)]
        while time.monotonic() < end:
            owned = [self._owned(one) for one in live]
            whole = sum(map(len, owned)) == self.stage.plan.partitions == len(set().union(*owned))
            if whole and (len(live) > self.stage.plan.partitions or all(owned)):
                return
            time.sleep(0.1)

    def _same_places(self) -> dict[int, int]:
        """Which real partition stands for which of the run: members may have got them the other way round."""
        wanted = {one["id"]: sorted(one["positions"]) for one in self.trace[0]["state"]["members"]}
        names: dict[int, int] = {}
        for member, places in wanted.items():
            for real, place in zip(sorted(self._owned(member)), places, strict=False):
                names[real] = int(place[1:])
        for real in range(self.stage.plan.partitions):
            free = [one for one in range(self.stage.plan.partitions) if one not in names.values()]
            names.setdefault(real, free[0] if free else real)
        return names

    def _do(self, step: Step) -> list[str]:
        event = step["event"]
        name = event["member"]
        match event["name"]:
            case "poll":
                held = next(one for one in step["state"]["members"] if one["id"] == name)["in_hand"]
                answer = self.members[name].tell("poll", id=name, least=max(1, len(held)), within_ms=15_000)
                self.in_hand[name] += [self._name(one) for one in answer["records"]]
            case "process":
                done = [effect.split()[1] for effect in step["effects"] if effect.startswith("processed")]
                wanted = [one for one in done if one in self.in_hand[name]] or self.in_hand[name][:1]
                told = []
                for one in wanted:
                    again = one in self.processed
                    self.processed.append(one)
                    self.in_hand[name].remove(one)
                    told.append(f"processed {one}" + (" again" if again else ""))
                if not self.in_hand[name] and name not in self.frozen:
                    self.members[name].tell("free", id=name)
                return told
            case "commit":
                self.members[name].tell("commit_sync", id=name)
            case "member_crash":
                self.members[name].kill()
                self.gone.add(name)
                self.in_hand[name] = []
            case "leave":
                self.members[name].tell("close", id=name)
                self.members[name].wait_for(
                    lambda events: any(one["event"] == "closed" for one in events), 20
                )
                self.gone.add(name)
                self.in_hand[name] = []
                self._settle()
            case "drop":
                self.members[name].freeze()
                self.frozen.add(name)
                self._settle([name])
            case "expire":
                self._settle()
            case "return" if name in self.frozen:
                self.members[name].resume()
                self.frozen.discard(name)
                self._settle()
            case "restart":
                self.gone.discard(name)
                self._start(name)
                self._settle()
        return []

    def _name(self, told: str) -> str:
        partition, offset, _ = told.split(":", 2)
        return f"p{self.names[int(partition)]}:{offset}"

    def _offsets(self) -> dict[str, int]:
        return {f"p{self.names[int(one[1:])]}": offset for one, offset in _committed(self.stage).items()}

    def _seen(self, step: Step, effects: list[str]) -> dict[str, Any]:
        committed = dict(sorted(self._offsets().items()))
        members = []
        cells: dict[str, str] = {"committed": " ".join(f"{one}={at}" for one, at in committed.items())}
        for name in self.members:
            alive = name not in self.gone
            owned = sorted(f"p{self.names[one]}" for one in self._owned(name)) if alive else []
            hand = self.in_hand[name]
            cells[name] = " ".join(owned) + (f" | {' '.join(hand)}" if hand else "") if alive else "gone"
            members.append(
                {
                    "id": name,
                    "alive": alive,
                    "generation": None,
                    "positions": dict.fromkeys(owned, 0),
                    "in_hand": hand,
                }
            )
        state = {"kind": "group", "cells": cells, "committed": committed, "members": members}
        return {"step": step["step"], "event": dict(step["event"]), "effects": effects, "state": state}

    def _judged(self) -> Outcome:
        committed = self._offsets()
        passed = [
            f"{place}:{offset}"
            for place, end in sorted(committed.items())
            for offset in range(end)
            if f"{place}:{offset}" not in self.processed
        ]
        # What a member still has in hand when the run ends is not passed over yet.
        held = {one for name, hand in self.in_hand.items() if name not in self.gone for one in hand}
        skipped = [one for one in passed if one not in held or self.frozen]
        twice = sorted({one for one in self.processed if self.processed.count(one) > 1})
        facts = (
            ("committed", " ".join(f"{one}={at}" for one, at in sorted(committed.items()))),
            ("processed", " ".join(self.processed) or "nothing"),
        )
        if self.guarantee == "processed-once":
            words = f"{' '.join(twice)} was processed twice" if twice else "every record is processed once"
            return Outcome(tuple(self.steps), bool(twice), words, facts)
        words = (
            f"{' '.join(skipped)} was never processed, and the committed offset is past it"
            if skipped
            else "no committed offset passes a record that was not processed"
        )
        return Outcome(tuple(self.steps), bool(skipped), words, facts)


def _race(stage: Stage, trace: Sequence[Step]) -> Outcome:
    """Real poll loops, each killed in its second batch: who had committed what it had not processed?"""
    _fill(stage, _RACE_RECORDS)
    crashes = [_crash(stage, number) for number in range(_RACE_CRASHES)]
    hits = [one for one in crashes if one[1] > one[0]]
    done, committed = (hits or crashes)[0]
    steps = tuple(
        {
            "step": number,
            "event": dict(step["event"]),
            "effects": [f"committed p0={committed}"] if number == 1 else [],
            "state": {
                "kind": "group",
                "cells": {
                    "committed": f"p0={committed}",
                    "m0": f"p0 | {done} done" if number == 1 else "gone",
                },
                "committed": {"p0": committed},
                "members": [
                    {"id": "m0", "alive": number == 1, "generation": None, "positions": {}, "in_hand": []}
                ],
            },
        }
        for number, step in enumerate(trace, 1)
    )
    told = ", ".join(f"{processed} processed and {offset} committed" for processed, offset in crashes)
    words = (
        f"in {len(hits)} of {len(crashes)} crashes the committed offset was past records not yet processed"
    )
    return Outcome(steps, bool(hits), words, (("at each crash", told),))


def _crash(stage: Stage, number: int) -> tuple[int, int]:
    """How many records were processed, and what was committed, when a member of a new group was killed."""
    driver = stage.driver(f"m{number}")
    settings = {**_settings(stage), **_RACE, "group.id": f"race-{number}"}
    commits = settings.get("enable.auto.commit", "true") == "false"
    words = {"work_ms": _RACE_WORK_MS, "commits": commits}
    driver.tell("consumer", id="m", topic=stage.topic, settings=settings, **words)
    driver.tell("loop", id="m")
    driver.wait_for(lambda events: sum(one["event"] == "processed" for one in events) >= _RACE_CRASH, 60)
    driver.kill()
    time.sleep(0.5)
    return len(driver.told("processed")), _committed(stage, f"race-{number}")["p0"]
