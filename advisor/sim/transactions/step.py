"""Transactions: a coordinator, a producer and one that takes over, one partition, one reader.

The smallest model that can show an aborted record to a reader or hide a committed one for ever. The producer
p0 works through two pieces of work, each a transaction of one record (r0, then r1); if it is taken for dead,
p1 takes over and repeats what was not finished. Everything is an event of an adversary's choosing; no
duration is known here. The names of the events are DESIGN's faults and

    begin p0    beginTransaction and the partition's registration with the coordinator
    send r0     the record is on its way to the partition's leader
    write r0    the leader takes the request up: stores it, or refuses it
    commit p0   EndTxn: the coordinator decides; `abort p0` likewise
    mark        the coordinator writes the commit or abort marker into the partition
    expire      the coordinator aborts a transaction that has been open for longer than its timeout
    take_over   p1 starts under the same name: InitProducerId aborts what is open and raises the epoch
    other o0    a producer without transactions writes a record
    read        the reader takes the next entry that its isolation level lets it see

Mechanisms, with where Kafka has them:

- One coordinator for a transactional id; a transaction is ongoing, being ended, or there is none, and the
  next begins only when the marker of the last is written (TransactionCoordinator, CONCURRENT_TRANSACTIONS).
- Epochs: InitProducerId and an abort on timeout raise the producer epoch, and their abort marker carries it
  into the partition, so that a zombie is fenced there and at the coordinator (prepareFenceProducerEpoch).
  With transaction.version 2 (KIP-890, 4.0) every end of a transaction raises it.
- A record opens a transaction in the partition, the next marker of its producer id closes it. The last
  stable offset is the first offset of the open one; a read_committed reader stops there and skips what a
  marker aborted (ProducerStateManager, LogSegment.collectAbortedTxns).
- A request that the producer gave up, its delivery timeout being over, may still be handled, later. Before
  3.6 the leader takes it, though the transaction is over: the partition then has a transaction that no
  coordinator knows. From 3.6 the leader asks the coordinator first (KIP-890).
- A client that gave up a batch raises its epoch before the next transaction (KIP-360, 2.5); older ones stop.
- Without a transactional id nothing is begun, ended or fenced: a record counts as soon as it is stored,
  whether or not its writer finishes its work.

Left out: replication of the partition (producer.py and partition.py have it), failure of the coordinator,
which keeps its state in a replicated topic, offsets committed inside a transaction, two-phase commit
(KIP-939), and that a 4.x producer whose transaction timed out may abort and go on where an older one stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...tuples import NamedTuple

FAULTS = ("producer_crash", "producer_pause", "late_request")
COMMIT, ABORT = "commit", "abort"
NO_EPOCH = -1


class TransactionPolicy(NamedTuple):
    """How producer, brokers and reader behave, in the simulator's own words."""

    # The producer has a transactional id: work is a transaction, and whoever takes over fences it.
    transactional: bool = True
    # What the reader is shown: "read_committed" or "read_uncommitted".
    isolation: str = "read_committed"
    # The leader asks the coordinator before it lets a record open a transaction (KIP-890, from 3.6).
    verifies: bool = True
    # A producer that gave up a batch raises its epoch and goes on (KIP-360, from 2.5).
    bumps: bool = True
    # Every transaction has an epoch of its own (KIP-890, transaction.version 2).
    epoch_each: bool = False
    # The timeout is longer than the work: only a producer that died or paused runs into it.
    outlasts: bool = True


class Entry(NamedTuple):
    """One entry of the partition's log. `what`: r0, r1, o0, or a marker; `epoch` of the transactional
    producer, NO_EPOCH for others."""

    what: str
    epoch: int = NO_EPOCH

    @property
    def is_marker(self) -> bool:
        return self.what in (COMMIT, ABORT)


class Request(NamedTuple):
    """A record on its way. `given_up`: its producer no longer waits for it."""

    record: int
    producer: int
    epoch: int
    given_up: bool = False


class Producer(NamedTuple):
    """phase: away (not started) | waiting (for its epoch) | idle | open | sent | failed (a batch was given
    up) | dead | fenced. `work` is what it is at; `bump`: its next transaction needs a new epoch."""

    phase: str
    epoch: int = 0
    work: int = 0
    bump: bool = False

    @property
    def at_work(self) -> bool:
        return self.phase in ("open", "sent", "failed")


