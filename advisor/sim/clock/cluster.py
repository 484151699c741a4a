"""Brokers and their controller in time: sessions that run out, news that travels, processes that stop and
start, and what a schedule does to them. Copying, acknowledging and the ISR: timeline_replicas.
"""

from __future__ import annotations

from ..partition.elections import candidate
from ..partition.state import NOBODY, UNKNOWN, Event, Policy, State, members, presumes_leadership, put
from ..ranges import FETCH_WAIT, SECOND
from .clock import Clock
from .controller import Controller
from .grid import Phase
from .replicas import ClusterPolicy, Replicas
from .silence import FETCH_PATIENCE, METADATA_PATIENCE, silence


class Cluster(Replicas):
    def __init__(self, clock: Clock, phase: Phase, partition: Policy, policy: ClusterPolicy) -> None:
        super().__init__(clock, phase, partition, policy)
        brokers = self.brokers
        self.silent_since: list[int | None] = [None for _ in brokers]  # to the controller
        self.starting = [False for _ in brokers]
        self.registering = [False for _ in brokers]
        self.expired = 0  # sessions that ended while there was no controller
        self.stopping: list[int] = []  # asked to stop, and not yet let go
        self.controller = Controller(clock, phase, policy.control, policy.voters_at, self._controlled_again)
        self._rebalance_planned = False
        self._cuts = 0  # and healings: what was planned for an earlier one is void
        self._cut_at = self._cut_epoch = 0

    def controlled(self) -> bool:
        return self.controller.active

    def _controls(self, broker: int) -> bool:
        """There is a controller, and the broker reaches it."""
        return self.controller.active and not self.cut_from_controller >> broker & 1

    def _refresh_links(self) -> None:
        """Who does not fetch, and since when; who is not heard of by the controller, and since when."""
        now = self.clock.now
        leader = self.state.leader
        for broker in self.brokers:
            there = self.acts(broker)
            hears = there and (leader < 0 or leader == broker or self.linked(leader, broker))
            if leader >= 0 and leader != broker and not self.acts(leader):
                hears = there  # nobody looks while the leader is away
            self.stale_since[broker] = None if hears else (self.stale_since[broker] or now)
            heard = there and not self.cut_from_controller >> broker & 1
            if heard:
                self.silent_since[broker] = None
            elif self.silent_since[broker] is None and not self.state.fenced >> broker & 1:
                self.silent_since[broker] = now
                self.clock.after(self._session_left(), self._session_ends, broker, now)
        self._check_later()

    # -- the controller ----------------------------------------------------------------------------------

    def _session_left(self) -> int:
        """From a broker's silence to its fence: the session began with its last heartbeat."""
        policy, age = self.policy, self.phase.heartbeat_age
        tick = int((1 - age) * policy.session_tick)
        return policy.session_timeout - int(age * policy.heartbeat_interval) + tick + self.phase.fence_late

    def _session_ends(self, broker: int, since: int) -> None:
        if self.silent_since[broker] == since:
            if not self.controller.active:
                self.expired |= 1 << broker
                return
            before = self.state
            self.apply(Event("fence", broker))
            self.after_controller(before)
            if self.registering[broker]:
                self._register(broker)

    def _controlled_again(self) -> None:
        """A controller takes over: what waited for one is done."""
        now, expired, self.expired = self.clock.now, self.expired, 0
        for broker in self.brokers:
            since = self.silent_since[broker]
            if since is not None and self.policy.control.renews_sessions:
                self.silent_since[broker] = now
                self.clock.after(self.policy.session_timeout, self._session_ends, broker, now)
            elif since is not None and expired >> broker & 1:
                self._session_ends(broker, since)
            if self.registering[broker]:
                self._register(broker)
            elif self.state.fenced >> broker & 1 and self.alive(broker):
                self.clock.after(self._next_heartbeat(), self._heard_again, broker)
        stopping, self.stopping = self.stopping, []
        for broker in stopping:
            self.shut_down(broker)
        self.after_controller(self.state)
        for broker in self.brokers:
            self.fetch_soon(broker)

    def _rebalance_later(self) -> None:
        if self.policy.rebalance_interval and not self._rebalance_planned and self.state.leader > 0:
            self._rebalance_planned = True
            part = 2 * (self.phase.shrink_ratio - 1)
            self.clock.after(max(1, int(part * self.policy.rebalance_interval)), self._rebalance)

    def _rebalance(self) -> None:
        self._rebalance_planned = False
        self.prefer()
        if self.state.leader > 0:
            self._rebalance_planned = True
            self.clock.after(self.policy.rebalance_interval, self._rebalance)

    def after_controller(self, before: State) -> None:
        """Elect if there is whom to elect, and let the brokers know."""
        if self.state.leader < 0 and candidate(self.model, self.state)[0] >= 0:
            self.apply(Event("elect"))
        if self.state.epoch != before.epoch or self.state.leader != before.leader:
            for broker in self.brokers:
                self._tell(broker)
            self._rebalance_later()
        self._refresh_links()
        self._committed_more(before)

    def _tell(self, broker: int) -> None:
        mine = self.state.leader == broker
        self.clock.after(self.phase.notify_leader if mine else self.phase.notify_others, self._learn, broker)

    def _learn(self, broker: int) -> None:
        if not self.acts(broker) or self.uninformed >> broker & 1:
            return
        before = self.state
        replica = self.state.replicas[broker]
        self.told[broker] = self.state.epoch
        self.informed[broker] = self.state.leader
        if self.state.leader == broker:
            if replica.epoch != self.state.epoch:
                self.apply(Event("lead", broker, self.state.epoch))
                for other in self.brokers:
                    if other != broker:
                        self._take_up(other)
        else:
            if presumes_leadership(self.state, broker):
                self.applying[broker] = self.clock.now + self.phase.apply
                self.clock.at(self.applying[broker], self._applied, broker)
                stood_down = replica._replace(epoch=UNKNOWN, isr=0, start=0, remote=(), answer=None)
                self.state = put(self.state, broker, stood_down)
            self._take_up(broker)
        self._committed_more(before)

    def _applied(self, broker: int) -> None:
        if self.serves(broker):
            self.on_ready(broker)

    def _take_up(self, broker: int) -> None:
        """Follow the leader, once broker and leader both know of it and reach each other."""
        state = self.state
        leader = state.leader
        if leader in (NOBODY, broker) or not self.acts(broker) or self.told[broker] != state.epoch:
            return
        ready = presumes_leadership(state, leader) and state.replicas[leader].epoch == state.epoch
        if not ready or not self.acts(leader) or not self.linked(leader, broker):
            return
        if state.replicas[broker].epoch != state.epoch:
            self.apply(Event("follow", broker, state.epoch))
        self.fetch_soon(broker)

    def _take_up_all(self) -> None:
        for broker in self.brokers:
            self._take_up(broker)

    # -- what a schedule does ----------------------------------------------------------------------------

    def freeze(self, broker: int) -> None:
        if not self.acts(broker):
            return
        if not self.fetching[broker] and self.phase.parked_fetch and self.state.leader != broker:
            self.parked[broker] = self.clock.now + FETCH_WAIT
        self.frozen[broker] = True
        self.controller.broker_left(broker)
        self._refresh_links()

    def thaw(self, broker: int) -> None:
        if not self.frozen[broker]:
            return
        self.frozen[broker] = False
        self.controller.broker_came(broker)
        self.parked[broker] = NOBODY
        self._refresh_links()
        self.applying[broker] = self.clock.now + self.phase.catch_up // 2
        self.clock.at(self.applying[broker], self._serves_again, broker)
        self._back_in_touch(broker)
        for other in self.brokers:
            self.fetch_soon(other)

    def _serves_again(self, broker: int) -> None:
        if self.serves(broker):
            self.on_thaw(broker)

    def _back_in_touch(self, broker: int) -> None:
        if self.alive(broker):
            # To a broker that was not given up it brings nothing.
            idle = not self.state.fenced >> broker & 1
            self.clock.after(self._next_heartbeat(), self._heard_again, broker, idle=idle)
            self.clock.after(self.phase.notify_others + self.phase.catch_up, self._learn, broker)
        self._take_up_all()

    def _next_heartbeat(self) -> int:
        return int(self.phase.heartbeat * self.policy.heartbeat_interval)

    def _heard_again(self, broker: int) -> None:
        if self.state.fenced >> broker & 1 and self.acts(broker) and self._controls(broker):
            before = self.state
            self.apply(Event("heal", broker))
            self.after_controller(before)
            self._tell(broker)

    def kill(self, broker: int) -> None:
        if self.alive(broker):
            self.frozen[broker] = False
            self.apply(Event("crash", broker))
            self.controller.broker_left(broker)
            self._gone(broker, self.phase.death)

    def wipe(self, broker: int) -> None:
        self.apply(Event("wipe", broker))

    def _gone(self, broker: int, sockets_live: int = 0) -> None:
        self.told[broker] = UNKNOWN
        self.clock.after(sockets_live, self.on_down, broker)
        self._refresh_links()

    def shut_down(self, broker: int) -> None:
        """A clean stop: the controller moves leadership away, then the broker goes."""
        if not self.acts(broker):
            return
        if not self._controls(broker):
            self.stopping.append(broker)
            self.clock.after(self.policy.control.stop_wait, self._leave, broker)
            return
        before = self.state
        heirs = [heir for heir in members(self.state.isr & ~self.state.fenced) if heir != broker]
        if self.state.leader == broker and heirs:
            self.apply(Event("move", heirs[0]))
            self.after_controller(before)
        elif self.state.leader == broker:
            # No heir: the partition goes offline before the process does (ReplicationControlManager
            # .handleBrokerInControlledShutdown), and what is on its way to the broker is refused.
            self.apply(Event("fence", broker))
            self.after_controller(before)
            self._tell(broker)
        self.clock.after(self.phase.stop // 2, self._stopped, broker)

    def _leave(self, broker: int) -> None:
        """No controller lets it go: it goes without, its log in order and its leadership with it."""
        if broker in self.stopping:
            self.stopping.remove(broker)
            self.apply(Event("crash", broker))
            left = self.state.replicas[broker]
            if not self.model.policy.ephemeral:
                self.state = put(self.state, broker, left._replace(clean=True, flushed=left.leo))
            self.controller.broker_left(broker)
            self._gone(broker)

    def _stopped(self, broker: int) -> None:
        if self.alive(broker):
            before = self.state
            self.controller.broker_left(broker, clean=True)
            self.apply(Event("stop", broker))
            self._gone(broker)
            self.after_controller(before)

    def boot(self, broker: int) -> None:
        if not self.alive(broker) and not self.starting[broker]:
            self.starting[broker] = True
            # Two brokers started together are up one after the other.
            after = self.phase.boot + broker * int(self.phase.heartbeat * SECOND) // 2
            self.clock.after(after, self._register, broker)

    def _register(self, broker: int) -> None:
        """Nobody registers while the session of the same broker's last life is open."""
        if not self.alive(broker):
            self.controller.broker_came(broker)
        self.registering[broker] = not self._controls(broker) or not self.state.fenced >> broker & 1
        if self.registering[broker] or self.alive(broker):
            return
        self.starting[broker] = False
        before = self.state
        self.apply(Event("return", broker))
        self.silent_since[broker] = None
        self.stale_since[broker] = None
        self.after_controller(before)
        self._tell(broker)

    def prefer(self) -> None:
        """Preferred leader election."""
        before = self.state
        if self.controller.active and self.state.leader > 0 and self.state.isr & ~self.state.fenced & 1:
            self.apply(Event("move", 0))
            self.after_controller(before)

    def reconfigure(
        self, min_isr: int | None = None, unclean: bool | None = None, max_message_bytes: int | None = None
    ) -> None:
        """The topic's settings change. Where unclean election becomes possible it happens at once."""
        if not self.controller.active:
            return  # the request for it fails
        policy = self.model.policy
        policy = policy._replace(
            min_isr=policy.min_isr if min_isr is None else min_isr,
            unclean=policy.unclean if unclean is None else unclean,
        )
        self.model = self.model._replace(policy=policy, min_isr=policy.effective_min_isr)
        if max_message_bytes is not None:
            self.policy = self.policy._replace(max_message_bytes=max_message_bytes)
        self.after_controller(self.state)

    def isolate(self, brokers: int, from_controller: int) -> None:
        self._cuts += 1
        others = [broker for broker in self.brokers if broker != self.state.leader]
        if brokers and others:
            self.cut = 1 << others[-1]
            self._refresh_links()
        self.clock.after(self.phase.cutting, self._isolated, brokers, from_controller, self._cuts)

    def _isolated(self, brokers: int, from_controller: int, cuts: int) -> None:
        if cuts == self._cuts:
            self.cut, self.cut_from_controller, self.uninformed = brokers, from_controller, from_controller
            self._cut_at, self._cut_epoch = self.clock.now, self.state.epoch
            self._refresh_links()

    def rejoin(self) -> None:
        """The network is whole again, which each connection finds out for itself."""
        self._cuts += 1
        lasted = self.clock.now - self._cut_at
        # Who follows another leader by now has a new connection to it.
        same = self.cut and self.state.epoch == self._cut_epoch
        quiet = silence(lasted, FETCH_PATIENCE, self.phase) - lasted if same else 0
        self.clock.after(quiet, self._copies_again, self._cuts)
        for broker in members(self.cut_from_controller):
            hears = speaks = 0
            if self.alive(broker):
                hears = silence(lasted, METADATA_PATIENCE, self.phase) - lasted
                # The first heartbeat to be lost was due a part of the interval after the cut.
                due = int((1 - self.phase.heartbeat_age) * self.policy.heartbeat_interval)
                lost = max(0, lasted - due)
                speaks = due + silence(lost, self.policy.heartbeat_patience, self.phase) - lasted
                if self.policy.control.informs_who_registers:
                    hears = speaks
            self.clock.after(hears + self.phase.notify_others, self._hears_again, broker, self._cuts)
            self.clock.after(speaks, self._speaks_again, broker, self._cuts)

    def _copies_again(self, cuts: int) -> None:
        if cuts == self._cuts:
            self.cut = 0
            self._refresh_links()
            self._take_up_all()

    def _hears_again(self, broker: int, cuts: int) -> None:
        if cuts == self._cuts:
            self.uninformed &= ~(1 << broker)
            self._learn(broker)

    def _speaks_again(self, broker: int, cuts: int) -> None:
        if cuts == self._cuts:
            self.cut_from_controller &= ~(1 << broker)
            self._refresh_links()
            if self.registering[broker]:
                self._register(broker)
            elif broker in self.stopping:
                self.stopping.remove(broker)
                self.shut_down(broker)
            self._heard_again(broker)
