"""A run of one partition: replication, elections and what brokers suffer, each step made to happen.

The search has no clock, so sessions and lags are as short as a cluster bears. A follower that must not copy a
record yet is frozen before the record is sent; frozen followers go on as soon as somebody must follow the
leader that is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...model import Finding
from ..audited import Audited, Client, number
from ..cluster.driver import Driver
from ..cluster.metadata_log import PartitionState
from ..stage import Outcome, Plan, Stage, Step

SESSION_MS, HEARTBEAT_MS, LAG_MS = 6_000, 1_000, 4_000
SHORT = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "broker.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "replica.lag.time.max.ms": str(LAG_MS),
    # A leader that was moved on purpose stays where the run has it.
    "auto.leader.rebalance.enable": "false",
}
SHORTENED = (
    f"broker.session.timeout.ms={SESSION_MS}, broker.heartbeat.interval.ms={HEARTBEAT_MS}, "
    f"replica.lag.time.max.ms={LAG_MS}: the run has no clock, and this one is not to take minutes"
)
# A fetch that waits at the leader when its follower freezes would carry the next record to it.
_FETCH_ENDS = 1.2
_NOTICE = (SESSION_MS + 2 * LAG_MS) / 1000 + 5
_ACK = 5.0
_UNCONFIRMED = 1.0
_GONE = ("crash", "lose", "lose_power", "wipe", "stop", "restart")
_ID = "producer"


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    replicas = len(trace[0]["state"]["replicas"])
    brokers = max(replicas, min(audited.brokers, 3))
    return Plan(
        tuple(range(brokers)),
        broker=SHORT,
        changed=(SHORTENED,),
        seconds=10 + 8 * sum(step["event"]["name"] in ("shrink", "fence", "elect") for step in trace),
    )


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    return _Play(stage, trace, finding.evidence.guarantee or "").outcome()


class _Play:
    def __init__(self, stage: Stage, trace: Sequence[Step], guarantee: str) -> None:
        self.stage, self.trace, self.guarantee = stage, trace, guarantee
        self.cluster = stage.cluster
        self.ids = [one["id"] for one in trace[0]["state"]["replicas"]]
        self.gone: set[int] = set()
        self.steps: list[dict[str, Any]] = []
        self.epoch_base = 0

    def outcome(self) -> Outcome:
        self.driver: Driver = self.stage.producer()
        self.driver.tell("producer", id=_ID, settings=self.stage.at(timely(self.stage.audited.producer)))
        self.stage.warm(self.driver, _ID)
        for step in self.trace:
            told = len(self.driver.events)
            self.stage.progress(step["event"]["text"])
            self._do(step)
            for record in (effect.split()[1] for effect in step["effects"] if effect.startswith("acked ")):
                self.driver.wait_for(lambda events, record=record: _answered(events, record), _ACK)  # type: ignore[misc]
            effects = list(self._effects(step, told))
            self.steps.append({**seen_step(self, step, effects)})
        return self._judged()

    # One step.

    def _do(self, step: Step) -> None:
        event = step["event"]
        broker = event.get("broker")
        match event["name"]:
            case "produce":
                self._produce(step)
            case "fetch" | "write":
                self._let_fetch(broker, step)
            case "shrink" | "lag":
                self.cluster.freeze(broker)
                self._wait(lambda state: broker not in state.isr)
            case "fence":
                self._others_go_on(self._next_leader(step))
                self._wait(
                    lambda state: state.leader != broker and (broker not in state.isr or state.leader is None)
                )
            case "elect":
                self._others_go_on(broker)
                self._wait(lambda state: state.leader is not None)
                self._others_go_on()
            case "return" | "heal":
                self.cluster.resume(broker)
                self.cluster.restart(broker)
            case "move":
                self.stage.admin.tell(
                    "reassign",
                    topic=self.stage.topic,
                    replicas=[broker, *(one for one in self.ids if one != broker)],
                )
                self.stage.admin.tell("elect", topic=self.stage.topic)
                self._wait(lambda state: state.leader == broker)
            case name if name in _GONE:
                self._take_down(event)
            case _:
                time.sleep(0.5)  # what brokers do among themselves

    def _produce(self, step: Step) -> None:
        record = step["event"]["record"]
        refused = any(effect.startswith("rejected") for effect in step["effects"])
        if not refused:
            # Whoever copies it in the run does so when it is told to.
            followers = [one for one in self._live() if one != self.cluster.now(self.stage.topic).leader]
            fresh = [one for one in followers if not self.cluster.is_frozen(one)]
            for one in fresh:
                self.cluster.freeze(one)
            if fresh:
                time.sleep(_FETCH_ENDS)
        self.driver.tell("send", id=_ID, topic=self.stage.topic, partition=0, values=[record])
        confirmed = f"acked {record}" in step["effects"]
        self.driver.wait_for(
            lambda events: _answered(events, record), _ACK if confirmed or refused else _UNCONFIRMED
        )

    def _let_fetch(self, broker: int, step: Step) -> None:
        wanted = next(one["leo"] for one in step["state"]["replicas"] if one["id"] == broker)
        self.cluster.resume(broker)
        end = time.monotonic() + _ACK
        while len(self.stage.records(broker)) < wanted and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)

    def _take_down(self, event: Mapping[str, Any]) -> None:
        broker, name = event["broker"], event["name"]
        if not self.cluster.is_up(broker):
            return
        if name in ("stop", "restart"):
            # A clean stop waits for who is to follow.
            self._others_go_on()
            self.cluster.stop(broker)
        else:
            self.cluster.kill(broker)
        if name == "lose":
            self.gone.add(broker)
        if name == "wipe":
            self.cluster.wipe(broker, self.stage.topic)
        if name == "lose_power":
            # The first record is the warm-up's: it was on disk.
            self.cluster.cut(broker, self.stage.topic, event["keep"] + 1)

    def _others_go_on(self, chosen: int | None = None) -> None:
        """Who may take over. Of those that are out of sync only the one that does so in the run: which of
        them is heard first is a matter of luck."""
        state = self.cluster.now(self.stage.topic)
        for one in self._live():
            if chosen is None or one == chosen or one in state.isr:
                self.cluster.resume(one)

    def _next_leader(self, step: Step) -> int | None:
        later = (one for one in self.trace if one["step"] >= step["step"])
        return next((one["event"].get("broker") for one in later if one["event"]["name"] == "elect"), None)

    def _live(self) -> list[int]:
        return [one for one in self.ids if self.cluster.is_up(one)]

    def _wait(self, true: Any) -> bool:
        return self.cluster.wait_for(self.stage.topic, true, _NOTICE)

    # What is seen.

    def _effects(self, step: Step, told: int) -> Iterator[str]:
        """As the model words them."""
        for one in self.driver.events[told:]:
            if one["event"] == "acked":
                yield f"acked {one['record']}"
            elif one["event"] == "failed":
                yield f"failed {one['record']} {one['error']}"
        event = step["event"]
        if event["name"] == "produce" and not _answered(self.driver.events, event["record"]):
            leader = self.cluster.now(self.stage.topic).leader
            if leader is None or event["record"] not in self.stage.records(leader):
                yield f"rejected {event['record']} {'no leader' if leader is None else 'not enough replicas'}"
        if event["name"] == "elect":
            state = self.cluster.now(self.stage.topic)
            if state.leader is not None:
                yield f"elected b{state.leader} {self._how(state)}"

    def _how(self, state: PartitionState) -> str:
        """Whom the controller had before it: in the ISR, eligible, or neither."""
        before = next(
            (
                one
                for one in reversed(self.cluster.history(self.stage.topic)[:-1])
                if one.leader != state.leader
            ),
            state,
        )
        if state.leader in before.isr:
            return "clean"
        return "from ELR" if state.leader in before.elr else "unclean"

    def confirmed(self) -> list[str]:
        return [one["record"] for one in self.driver.told("acked") if one["record"] != "warm-up"]

    def _judged(self) -> Outcome:
        confirmed = self.confirmed()
        state = self.cluster.now(self.stage.topic)
        holders = {
            record: [one for one in self.ids if one not in self.gone and record in self.stage.records(one)]
            for record in confirmed
        }
        facts = [("confirmed", " ".join(confirmed) or "nothing")]
        if self.guarantee == "writes-available":
            sent = [step["event"]["record"] for step in self.trace if step["event"]["name"] == "produce"]
            stuck = [one for one in sent if one not in confirmed]
            facts += [("not confirmed", " ".join(stuck) or "nothing"), *self._facts()]
            words = f"{' '.join(stuck)} is not accepted: {self._why()}" if stuck else "writes continue"
            return Outcome(tuple(self.steps), bool(stuck), words, tuple(facts))
        if state.leader is not None and self.cluster.is_up(state.leader):
            readable = self._readable()
            lost = [one for one in confirmed if one not in readable]
            facts.append(("readable", " ".join(readable) or "nothing"))
        else:
            lost = [one for one in confirmed if not holders[one]]
            facts.append(("readable", "nothing: no broker leads"))
        facts += [("lost", " ".join(lost) or "nothing"), *self._facts()]
        if lost:
            words = f"{' and '.join(lost)} was confirmed and is lost"
        elif confirmed:
            words = f"{' and '.join(confirmed)} is kept: no confirmed record is lost"
        else:
            words = "nothing was confirmed, so the producer knows: no confirmed record is lost"
        return Outcome(tuple(self.steps), bool(lost), words, tuple(facts))

    def _readable(self) -> list[str]:
        live = [one for one in self.cluster.brokers if self.cluster.is_up(one)]
        for one in live:
            self.cluster.resume(one)
        found = self.stage.read(bootstrap_servers=self.cluster.address(*live))
        return found.get(0, [])

    def _why(self) -> str:
        """What a producer without patience is told."""
        impatient = {"retries": "0", "enable.idempotence": "false", "acks": "all", "linger.ms": "0"}
        impatient |= {"delivery.timeout.ms": "6000", "request.timeout.ms": "5000"}
        java = self.stage.driver("impatient")
        java.tell("producer", id="impatient", settings=self.stage.at(impatient))
        java.tell("send", id="impatient", topic=self.stage.topic, partition=0, values=["probe"])
        java.wait_for(lambda events: _answered(events, "probe"), 10)
        failed = java.told("failed", id="impatient")
        return failed[0]["error"] if failed else "no answer"

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "leader and ISR", told_history(self.cluster.history(self.stage.topic))


def seen_step(self: _Play, step: Step, effects: Sequence[str]) -> dict[str, Any]:
    """The real cluster after a step, in the shape of the model's."""
    state = self.cluster.now(self.stage.topic)
    event = dict(step["event"])
    if event["name"] == "elect" and state.leader is not None:
        event |= {"broker": state.leader, "text": f"elect b{state.leader}"}
    confirmed = self.confirmed()
    return {
        "step": step["step"],
        "event": event,
        "effects": list(effects),
        "state": {
            "leader": state.leader,
            "epoch": sum(
                one.leader is not None and one.leader != before.leader
                for before, one in pairwise(self.cluster.history(self.stage.topic))
            ),
            "isr": list(state.isr),
            "elr": list(state.elr),
            "hw": 0,
            "remote_leo": {},
            "replicas": [self_replica(self.stage, one) for one in self.ids],
            "clients": {"acked": confirmed, "unacked": []},
        },
    }


