"""One partition as values: what a configuration makes of it, its replicas, the controller's view, the events.

Sets of brokers are bit masks (bit i is broker i): small, hashable and quick to compare, which is most of what
a search does. Brokers are numbered in the order of the partition's assignment, so "the first live replica in
assignment order" is the lowest bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tuples import NamedTuple
from ..search.verdict import Bounds

NOBODY = -1
UNKNOWN = -1  # an LEO the leader has not heard since it took office; an epoch nobody told a replica yet

# What became of a broker's process.
UP, BOUNCING, DOWN, GONE = range(4)

TRUNCATIONS = ("high-watermark", "kip-101", "kip-279", "kip-320")


class Policy(NamedTuple):
    """What settings and a Kafka version make of a partition. Each field cites the behaviour it stands for."""

    # Replication factor. Broker 0 is the preferred leader and leads at the start.
    replicas: int = 3
    # "0": acknowledged at send. "1": when the leader has appended. "all": when the high watermark passes the
    # record, which is when every in-sync replica has it (Partition.checkEnoughReplicasReachOffset).
    acks: str = "all"
    # min.insync.replicas as configured; counts for acks=all alone (Partition.appendRecordsToLeader).
    min_isr: int = 1
    # An out-of-sync replica may be elected when no in-sync one is live (unclean.leader.election.enable).
    unclean: bool = False
    # Eligible leader replicas (KIP-966): the feature eligible.leader.replicas.version, 4.0 and later.
    elr: bool = False
    # How a replica cuts its log on becoming a follower: "high-watermark" before 0.11, "kip-101" from 0.11,
    # "kip-279" from 2.0, "kip-320" (fetches and truncation fenced by the leader epoch) from 2.1.
    truncation: str = "kip-320"
    # Effective minimum = min(min_isr, replicas) (Partition.effectiveMinIsr, 3.7); before, a minimum above the
    # replication factor refuses every acks=all write.
    min_isr_capped: bool = True
    # The high watermark stands still while the ISR is below the minimum (Partition.maybeIncrementLeaderHW,
    # 3.7); before, it advances and a waiting acks=all request ends with NOT_ENOUGH_REPLICAS_AFTER_APPEND.
    hw_waits_for_min_isr: bool = True
    # A follower rejoins the ISR only at an LEO at or beyond the start of the leader's epoch as well
    # (KAFKA-7128, 2.0.1); before, reaching the leader's high watermark was enough.
    joins_at_epoch_start: bool = True
    # A follower that restarts faster than the controller looks stays in the ISR (ZooKeeper before 2.2, where
    # broker epochs, KIP-380, made the controller see it). KRaft lets nobody register in an open session.
    bounce_unnoticed: bool = False
    # Every append is forced to disk before it is answered (flush.messages=1): a power loss cuts nothing.
    flushed_at_once: bool = False
    # The disk goes with the process (a pod's emptyDir): whoever comes back comes back empty, and so without
    # the file that tells of a clean shutdown.
    ephemeral: bool = False
    # Rack of each replica in assignment order, for rack_lost; empty: none is known.
    racks: tuple[int, ...] = ()

    @property
    def effective_min_isr(self) -> int:
        return min(self.min_isr, self.replicas) if self.min_isr_capped else self.min_isr

    def text(self) -> str:
        """The settings that everybody knows, and whatever else differs from a current Kafka."""
        usual = ("replicas", "acks", "min_isr", "unclean")
        shown = [
            (name, value)
            for name, value in self._asdict().items()
            if name in usual or value != self._field_defaults[name]
        ]
        return " ".join(f"{name}={str(value).lower().replace(' ', '')}" for name, value in shown)


class Answer(NamedTuple):
    """A fetch answer on its way to a follower."""

    entries: tuple[tuple[int, int], ...]
    hw: int


class Replica(NamedTuple):
    log: tuple[tuple[int, int], ...] = ()  # (leader epoch, record) at offsets 0, 1, ...
    hw: int = 0
    epoch: int = 0  # the leader epoch whose state it runs by; UNKNOWN after a start, until it is told
    life: int = UP
    cut_off: bool = False  # from the controller and the other brokers, not from producers
    clean: bool = True  # it was not killed since it last stopped properly
    flushed: int = 0  # a power loss leaves at least this much
    # As a leader: the ISR it goes by, where its epoch starts, and the LEOs it heard with each fetch.
    isr: int = 0
    start: int = 0
    remote: tuple[int, ...] = ()
    answer: Answer | None = None

    @property
    def leo(self) -> int:
        return len(self.log)


class State(NamedTuple):
    replicas: tuple[Replica, ...]
    # The controller's side.
    leader: int
    epoch: int
    terms: tuple[tuple[int, int], ...]  # (leader, ISR) of each leader epoch so far
    isr: int
    elr: int
    last_leader: int  # KIP-966: whom an empty ISR and ELR leave as the last known leader
    fenced: int
    proposed: int  # an ISR the leader has proposed and the controller not yet confirmed; 0: none
    near: int  # caught up and about to join, but a proposal is under way: the high watermark waits for them
    # The producer's side.
    sent: int
    acked: int
    failed: int
    # What may still happen.
    elections: int
    budget: tuple[int, ...]
    rolling: int = NOBODY
    rolled: int = 0


class Event(NamedTuple):
    """`name` is a verb. `value` is the record, what is kept of a log, an epoch or a rack, as `name` says."""

    name: str
    broker: int = NOBODY
    value: int = -1

    def text(self) -> str:
        broker = f" b{self.broker}" if self.broker >= 0 else ""
        match self.name:
            case "produce":
                return f"produce r{self.value}" + (f" to{broker}" if broker else "")
            case "lose_power":
                return f"lose_power{broker} keep {self.value}"
            case "follow" | "lead":
                return f"{self.name}{broker} epoch {self.value}"
            case "lose_rack":
                return f"lose_rack {self.value}"
        return self.name + broker

    def as_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"name": self.name, "text": self.text()}
        if self.broker >= 0:
            data["broker"] = self.broker
        match self.name:
            case "produce":
                data["record"] = f"r{self.value}"
            case "lose_power":
                data["keep"] = self.value
            case "follow" | "lead":
                data["epoch"] = self.value
            case "lose_rack":
                data["rack"] = self.value
        if self.name in FAULT_OF:
            data["fault"] = FAULT_OF[self.name]
        return data


def parse(text: str) -> Event:
    """The event that `Event.text` wrote."""
    words = text.split()
    broker, value = NOBODY, -1
    for word in words[1:]:
        digits = word.removeprefix("b" if word[0] == "b" else "r")
        # A few ASCII digits: int() takes other scripts, and refuses thousands.
        if digits.isascii() and digits.isdecimal() and len(digits) < 10:
            if word[0] == "b":
                broker = int(digits)
            else:
                value = int(digits)
        elif word not in ("to", "keep", "epoch"):
            raise ValueError(f"{text[:60]!r} is no event: what is {word[:60]!r}?")
    return Event(words[0], broker, value)


# The counted faults, and the event that spends each.
EVENT_OF = {
    "slow_follower": "shrink",
    "broker_crash": "crash",
    "broker_lost": "lose",
    "power_loss": "lose_power",
    "disk_wiped": "wipe",
    "clean_stop": "stop",
    "roll": "restart",
    "partitioned": "cut_off",
    "rack_lost": "lose_rack",
    "controller_failover": "fail_over",
    "leader_move": "move",
}
FAULT_OF = {event: fault for fault, event in EVENT_OF.items()}


class Model(NamedTuple):
    """A policy within bounds: all that the transition rules read besides the state."""

    policy: Policy
    bounds: Bounds
    faults: tuple[str, ...]  # the names whose remaining counts are State.budget
    min_isr: int
    rounds: bool
    hw_kept: bool
    proposals: bool
    # Whether becoming a follower is an event of its own, and not a part of the next fetch: where leadership
    # is learnt late (rounds) and where the log is cut before the leader is asked (high-watermark).
    follows: bool


def start(policy: Policy, bounds: Bounds, budget: Mapping[str, int]) -> tuple[Model, State]:
    """The model, and its first state: broker 0 leads, all are in sync, nothing more is written."""
    unknown = [name for name in budget if name not in EVENT_OF]
    if unknown:
        raise ValueError(f"no fault of a partition is called {', '.join(sorted(unknown))}")
    if policy.truncation not in TRUNCATIONS:
        raise ValueError(f"no truncation protocol is called {policy.truncation!r}")
    faults = tuple(name for name in EVENT_OF if budget.get(name, 0) > 0)
    rounds = bounds.fetch == "rounds"
    model = Model(
        policy,
        bounds,
        faults,
        policy.effective_min_isr,
        rounds,
        bounds.follower_hw or rounds,
        bounds.isr_changes != "atomic",
        rounds or policy.truncation == "high-watermark",
    )
    everyone = (1 << policy.replicas) - 1
    before = bounds.committed
    follower = Replica(tuple((0, record) for record in range(before)), hw=before, flushed=before)
    leader = follower._replace(isr=everyone, remote=(before,) * policy.replicas)
    return model, State(
        replicas=(leader,) + (follower,) * (policy.replicas - 1),
        leader=0,
        epoch=0,
        terms=((0, everyone),),
        isr=everyone,
        elr=0,
        last_leader=NOBODY,
        fenced=0,
        proposed=0,
        near=0,
        sent=before,
        acked=(1 << before) - 1,
        failed=0,
        elections=bounds.elections,
        budget=tuple(budget[name] for name in faults),
    )


MEMBERS: tuple[tuple[int, ...], ...] = tuple(
    tuple(broker for broker in range(8) if mask >> broker & 1) for mask in range(256)
)


def members(mask: int) -> tuple[int, ...]:
    """The brokers of a mask, in assignment order."""
    return MEMBERS[mask] if mask < 256 else tuple(b for b in range(mask.bit_length()) if mask >> b & 1)


def with_replica(state: State, broker: int, replica: Replica) -> tuple[Replica, ...]:
    replicas = list(state.replicas)
    replicas[broker] = replica
    return tuple(replicas)


def put(state: State, broker: int, replica: Replica) -> State:
    """The state with another replica. (A fifth of the price of `_replace`, and most steps do it.)"""
    values = list(state)
    values[0] = with_replica(state, broker, replica)
    return tuple.__new__(State, values)


def presumes_leadership(state: State, broker: int) -> bool:
    """It believes itself the leader, rightly or not, and so takes writes and answers fetches."""
    replica = state.replicas[broker]
    return replica.life == UP and replica.epoch >= 0 and state.terms[replica.epoch][0] == broker


def in_office(state: State) -> int:
    """The elected leader once it knows, is up and reaches the others, else NOBODY."""
    leader = state.leader
    if leader < 0:
        return NOBODY
    replica = state.replicas[leader]
    return leader if replica.life == UP and replica.epoch == state.epoch and not replica.cut_off else NOBODY


def spend(model: Model, state: State, fault: str) -> tuple[int, ...]:
    place = model.faults.index(fault)
    budget = state.budget
    return (*budget[:place], budget[place] - 1, *budget[place + 1 :])


def left(model: Model, state: State, fault: str) -> int:
    return state.budget[model.faults.index(fault)] if fault in model.faults else 0


def record_text(entry: tuple[int, int]) -> str:
    """`r0` of the first epoch, `r1@2` of a later one."""
    epoch, record = entry
    return f"r{record}@{epoch}" if epoch else f"r{record}"


def view(model: Model, state: State) -> dict[str, Any]:
    """The state as the JSON report shows it."""
    acting = in_office(state)
    leader = state.replicas[acting] if acting >= 0 else None
    hw = max((r.hw for r in state.replicas if r.life != GONE), default=0) if leader is None else leader.hw
    remote: dict[str, int | None] = {}
    if leader is not None and model.hw_kept:
        for broker, leo in enumerate(leader.remote):
            if broker != acting:
                remote[str(broker)] = None if leo < 0 else leo
    records = range(state.sent)
    return {
        "leader": None if state.leader < 0 else state.leader,
        "epoch": state.epoch,
        "isr": list(members(state.isr)),
        "elr": list(members(state.elr)),
        "hw": hw,
        "replicas": [
            {
                "id": broker,
                "alive": replica.life == UP,
                "leo": replica.leo,
                # Where the model keeps no high watermark of followers, what they could have heard.
                "hw": replica.hw if model.hw_kept or broker == acting else min(replica.leo, hw),
                "log": [record_text(entry) for entry in replica.log],
            }
            for broker, replica in enumerate(state.replicas)
        ],
        "remote_leo": remote,
        "clients": {
            "acked": [f"r{record}" for record in records if state.acked >> record & 1],
            "unacked": [f"r{record}" for record in records if not state.acked >> record & 1],
        },
    }