class State(NamedTuple):
    log: tuple[Entry, ...]
    phase: str  # of the coordinator: none | ongoing | commit | abort (decided, marker not written yet)
    epoch: int  # the producer epoch that the coordinator knows
    open_work: int  # the transaction that is ongoing or being ended
    producers: tuple[Producer, Producer]
    wire: tuple[Request, ...]
    begun: int  # pieces of work
    fates: tuple[str, ...]  # by piece of work: "", commit or abort (given up counts as abort)
    position: int  # of the reader
    read: tuple[str, ...]  # what it was shown, in order
    others: int  # records of others yet to come
    suspected: bool  # p0 is taken for dead, though it may be alive
    left: tuple[int, ...]  # budget of each fault


class Event(NamedTuple):
    name: str
    subject: str = ""

    def text(self) -> str:
        return f"{self.name} {self.subject}" if self.subject else self.name


Effects = tuple[str, ...]


def initial(policy: TransactionPolicy, faults: Mapping[str, int], works: int = 2, others: int = 1) -> State:
    """p0 has its epoch, nothing is written."""
    return State(
        log=(),
        phase="none",
        epoch=0,
        open_work=0,
        producers=(Producer("idle"), Producer("away")),
        wire=(),
        begun=0,
        fates=("",) * works,
        position=0,
        read=(),
        others=others,
        suspected=False,
        left=tuple(faults.get(name, 0) for name in FAULTS),
    )


# -- what the log says -------------------------------------------------------------------------------------


def open_since(policy: TransactionPolicy, log: tuple[Entry, ...]) -> int | None:
    """The first offset of the transaction that is open in the partition."""
    first: int | None = None
    for offset, entry in enumerate(log):
        if entry.is_marker:
            first = None
        elif policy.transactional and entry.epoch != NO_EPOCH and first is None:
            first = offset
    return first


def last_stable_offset(policy: TransactionPolicy, state: State) -> int:
    """Where a read_committed reader stops. One replica: the high watermark is the end of the log."""
    first = open_since(policy, state.log)
    return len(state.log) if first is None else first


def next_other(state: State) -> str:
    return f"o{sum(entry.what[0] == 'o' for entry in state.log)}"


def _seen_epoch(log: tuple[Entry, ...]) -> int:
    return max((entry.epoch for entry in log), default=NO_EPOCH)


def _aborted_in_log(log: tuple[Entry, ...], offset: int) -> bool:
    """As the reader sees it: the next marker says what became of the entry."""
    marker = next((entry.what for entry in log[offset:] if entry.is_marker), None)
    return marker == ABORT


# -- which events can happen -------------------------------------------------------------------------------


def enabled(policy: TransactionPolicy, state: State) -> Iterator[Event]:
    """In a fixed order: the run of a healthy system first, then the faults."""
    for number, producer in enumerate(state.producers):
        name = f"p{number}"
        if producer.phase == "idle" and _may_begin(policy, state, number):
            yield Event("begin", name)
        if producer.phase == "open":
            yield Event("send", f"r{producer.work}")
        if producer.phase == "sent" and all(request.producer != number for request in state.wire):
            yield Event("commit", name)
            if policy.transactional:
                yield Event("abort", name)
        if producer.phase == "failed":
            yield Event("abort", name)
    for request in state.wire:
        yield Event("write", f"r{request.record}")
    if state.phase in (COMMIT, ABORT):
        yield Event("mark")
    if state.others:
        yield Event("other", next_other(state))
    if state.position < _readable(policy, state):
        yield Event("read")
    if state.phase == "ongoing" and _may_expire(policy, state):
        yield Event("expire")
    gone = state.suspected or state.producers[0].phase in ("dead", "fenced")
    if gone and state.producers[1].phase == "away" and state.phase in ("none", "ongoing"):
        yield Event("take_over")
    yield from _faults(state)


def _may_begin(policy: TransactionPolicy, state: State, number: int) -> bool:
    if state.begun == len(state.fates) or state.phase != "none":
        return False
    # A zombie that is not fenced learns sooner or later that its work is another's now.
    return policy.transactional or number == 1 or state.producers[1].phase == "away"