def self_replica(stage: Stage, broker: int) -> dict[str, Any]:
    log = stage.records(broker)
    return {"id": broker, "alive": stage.cluster.is_up(broker), "leo": len(log), "hw": 0, "log": log}


def told_history(states: Sequence[PartitionState]) -> str:
    """leader 0 ISR 0,1,2 -> leader 1 ISR 1,2"""
    parts = []
    for one in states:
        leader = "no leader" if one.leader is None else f"leader {one.leader}"
        elr = f" ELR {','.join(map(str, one.elr))}" if one.elr else ""
        parts.append(f"{leader} ISR {','.join(map(str, one.isr)) or 'none'}{elr}")
    return " -> ".join(one for place, one in enumerate(parts) if one not in parts[place - 1 : place])


def timely(client: Client) -> dict[str, str]:
    """A run without a clock must not end by a timeout, and sends each record for itself."""
    kept = dict(client.settings)
    names = {"delivery.timeout.ms": "message.timeout.ms"} if client.family == "librdkafka" else {}
    least = {"request.timeout.ms": 30_000, "delivery.timeout.ms": 120_000, "max.block.ms": 60_000}
    for key, milliseconds in least.items():
        for name in {key, names.get(key, key)}:
            if name in kept and number(kept, name, milliseconds) < milliseconds:
                kept[name] = str(milliseconds)
    return {**kept, "linger.ms": "0", "compression.type": "none", "metadata.max.age.ms": "3000"}


def _answered(events: Sequence[Mapping[str, Any]], record: str) -> bool:
    return any(one["event"] in ("acked", "failed") and one["record"] == record for one in events)
