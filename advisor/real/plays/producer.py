"""A run of a producer that retries: its requests wait at a proxy, and pass or are lost as in the run.

A request that "is refused for a moment" meets a broker that really does not lead at that moment: leadership
is moved away before the request passes and back after it. The proxy changes no byte.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from ...model import Finding
from ..audited import Audited
from ..cluster.driver import Driver
from ..cluster.proxy import Request, marked, patient
from ..stage import Outcome, Plan, Stage, Step
from .partition import SHORT, SHORTENED, self_replica, timely, told_history

_ID = "producer"
# How long a request, an answer or a retry may take to come by.
_SOON, _RETRY = 10.0, 20.0
# A retry may go to a broker that does not lead any more, once or twice, before it is stored.
_ROUNDS = 4


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    return Plan(
        tuple(range(max(2, audited.replicas))), broker=SHORT, proxied=True, changed=(SHORTENED,), seconds=15
    )


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    return _Play(stage, trace, finding.evidence.guarantee or "").outcome()


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step], guarantee: str) -> None:
        assert stage.proxy is not None
        self.stage, self.trace, self.guarantee = stage, trace, guarantee
        self.cluster, self.proxy = stage.cluster, stage.proxy
        self.ids = [one["id"] for one in trace[0]["state"]["replicas"]]
        self.sent: list[str] = []
        self.steps: list[dict[str, Any]] = []

    def outcome(self) -> Outcome:
        self.driver: Driver = self.stage.producer()
        settings = {**timely(self.stage.audited.producer), "retry.backoff.ms": "50"}
        self.driver.tell("producer", id=_ID, settings=self.stage.at(settings))
        self.stage.warm(self.driver, _ID)
        self.proxy.holding = True
        for step in self.trace:
            told, before = len(self.driver.events), self._log()
            self.stage.progress(step["event"]["text"])
            self._do(step)
            self.steps.append(self._seen(step, list(self._effects(step, told, before))))
        # Whatever is still on its way arrives.
        self.proxy.open()
        patient(lambda: all(self._is_settled(one) for one in self.sent), 30)
        return self._judged()

    def _do(self, step: Step) -> None:
        event = step["event"]
        record = event.get("record", "")
        match event["name"]:
            case "send":
                if record not in self.sent:
                    self.sent.append(record)
                    self.driver.tell(
                        "send", id=_ID, topic=self.stage.topic, partition=0, values=[marked(record)]
                    )
                self.proxy.wait_for(record, "held", _RETRY)
            case "handle" | "handle_late":
                self._handle(record, "stored" in " ".join(step["effects"]))
            case "answer":
                request = self.proxy.find(record, "answered")
                if request is not None:
                    self.proxy.let_through(request)
                    time.sleep(0.1)
            case "lost_response" | "lost_request" | "late_request":
                request = self._on_its_way(record)
                if request is not None:
                    self.proxy.break_connection(request, client_only=event["name"] == "late_request")
            case "retriable_error":
                self._refuse(record)
            case "leader_move":
                self._move_to(self.ids[1])
            case _:
                time.sleep(0.3)

    def _on_its_way(self, record: str) -> Request | None:
        return self.proxy.find(record, "answered", "passed", "held")

    def _handle(self, record: str, stores: bool) -> None:
        """The broker gets it. A retry may go to one that leads no more first, where the run has it stored."""
        before = self._log().count(record)
        for _ in range(_ROUNDS):
            request = self.proxy.wait_for(record, "held", _SOON)
            if request is None:
                return
            self.proxy.let_through(request)
            patient(lambda one=request: one.stage != "passed" or self._log().count(record) > before, _SOON)  # type: ignore[misc]
            patient(lambda one=request: one.stage == "answered", 1.0)  # type: ignore[misc]
            if not stores or self._log().count(record) > before or request.stage != "answered":
                return
            if self._is_idempotent():
                return  # it was recognised: that is what is to be seen
            self.proxy.let_through(request)

    def _is_idempotent(self) -> bool:
        client = self.stage.audited.producer
        if client.family == "librdkafka":
            return client.settings.get("enable.idempotence") == "true"
        acks = client.settings.get("acks", "all")
        weak = acks in ("0", "1") or client.settings.get("enable.idempotence") == "false"
        return not weak

    def _refuse(self, record: str) -> None:
        """Leadership is elsewhere while this one request is handled."""
        self._all_alike()
        self._move_to(self.ids[1])
        request = self.proxy.wait_for(record, "held", _SOON)
        if request is not None:
            self.proxy.let_through(request)
            self.proxy.wait_for(record, "answered", _SOON)
        self._move_to(self.ids[0])

    def _move_to(self, broker: int) -> None:
        order = [broker, *(one for one in self.stage.replicas if one != broker)]
        self.stage.admin.tell("reassign", topic=self.stage.topic, replicas=order)
        self.stage.admin.tell("elect", topic=self.stage.topic)
        self.cluster.wait_for(self.stage.topic, lambda state: state.leader == broker, 10)
        time.sleep(0.5)  # the brokers hear of it

    def _all_alike(self) -> None:
        def logs() -> set[tuple[str, ...]]:
            return {tuple(self.cluster.log_of(one, self.stage.topic)) for one in self.stage.replicas}

        patient(lambda: len(logs()) == 1, 10)

    def _log(self) -> list[str]:
        leader = self.cluster.now(self.stage.topic).leader
        return self.stage.records(leader) if leader is not None else []

    def _is_settled(self, record: str) -> bool:
        return any(one["record"] == marked(record) for one in self.driver.told("acked", "failed"))

    # What is seen.

    def _effects(self, step: Step, told: int, before: list[str]) -> Iterator[str]:
        name = step["event"]["name"]
        log = self._log()
        record = step["event"].get("record", "")
        if name in ("handle", "handle_late") and record:
            more = log.count(record) - before.count(record)
            yield (
                f"stored {record}" if more > 0 else f"{'duplicate' if record in log else 'refused'} {record}"
            )
        if name == "send" and "retried" in " ".join(step["effects"]):
            yield f"retried {record}"
        if name == "retriable_error":
            yield f"refused {record}"
        for one in self.driver.events[told:]:
            record = str(one["record"]).strip("@")
            if one["event"] == "acked":
                yield f"acked {record}"
            elif one["event"] == "failed":
                yield f"failed {record} {one['error']}"

    def _seen(self, step: Step, effects: list[str]) -> dict[str, Any]:
        state = self.cluster.now(self.stage.topic)
        acked = [str(one["record"]).strip("@") for one in self.driver.told("acked") if "@" in one["record"]]
        flying = [
            {
                "record": name,
                "broker": one.broker,
                "answer": None if one.stage in ("held", "passed") else "ok",
            }
            for one in self.proxy.in_flight()
            for name in one.names
        ]
        return {
            "step": step["step"],
            "event": dict(step["event"]),
            "effects": effects,
            "state": {
                "leader": state.leader,
                "epoch": 0,
                "isr": list(state.isr),
                "elr": list(state.elr),
                "hw": 0,
                "remote_leo": {},
                "replicas": [self_replica(self.stage, one) for one in self.ids],
                "clients": {
                    "acked": acked,
                    "unacked": [one for one in self.sent if one not in acked],
                    "failed": [],
                    "producer": {"alive": True, "queue": [], "in_flight": flying},
                },
            },
        }

    def _judged(self) -> Outcome:
        log = self._log()
        twice = sorted({one for one in log if log.count(one) > 1})
        firsts = list(dict.fromkeys(log))
        in_order = firsts == sorted(firsts, key=lambda one: self.sent.index(one) if one in self.sent else -1)
        confirmed = [
            str(one["record"]).strip("@") for one in self.driver.told("acked") if "@" in one["record"]
        ]
        failed = [
            f"{str(one['record']).strip('@')} ({one['error']})"
            for one in self.driver.told("failed")
            if "@" in one["record"]
        ]
        lost = [one for one in confirmed if one not in log]
        facts = [
            ("sent", " ".join(self.sent)),
            ("confirmed", " ".join(confirmed) or "nothing"),
            *([("failed", " ".join(failed))] if failed else []),
            ("the log at the end", " ".join(log) or "empty"),
            ("leader and ISR", told_history(self.cluster.history(self.stage.topic))),
        ]
        if self.guarantee == "records-stored-once":
            seen, words = (
                bool(twice),
                f"{' and '.join(twice)} is stored twice" if twice else "each record is stored once",
            )
        elif self.guarantee == "send-order-kept":
            seen = not in_order
            words = (
                f"stored as {' '.join(firsts)}, sent as {' '.join(self.sent)}"
                if seen
                else "stored in the order of sending"
            )
        else:
            seen, words = (
                bool(lost),
                f"{' '.join(lost)} was confirmed and is lost" if lost else "no confirmed record is lost",
            )
        return Outcome(tuple(self.steps), seen, words, tuple(facts))