def _faults(state: State) -> Iterator[Event]:
    crash, pause, late = state.left
    running = state.producers[0].phase not in ("dead", "fenced")
    if crash and running:
        yield Event("producer_crash")
    if pause and running and not state.suspected:
        yield Event("producer_pause")
    if late:
        for request in state.wire:
            if not request.given_up:
                yield Event("late_request", f"r{request.record}")


def _readable(policy: TransactionPolicy, state: State) -> int:
    committed = policy.isolation == "read_committed"
    return last_stable_offset(policy, state) if committed else len(state.log)


def _may_expire(policy: TransactionPolicy, state: State) -> bool:
    owner = next((n for n in (1, 0) if _owns(state, n)), None)
    if owner is None or not policy.outlasts:
        return True
    return owner == 0 and state.suspected


def _owns(state: State, number: int) -> bool:
    producer = state.producers[number]
    return producer.at_work and producer.work == state.open_work


# -- what each does ----------------------------------------------------------------------------------------


def step(policy: TransactionPolicy, state: State, event: Event) -> tuple[State, Effects]:
    """Apply one enabled event. Pure and total: no clock, no chance, no log line."""
    if event.name in FAULTS:
        left = list(state.left)
        left[FAULTS.index(event.name)] -= 1
        state = state._replace(left=tuple(left))
    return _STEPS[event.name](policy, state, event.subject)


def _number(subject: str) -> int:
    return int(subject[1:])


def _with(state: State, number: int, producer: Producer) -> State:
    first, second = state.producers
    return state._replace(producers=(producer, second) if number == 0 else (first, producer))


def _fate(state: State, work: int, fate: str) -> State:
    if state.fates[work]:
        return state
    return state._replace(fates=(*state.fates[:work], fate, *state.fates[work + 1 :]))


def _fence(state: State, number: int) -> tuple[State, Effects]:
    """Whoever comes with an old epoch is told so, and stops: ProducerFencedException."""
    producer = state.producers[number]
    state = state._replace(wire=tuple(r for r in state.wire if r.producer != number or r.given_up))
    return _with(state, number, producer._replace(phase="fenced")), (f"fenced p{number}",)


