"""A group of 50 members and 200 partitions rolled twice: ours, and the same rules written in SimPy.

Both run the classic protocol with eager rebalances: every member in turn closes, the others share its
partitions, it comes back, all share again; twice around. The same durations, the same assignor (the same
function), the same answers: both count the requests of the modelled time, heartbeats included, and must end
alike. Ours computes when a heartbeat would bring news instead of sending all of them; SimPy, as its users
write it, has a process a member that waits, sends and is answered.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Generator
from typing import Any

MEMBERS, PARTITIONS, ROLLS, ROUNDS = 50, 200, 2, 5
# Kafka's defaults, and a deployment as they are: a process is back after half a minute, and the next one is
# taken when that one has been ready for half a minute.
TRIP, HEARTBEAT, SESSION, DELAY = 24, 3_000, 45_000, 3_000
DOWN, READY = 30_000, 30_000


def ours() -> dict[str, int]:
    from advisor.sim.groups.clock.phases import GroupSetup, Phase
    from advisor.sim.groups.clock.timeline import GroupRun
    from advisor.sim.groups.plans import _assigned

    _assigned.cache_clear()
    setup = GroupSetup(
        partitions=PARTITIONS, strategies=("range",), heartbeat_ms=HEARTBEAT, initial_delay_ms=DELAY
    )
    run = GroupRun(setup, Phase(round_trip=TRIP), records=False)
    nodes = [run.start(f"m{number}") for number in range(MEMBERS)]

    def even(count: int) -> Callable[[], bool]:
        least = PARTITIONS // count

        def reached() -> bool:
            if not run.history or run.history[-1].what != "assigned":
                return False
            owned = [len(node.owned) for node in nodes if node.alive]
            return min(owned) >= least and sum(owned) == PARTITIONS

        return reached

    run.until(even(MEMBERS))
    for _ in range(ROLLS):
        for place in range(MEMBERS):
            run.close(nodes[place])
            run.until(even(MEMBERS - 1))
            run.wait(DOWN)
            nodes[place] = run.start(f"m{place}")
            run.until(even(MEMBERS))
            run.wait(READY)
    group: Any = run.side.group
    revoked = sum(len(entry.partitions) for entry in run.history if entry.what == "revoked")
    return {"generations": group.generation, "revoked": revoked, "virtual_ms": run.clock.now}


class _Coordinator:
    """The same coordinator, in SimPy's terms: joins and syncs are events that it answers."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.generation = 0
        self.known: dict[int, Any] = {}  # member: the event of its join, or None
        self.preparing = False
        self.plan: dict[int, tuple[int, ...]] = {}
        self.planned: Any = None
        self.requests = 0
        self.held = True
        self.heard: dict[int, int] = {}
        env.process(self._first(env))

    def _first(self, env: Any) -> Generator[Any, Any, None]:
        yield env.timeout(DELAY)
        self.held = False
        self.maybe_complete()

    def _watch(self, member: int) -> Generator[Any, Any, None]:
        """The session of a member: looked at when it would be over."""
        while member in self.known:
            left = self.heard[member] + SESSION - self.env.now
            if left <= 0:
                self.leave(member)
                return
            yield self.env.timeout(left)

    def join(self, member: int) -> Any:
        self.requests += 1
        self.heard[member] = self.env.now
        if member not in self.known:
            self.env.process(self._watch(member))
        self.known[member] = self.env.event()
        self.preparing = True
        event = self.known[member]
        self.maybe_complete()
        return event

    def leave(self, member: int) -> None:
        self.requests += 1
        del self.known[member]
        self.preparing = True
        self.maybe_complete()

    def maybe_complete(self) -> None:
        if self.held or not self.preparing or any(event is None for event in self.known.values()):
            return
        self.generation += 1
        self.preparing = False
        self.planned = self.env.event()
        leader = min(self.known)
        for member, event in sorted(self.known.items()):
            self.known[member] = None
            event.succeed((self.generation, member == leader))

    def sync(self, leads: bool) -> Any:
        from advisor.sim.groups.plans import Seat, plan

        self.requests += 1
        if leads:
            seats = [Seat(member) for member in sorted(self.known)]
            self.plan = plan("range", seats, (PARTITIONS,))
            self.planned.succeed()
        return self.planned

    def heartbeat(self, member: int) -> bool:
        self.requests += 1
        self.heard[member] = self.env.now
        return self.preparing


