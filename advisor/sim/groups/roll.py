"""A rolling deploy: the members of a group are stopped and started again one by one, the new way.

The coordinator's answers are those of group.py, the plans those of the assignors. Each step waits until the
group has settled: a deploy that breaks even then breaks. What is followed is who is let in, which strategy is
voted, what each member reads, how often all had to join again and how many partitions were given up.

A group that the broker has taken over (KIP-848) is followed in rolling_at_broker.py.

Left out: time (a static member's ghost is known to hold the group up until its session ends, not for how
long).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...tuples import NamedTuple
from ..assign.assignors import BUILT_IN, COOPERATIVE, LATEST, Assignor, rebalance_protocol
from ..assign.members import Member as Joining
from ..assign.members import Metadata
from . import classic as coordinator
from .classic import INCONSISTENT, PREPARING, RETURNED, Group
from .plans import Seat, plan
from .roll_at_broker import AtBroker

CLASSIC, CONSUMER = "classic", "consumer"
BY_BROKER = "the broker's"
CLASSIC_AGAIN = "the group is a classic one again"
NOT_A_CONSUMER_GROUP = "GROUP_ID_NOT_FOUND"
UNSUPPORTED = "UNSUPPORTED_VERSION"
_SETTLED_MAX = 8  # a cooperative group settles in two rounds, one of the broker's in three


class Kind(NamedTuple):
    """How a member is set up. `strategies` in its order of preference."""

    strategies: tuple[str, ...] = ("range", "cooperative-sticky")
    static: bool = False
    protocol: str = CLASSIC


class Brokers(NamedTuple):
    """What the brokers make of the consumer protocol (4.0 on; before that they have to be told)."""

    consumer_protocol: bool = True
    # group.consumer.migration.policy: may a running group become the broker's, and a classic one again?
    online_upgrade: bool = True
    online_downgrade: bool = True
    classic_joins: bool = True  # a classic member is let into a group that the broker runs


class RollStep(NamedTuple):
    """What was done to which member, and how the group stands after it."""

    what: str  # stop | start
    member: int
    kind: Kind
    strategy: str
    generation: int
    reads: tuple[tuple[int, ...] | None, ...]  # by member; None: it is not running, or was refused
    effects: tuple[str, ...]
    revoked: int = 0  # partitions that members gave up in this step


class Roll(NamedTuple):
    steps: tuple[RollStep, ...]
    refused: str | None  # the first of the coordinator's answers that a new member does not survive
    fewest: int  # members that were running after a start, at worst
    rebalances: int
    revoked: int  # partitions that a member had to give up, in all
    ghosts: int  # static members that left nobody word: the group waits for the end of their session
    stranded: bool  # the group is the broker's, and none of its members makes it plan again


MODERN = Brokers()


def roll(
    old: Kind,
    new: Kind,
    members: int,
    partitions: int,
    brokers: Brokers = MODERN,
    own: Mapping[str, Assignor] | None = None,
) -> Roll:
    """Deploy `new` over a group of `members` that run `old`, to the end, whoever is refused. `own` are
    assignors of plugins; one with a true attribute `cooperative` lets members keep what they read."""
    run = _Run(old, members, partitions, brokers, own or {})
    for member in range(members):
        run.stop(member)
        run.start(member, new)
    return Roll(
        tuple(run.steps),
        run.refused,
        run.fewest,
        run.rebalances,
        run.revoked,
        run.ghosts,
        stranded=run.by_broker and run.all_classic(),
    )


class Joined(NamedTuple):
    """What a second member that is set up in another way makes of a group of one."""

    reads: tuple[tuple[int, ...], tuple[int, ...]]  # of the first member and of the second
    revoked: int  # partitions that the first had to give up
    refused: str | None  # the coordinator's answer that the second does not survive


def join(first: Kind, second: Kind, partitions: int, brokers: Brokers = MODERN) -> Joined:
    """`second` joins a group in which `first` reads everything."""
    run = _Run(first, 1, partitions, brokers, {})
    run.add(second)
    mine, theirs = run.reads
    return Joined((mine, theirs if run.running[1] else ()), run.given_up[0], run.refused)


class _Run:
    def __init__(
        self, old: Kind, members: int, partitions: int, brokers: Brokers, own: Mapping[str, Assignor]
    ) -> None:
        self.brokers = brokers
        self.own = own
        self.cooperative = COOPERATIVE.union(
            name for name, assignor in own.items() if getattr(assignor, "cooperative", False)
        )
        self.partitions = partitions
        self.group = Group()
        self.kinds = [old] * members
        self.numbers = list(range(members))  # the coordinator's number of each member; they change
        self.running = [True] * members
        self.reads: list[tuple[int, ...]] = [()] * members
        self.by_broker = old.protocol == CONSUMER
        self.steps: list[RollStep] = []
        self.refused: str | None = None
        self.fewest = members
        self.rebalances = self.revoked = self.ghosts = 0
        self.next_number = members
        self.given_up = [0] * members  # by member
        self.broker = AtBroker(partitions, lambda number: self.numbers.index(number))
        for member in range(members):
            if self.by_broker:
                self.broker.join(member, self._instance(member))
                self.reads[member] = self.broker.heartbeat(member, ())
            else:
                self._join(member)
        self._settle()
        self.rebalances = self.revoked = 0
        self.given_up = [0] * members

    def add(self, kind: Kind) -> None:
        """One member more."""
        self.kinds.append(kind)
        self.numbers.append(self.next_number)
        self.running.append(False)
        self.reads.append(())
        self.given_up.append(0)
        self.start(len(self.kinds) - 1, kind)

    def stop(self, member: int) -> None:
        kind = self.kinds[member]
        self._give_up(member, self.reads[member])
        self.running[member] = False
        effects: tuple[str, ...] = ()
        if kind.static:
            effects = ("a static member does not say that it leaves",)
        if self.by_broker:
            if kind.static or not self.all_classic():
                self.broker.leave(self.numbers[member])
                self._settle()
            elif self.brokers.online_downgrade:
                self.by_broker = False
                self.group = self.broker.handed_back(self._strategies_of, self.numbers[member])
                effects = (CLASSIC_AGAIN,)
                self._settle()
            else:
                self.broker.leave(self.numbers[member], planned=False)
                effects = ("nobody reads what it read until a member joins",)
        elif not kind.static:
            self.group = coordinator.remove(self.group, self.numbers[member])
            self._settle()
        self._tell("stop", member, effects)

    def start(self, member: int, kind: Kind) -> None:
        was, self.kinds[member] = self.kinds[member], kind
        if self.by_broker and kind.protocol == CLASSIC and self.broker.is_empty:
            self.by_broker, self.group = False, Group()  # an empty group is of whichever protocol comes
        if kind.protocol == CONSUMER or self.by_broker:
            self._start_at_broker(member, kind)
            return
        effects: list[str] = []
        if was.static and not kind.static:
            # The coordinator still waits for it; only the end of its session lets the others go on.
            self.ghosts += 1
            effects.append("all wait until the session of its old instance id ends")
            self.group = coordinator.remove(self.group, self.numbers[member])
        self.numbers[member] = self.next_number
        self.next_number += 1
        answer = self._join(member)
        if answer == INCONSISTENT:
            self._settle()
            self._refuse(member, INCONSISTENT, effects)
            return
        self.running[member] = True
        if answer == RETURNED:
            self.reads[member] = coordinator.member(self.group, self.numbers[member]).assigned
            effects.append("gets its old partitions back, nobody else notices")
        else:
            self._settle()
        self._tell("start", member, tuple(effects))

    def _refuse(self, member: int, answer: str, effects: Sequence[str] = ()) -> None:
        self.refused = self.refused or answer
        self.fewest = min(self.fewest, sum(self.running))
        self._tell("start", member, (*effects, f"refused: {answer}"))

    def _start_at_broker(self, member: int, kind: Kind) -> None:
        """A member of the consumer protocol joins, or any member joins a group that the broker runs."""
        effects: list[str] = []
        was = self.numbers[member]
        if kind.protocol == CONSUMER and not self.by_broker:
            if not self.brokers.consumer_protocol:
                self._refuse(member, UNSUPPORTED)
                return
            if coordinator.members(self.group) and not self.brokers.online_upgrade:
                self._refuse(member, NOT_A_CONSUMER_GROUP)
                return
            self.by_broker = True
            self.broker.take_over(self.group)
            effects.append("the group is the broker's from now on")
        elif kind.protocol == CLASSIC and not self.brokers.classic_joins:
            self._refuse(member, INCONSISTENT)
            return
        self.numbers[member] = self.next_number
        self.next_number += 1
        self.running[member] = True
        if self.broker.holds(was) and not kind.static:
            # Nobody waits for it, but what it read stays its own.
            self.ghosts += 1
            effects.append("what its old instance id had is unread until that session ends")
            self.broker.drop(was)
        elif self.broker.holds(was):
            self.broker.leave(was)  # a classic member left no word, and may be replaced all the same
        unnoticed = self.broker.join(self.numbers[member], self._instance(member))
        self.reads[member] = self.broker.heartbeat(self.numbers[member], ())
        if unnoticed:
            effects.append("gets its old partitions back, nobody else notices")
        self._settle()
        if unnoticed and self.all_classic() and self.brokers.online_downgrade:
            self.by_broker = False
            self.group = self.broker.handed_back(self._strategies_of)
            effects.append(CLASSIC_AGAIN)
        self._tell("start", member, tuple(effects))

    def _settle_at_broker(self) -> None:
        """Members are led to the broker's plan, each by its own heartbeats; an eager member of the classic
        protocol gives up everything whenever it is told to join again."""
        self.rebalances += bool(self.broker.told())
        for _ in range(_SETTLED_MAX):
            for number in self.broker.told():
                member = self.numbers.index(number)
                if self.kinds[member].protocol == CLASSIC and not self._keeps(member):
                    self._give_up(member, self.reads[member])
                mine = self.broker.heartbeat(number, self.reads[member])
                if self._give_up(member, tuple(p for p in self.reads[member] if p not in mine)):
                    mine = self.broker.heartbeat(number, self.reads[member])
                self.reads[member] = mine

    def all_classic(self) -> bool:
        left = [kind for kind, running in zip(self.kinds, self.running, strict=True) if running]
        return bool(left) and all(kind.protocol == CLASSIC for kind in left)

    def _strategies_of(self, number: int) -> tuple[str, ...]:
        return self.kinds[self.numbers.index(number)].strategies

    def _instance(self, member: int) -> str:
        return f"i{member}" if self.kinds[member].static else ""

    def _join(self, member: int) -> str:
        kind = self.kinds[member]
        owned = self.reads[member] if self._keeps(member) else ()
        request = coordinator.Member(
            kind.strategies,
            self._instance(member),
            owned=owned,
        )
        self.group, answer = coordinator.join(self.group, self.numbers[member], request)
        return answer

    def _settle(self) -> None:
        """Everybody joins again until nothing changes hands any more."""
        if self.by_broker:
            self._settle_at_broker()
            return
        for _ in range(_SETTLED_MAX):
            if self.group.phase != PREPARING:
                return
            self.rebalances += 1
            here = [n for n, running in enumerate(self.running) if running or self._joined(n)]
            for member in here:
                if not self._keeps(member):
                    self._give_up(member, self.reads[member])
                if not self._joined(member):
                    self._join(member)
            self.group = coordinator.complete(self.group)
            given = self._plan()
            self.group, _ = coordinator.sync(self.group, self.group.leader, self.group.generation, given)
            again = False
            for member in here:
                mine = given.get(self.numbers[member], ())
                again |= self._give_up(member, tuple(p for p in self.reads[member] if p not in mine))
                self.reads[member] = mine
            if again:
                self.group = coordinator.prepare(self.group)

    def _joined(self, member: int) -> bool:
        number = self.numbers[member]
        return number in self.group.joined

    def _keeps(self, member: int) -> bool:
        return rebalance_protocol(self.kinds[member].strategies, self.cooperative) == "cooperative"

    def _plan(self) -> dict[int, tuple[int, ...]]:
        strategy = self.group.strategy
        sticky = strategy == "sticky" or strategy in self.cooperative
        by_number = {number: member for member, number in enumerate(self.numbers)}
        seats = [
            Seat(number, self.reads[by_number[number]] if sticky else ())
            for number in sorted(coordinator.members(self.group), key=lambda number: by_number[number])
        ]
        if strategy in self.own:
            return self._own_plan(self.own[strategy], seats)
        # An assignor that is not known here is taken to deal out as range does; it matters to nobody's vote.
        return plan(strategy if strategy in BUILT_IN else "range", seats, (self.partitions,))

    def _own_plan(self, assignor: Assignor, seats: Sequence[Seat]) -> dict[int, tuple[int, ...]]:
        generation = self.group.generation
        joining = [
            Joining(f"m{seat.member:05d}", ("t",), tuple(("t", p) for p in seat.owned), generation)
            for seat in seats
        ]
        given = assignor(joining, Metadata({"t": self.partitions}), LATEST)
        return {
            seat.member: tuple(sorted(number for _, number in given.get(one.id, ())))
            for seat, one in zip(seats, joining, strict=True)
        }

    def _give_up(self, member: int, partitions: tuple[int, ...]) -> bool:
        self.revoked += len(partitions)
        self.given_up[member] += len(partitions)
        self.reads[member] = tuple(p for p in self.reads[member] if p not in partitions)
        return bool(partitions)

    def _tell(self, what: str, member: int, effects: tuple[str, ...]) -> None:
        reads = tuple(self.reads[number] if running else None for number, running in enumerate(self.running))
        strategy = BY_BROKER if self.by_broker else self.group.strategy
        generation = self.broker.group.epoch if self.by_broker else self.group.generation
        revoked = self.revoked - sum(step.revoked for step in self.steps)
        kind = self.kinds[member]
        self.steps.append(RollStep(what, member, kind, strategy, generation, reads, effects, revoked))