def _begin(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    number = _number(subject)
    producer = state.producers[number]
    if policy.transactional:
        if producer.epoch != state.epoch:
            return _fence(state, number)
        state = state._replace(phase="ongoing", open_work=state.begun)
    producer = producer._replace(phase="open", work=state.begun)
    return _with(state._replace(begun=state.begun + 1), number, producer), ()


def _send(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    work = _number(subject)
    number = next(n for n, p in enumerate(state.producers) if p.phase == "open" and p.work == work)
    producer = state.producers[number]
    state = state._replace(wire=(*state.wire, Request(work, number, producer.epoch)))
    return _with(state, number, producer._replace(phase="sent")), ()


def _write(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    record = _number(subject)
    request = next(r for r in state.wire if r.record == record)
    state = state._replace(wire=tuple(r for r in state.wire if r is not request))
    if not policy.transactional:
        return _store(state, subject, NO_EPOCH)
    if request.epoch < _seen_epoch(state.log):
        return _refuse(state, request, f"fenced {subject}")
    # AddPartitionsToTxn in its verifying form: is this epoch's transaction ongoing?
    asked = policy.verifies and open_since(policy, state.log) is None
    if asked and (state.phase != "ongoing" or request.epoch != state.epoch):
        return _refuse(state, request, f"not-in-transaction {subject}")
    return _store(state, subject, request.epoch)


def _store(state: State, subject: str, epoch: int) -> tuple[State, Effects]:
    return state._replace(log=(*state.log, Entry(subject, epoch))), (f"stored {subject}",)


def _refuse(state: State, request: Request, effect: str) -> tuple[State, Effects]:
    if request.given_up or state.producers[request.producer].phase == "dead":
        return state, (effect,)
    state, more = _fence(state, request.producer)
    return state, (effect, *more)


def _end(fate: str) -> Callable[[TransactionPolicy, State, str], tuple[State, Effects]]:
    def end(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
        number = _number(subject)
        producer = state.producers[number]
        work = producer.work
        following = producer._replace(phase="idle", work=0)
        if not policy.transactional:
            return _with(_fate(state, work, fate), number, following), (f"done r{work}",)
        if producer.epoch != state.epoch or state.phase != "ongoing" or state.open_work != work:
            return _fence(state, number)
        state = _fate(state._replace(phase=fate), work, fate)
        if policy.epoch_each:
            state = state._replace(epoch=state.epoch + 1)
            following = following._replace(epoch=state.epoch)
        elif producer.phase == "failed":
            # It gave a batch up: a new epoch, or it cannot go on (TransactionManager.maybeResolveSequences).
            following = following._replace(bump=True) if policy.bumps else following._replace(phase="dead")
        return _with(state, number, following), (f"decided {fate} r{work}",)

    return end


def _mark(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    state = state._replace(log=(*state.log, Entry(state.phase, state.epoch)), phase="none")
    effects: list[str] = []
    for number, producer in enumerate(state.producers):
        # InitProducerId was told to wait; now it is answered, with the next epoch.
        if producer.phase == "waiting" or (producer.bump and producer.epoch == state.epoch):
            state = state._replace(epoch=state.epoch + 1)
            ready = producer._replace(phase="idle", epoch=state.epoch, bump=False)
            state = _with(state, number, ready)
            effects.append(f"initialised p{number}")
    return state, tuple(effects)


def _expire(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    work = state.open_work
    return _aborting(state), (f"timed-out r{work}", f"decided {ABORT} r{work}")


def _aborting(state: State) -> State:
    """The epoch is raised first, so that the marker fences the producer (prepareFenceProducerEpoch)."""
    return _fate(state._replace(phase=ABORT, epoch=state.epoch + 1), state.open_work, ABORT)


def _take_over(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    """What was begun and not finished is given up; p1 does it again, as its next piece of work."""
    old, new = state.producers
    if not policy.transactional:
        if old.at_work:
            state = _fate(state, old.work, ABORT)
        return _with(state, 1, new._replace(phase="idle")), ("started p1",)
    if state.phase == "ongoing":
        state = _aborting(state)
        effects = (f"decided {ABORT} r{state.open_work}", "waiting p1")
        return _with(state, 1, new._replace(phase="waiting")), effects
    state = state._replace(epoch=state.epoch + 1)
    return _with(state, 1, new._replace(phase="idle", epoch=state.epoch)), ("initialised p1",)


def _crash(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    """Requests on their way may still be handled, but nobody waits for them."""
    producer = state.producers[0]
    wire = tuple(r._replace(given_up=True) if r.producer == 0 else r for r in state.wire)
    if not policy.transactional and producer.at_work:
        state = _fate(state, producer.work, ABORT)
    return _with(state._replace(wire=wire), 0, producer._replace(phase="dead")), ()


def _pause(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    """It is taken for dead; whatever it still does, it does as a zombie."""
    return state._replace(suspected=True), ()


def _give_up(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    """Its delivery timeout is over: the producer counts the record as failed and can only abort."""
    request = next(r for r in state.wire if r.record == _number(subject))
    wire = tuple(r._replace(given_up=True) if r is request else r for r in state.wire)
    producer = state.producers[request.producer]
    failed = producer._replace(phase="failed" if policy.transactional else "idle")
    state = _with(state._replace(wire=wire), request.producer, failed)
    if not policy.transactional:
        state = _fate(state, request.record, ABORT)
    return state, (f"failed {subject}",)


def _other(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    state = state._replace(others=state.others - 1)
    return _store(state, subject, NO_EPOCH)


def _read(policy: TransactionPolicy, state: State, subject: str) -> tuple[State, Effects]:
    offset = state.position
    entry = state.log[offset]
    state = state._replace(position=offset + 1)
    if entry.is_marker:
        return state, ()
    committed = policy.isolation == "read_committed" and entry.epoch != NO_EPOCH
    if committed and _aborted_in_log(state.log, offset):
        return state, (f"skipped {entry.what}",)
    return state._replace(read=(*state.read, entry.what)), (f"read {entry.what}",)


_STEPS: dict[str, Callable[[TransactionPolicy, State, str], tuple[State, Effects]]] = {
    "begin": _begin,
    "send": _send,
    "write": _write,
    "commit": _end(COMMIT),
    "abort": _end(ABORT),
    "mark": _mark,
    "expire": _expire,
    "take_over": _take_over,
    "other": _other,
    "read": _read,
    "producer_crash": _crash,
    "producer_pause": _pause,
    "late_request": _give_up,
}