class _Member:
    def __init__(self, env: Any, coordinator: _Coordinator, number: int, totals: dict[str, int]) -> None:
        self.env, self.coordinator, self.number, self.totals = env, coordinator, number, totals
        self.owned: tuple[int, ...] = ()
        self.process = env.process(self.run())

    def run(self) -> Generator[Any, Any, None]:
        import simpy

        env, coordinator = self.env, self.coordinator
        try:
            yield env.timeout(TRIP)
            while True:
                self.totals["revoked"] += len(self.owned)
                self.owned = ()
                yield env.timeout(TRIP // 2)
                _, leads = yield coordinator.join(self.number)
                yield env.timeout(TRIP)
                yield coordinator.sync(leads)
                yield env.timeout(TRIP)
                self.owned = coordinator.plan[self.number]
                while True:
                    yield env.timeout(HEARTBEAT)
                    yield env.timeout(TRIP // 2)
                    if coordinator.heartbeat(self.number):
                        break
        except simpy.Interrupt:
            self.totals["revoked"] += len(self.owned)
            self.owned = ()
            yield env.timeout(TRIP // 2)
            coordinator.leave(self.number)


def in_simpy() -> dict[str, int]:
    import simpy

    from advisor.sim.groups.plans import _assigned

    _assigned.cache_clear()
    env = simpy.Environment()
    totals = {"revoked": 0}
    coordinator = _Coordinator(env)
    members = [_Member(env, coordinator, number, totals) for number in range(MEMBERS)]
    numbers = iter(range(MEMBERS, 10_000))

    def even(count: int) -> bool:
        owned = [len(member.owned) for member in members if member.process.is_alive]
        return len(owned) == count and min(owned) >= PARTITIONS // count and sum(owned) == PARTITIONS

    def until(count: int) -> Generator[Any, Any, None]:
        while not even(count):
            yield env.timeout(100)

    def roll() -> Generator[Any, Any, None]:
        yield from until(MEMBERS)
        for _ in range(ROLLS):
            for place in range(MEMBERS):
                members[place].process.interrupt()
                yield from until(MEMBERS - 1)
                yield env.timeout(DOWN)
                members[place] = _Member(env, coordinator, next(numbers), totals)
                yield from until(MEMBERS)
                yield env.timeout(READY)

    env.run(env.process(roll()))
    return {
        "generations": coordinator.generation,
        "revoked": totals["revoked"],
        "virtual_ms": int(env.now),
        "requests": coordinator.requests,
    }


def against_simpy() -> dict[str, Any]:
    taken: dict[str, list[float]] = {"ours": [], "simpy": []}
    ended: dict[str, dict[str, int]] = {}
    for measured in range(-1, ROUNDS):
        for name, roll in (("ours", ours), ("simpy", in_simpy)):
            gc.collect()
            before = time.process_time()
            ended[name] = roll()
            if measured >= 0:
                taken[name].append(time.process_time() - before)
    for what in ("generations", "revoked"):
        if ended["ours"][what] != ended["simpy"][what]:
            raise AssertionError(f"the two do not do the same: {ended}")
    median = {name: statistics.median(times) for name, times in taken.items()}
    requests = ended["simpy"]["requests"]
    return {
        "requests": requests,
        "cpu_seconds": median,
        "requests a cpu second": {name: round(requests / seconds) for name, seconds in median.items()},
        "ratio": round(median["simpy"] / median["ours"], 2),
        "ended": ended,
    }
