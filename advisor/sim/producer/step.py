"""The producer: batches in flight, lost requests and answers, retries, idempotence, and one leader's log.

The smallest model that can store a record twice or out of order: one partition with two replicas, at most
one move of its leadership, a few batches of one record each, at most two requests in flight. Everything is
an event of an adversary's choosing; no duration is known here. The names of the events are DESIGN's faults
and

    send r0     the sender takes the next batch from the queue and writes it to the leader's connection
    handle r0   the broker takes the oldest request of the connection: stores it, or refuses it
    fetch       the follower's request tells how far its log reaches, which raises the high watermark, and the
                answer brings its log level; so a record is committed by the second fetch after it
    answer r0   the answer of the oldest request of the connection reaches the producer
    handle_late r0   the broker takes a request of a connection that the producer has left (giving_up.py)

Mechanisms, with where Kafka has them:

- A connection is a line: requests are handled and answered in its order, and with acks=all the next request
  is not handled before the one in front is answered (KafkaChannel's muting; seen on 2.8, 3.9 and 4.3).
- A lost request or answer is a broken connection: every request on it ends with an error, oldest first
  (NetworkClient); those already handled stay in the log.
- Retries (Sender.completeBatch, RecordAccumulator.reenqueue): the Java client puts each failed batch at the
  head of the queue, so several failing together come out reversed; with idempotence it inserts by sequence,
  and while a retry is due only the batch with the lowest sequence may be sent. librdkafka re-inserts by
  message id always, and with idempotence waits until nothing is in flight before it retries. librdkafka
  does not count a retry after "not leader", as nothing can have been stored (rd_kafka_handle_Produce_error).
- acks=0: success is reported at the send; there is no answer and no retry.
- Idempotence: sequences.py. The producer is taken to have written to the partition before, so the leader
  knows it; a leader that has never heard of a producer takes any sequence for the first one.

Left out: how long a delivery or request timeout is (a clock's matter: here either may be over at any time),
batches split because they were too large, and errors after the append (NOT_ENOUGH_REPLICAS_AFTER_APPEND acts
like a lost answer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .giving_up import expire, expires_next, handle_late, resolve
from .policy import ProducerPolicy
from .sequences import FENCED, OUT_OF_ORDER, STORED, Numbered, judge
from .state import (
    FAULTS,
    NONE,
    Effects,
    Event,
    Request,
    State,
    bump,
    finish,
    remembered,
    set_at,
    unfinished_numbers,
)


def enabled(policy: ProducerPolicy, state: State) -> Iterator[Event]:
    """The events that can happen now, in a fixed order: the run of a healthy system first, then the
    faults."""
    if _may_send(policy, state):
        yield Event("send", state.queue[0])
    lost_request, lost_response, retriable_error, leader_move, producer_crash, late, expired = state.left
    heads: dict[
        int, Request
    ] = {}  # of each connection the oldest request: the only one whose answer may arrive
    fronts: dict[int, Request] = {}  # and the one its broker is busy with or takes next
    for request in state.wire:
        heads.setdefault(request.broker, request)
        if request.answer in ("", "waiting"):
            fronts.setdefault(request.broker, request)
    unhandled = [request for request in fronts.values() if request.answer == ""]
    for request in unhandled:
        yield Event("handle", request.batch)
    for batch in dict.fromkeys(line[0].batch for line in state.late):
        yield Event("handle_late", batch)
    if state.copied < len(state.log) or (policy.acks == "all" and state.hw < state.copied):
        yield Event("fetch")
    for request in heads.values():
        if request.answer not in ("", "waiting"):
            yield Event("answer", request.batch)
    for request in heads.values():
        if lost_request and request.answer == "":
            yield Event("lost_request", request.batch)
        if lost_response and request.answer != "":
            yield Event("lost_response", request.batch)
    if retriable_error:
        for request in unhandled:
            yield Event("retriable_error", request.batch)
    if leader_move and state.leader == 0:
        yield Event("leader_move")
    if producer_crash and state.alive:
        yield Event("producer_crash")
    if late and state.alive:
        for request in unhandled:
            yield Event("late_request", request.batch)
    if expired and state.alive and (batch := expires_next(policy, state)) != NONE:
        yield Event("delivery_expired", batch)


def step(policy: ProducerPolicy, state: State, event: Event) -> tuple[State, Effects]:
    """Apply one enabled event. Pure and total: no clock, no chance, no log line."""
    if event.name in FAULTS:
        left = list(state.left)
        left[FAULTS.index(event.name)] -= 1
        state = state._replace(left=tuple(left))
    state, effects = _STEPS[event.name](policy, state, event.batch)
    return (state if state.unresolved == NONE else resolve(policy, state)), effects


def _request(state: State, batch: int) -> Request:
    return next(request for request in state.wire if request.batch == batch)


def _put(state: State, batch: int, answer: str) -> State:
    wire = tuple(r._replace(answer=answer) if r.batch == batch else r for r in state.wire)
    return state._replace(wire=wire)


def _may_send(policy: ProducerPolicy, state: State) -> bool:
    if not state.queue or not state.alive:
        return False
    if policy.acks != "0" and policy.in_flight == 1 and state.wire:
        # Java mutes the partition, whatever the connection (Sender.guaranteeMessageOrder).
        return False
    on_connection = sum(request.broker == state.known_leader for request in state.wire)
    if policy.acks != "0" and on_connection >= policy.in_flight:
        return False
    if not policy.idempotence:
        return True
    head = state.numbers[state.queue[0]]
    if policy.client_family == "librdkafka":
        return (head is None or not state.wire) and state.unresolved == NONE
    if head is None:
        # After an epoch bump nothing new goes out beside requests of the old epoch.
        stale = any(
            r.number is not None and r.number.epoch != state.epoch and not state.outcomes[r.batch]
            for r in state.wire
        )
        return not stale and state.unresolved == NONE
    return head == min(unfinished_numbers(state))


def _send(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    effects: list[str] = [f"retried r{batch}"] if state.sent[batch] else []
    if policy.idempotence and state.numbers[batch] is None:
        sequence = 1 + max((n.last for n in state.numbers if n and n.epoch == state.epoch), default=-1)
        number = Numbered(state.epoch, sequence, sequence)
        state = state._replace(numbers=set_at(state.numbers, batch, number))
    request = Request(batch, state.known_leader, state.numbers[batch])
    sent = set_at(state.sent, batch, True)
    state = state._replace(queue=state.queue[1:], wire=(*state.wire, request), sent=sent)
    if policy.acks == "0":
        state = state._replace(outcomes=set_at(state.outcomes, batch, "acked"))
        effects.append(f"acked r{batch}")
    return state, tuple(effects)


def _handle(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    request = _request(state, batch)
    if request.broker != state.leader:
        return _refuse(policy, state, batch, "not leader"), (f"not-leader r{batch}",)
    verdict = STORED
    if request.number is not None:
        verdict = judge(remembered(state), request.number)
    if verdict in (OUT_OF_ORDER, FENCED):
        return _refuse(policy, state, batch, verdict), (f"{verdict.replace(' ', '-')} r{batch}",)
    if verdict == STORED:
        state = state._replace(log=(*state.log, (batch, request.number)))
    if policy.acks == "0":
        return _drop(state, batch), (f"{verdict} r{batch}",)
    # A repetition waits like a first copy does: for every replica of the ISR to hold it.
    waits = policy.acks == "all" and not _committed(state, batch)
    return _put(state, batch, "waiting" if waits else "ok"), (f"{verdict} r{batch}",)


def _committed(state: State, batch: int) -> bool:
    return all(stored != batch for stored, _ in state.log[state.hw :])


def _fetch(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    state = state._replace(hw=state.copied, copied=len(state.log))
    effects: list[str] = []
    for request in state.wire:
        if request.answer == "waiting" and _committed(state, request.batch):
            state = _put(state, request.batch, "ok")
            effects.append(f"committed r{request.batch}")
    return state, tuple(effects)


def _refuse_once(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """An error that passes, such as NOT_ENOUGH_REPLICAS: nothing is stored."""
    return _refuse(policy, state, batch, "refused"), (f"refused r{batch}",)


def _refuse(policy: ProducerPolicy, state: State, batch: int, answer: str) -> State:
    """The broker answers with an error; to acks=0 it answers by closing the connection, and nobody
    retries."""
    if policy.acks != "0":
        return _put(state, batch, answer)
    return _drop(state, batch)._replace(known_leader=state.leader)


def _drop(state: State, batch: int) -> State:
    return state._replace(wire=tuple(request for request in state.wire if request.batch != batch))


def _answer(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    request = _request(state, batch)
    state = _drop(state, batch)
    if not state.alive:
        return state, ()
    if request.answer == "ok":
        return _acknowledge(state, request)
    if request.answer == "not leader":
        state = state._replace(known_leader=state.leader)
    return _retry_or_fail(policy, state, request, request.answer)


def _acknowledge(state: State, request: Request) -> tuple[State, Effects]:
    batch, number = request.batch, state.numbers[request.batch]
    if number is not None and number.epoch == state.epoch:
        state = state._replace(last_acked=max(state.last_acked, number.last))
    if state.outcomes[batch]:  # it expired; that it was stored after all is noted nevertheless
        return state, ()
    return finish(state, batch, "acked"), (f"acked r{batch}",)


def _retry_or_fail(
    policy: ProducerPolicy, state: State, request: Request, error: str
) -> tuple[State, Effects]:
    batch = request.batch
    if state.outcomes[batch]:
        return state, ()  # it expired
    if error == FENCED:
        return _stop(state), (f"failed r{batch}", "stopped producer")
    # A sequence that ought to fit and does not: the log has a gap. Java begins a new epoch (KIP-360, 2.5 on),
    # librdkafka stops for good. Behind a batch that expired, the next one ought to fit.
    current = request.number == state.numbers[batch]
    gap = error == OUT_OF_ORDER and current and request.number is not None
    fitting = state.last_acked + 1 if state.unresolved == NONE else state.unresolved
    expected = gap and request.number is not None and request.number.first == fitting
    if expected and policy.client_family == "librdkafka":
        return _stop(state), (f"failed r{batch}", "stopped producer")
    free = error == "not leader" and policy.client_family == "librdkafka"
    if free or policy.retries is None or state.retried[batch] < policy.retries:
        if not free and policy.retries is not None:
            state = state._replace(retried=set_at(state.retried, batch, state.retried[batch] + 1))
        state = state._replace(queue=_requeue(policy, state, batch))
        if state.left[FAULTS.index("delivery_expired")]:
            state = state._replace(again=set_at(state.again, batch, True))
        return (bump(state) if expected else state), (f"requeued r{batch}",)
    state = finish(state, batch, "failed")
    return (bump(state) if gap else state), (f"failed r{batch}",)


def _requeue(policy: ProducerPolicy, state: State, batch: int) -> tuple[int, ...]:
    if policy.client_family == "java" and not policy.idempotence:
        return (batch, *state.queue)
    # Sequences and message ids rise with the batches, so this is the order of both.
    return tuple(sorted((batch, *state.queue)))


def _stop(state: State) -> State:
    outcomes = tuple(outcome or "failed" for outcome in state.outcomes)
    return state._replace(queue=(), wire=(), outcomes=outcomes, alive=False)


def _break_connection(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """Every request of the connection ends with an error, oldest first; the leader is looked up again."""
    broker = _request(state, batch).broker
    lost = [request for request in state.wire if request.broker == broker]
    state = state._replace(wire=tuple(request for request in state.wire if request.broker != broker))
    if not state.alive:
        return state, ()
    state = state._replace(known_leader=state.leader)
    effects: list[str] = []
    for request in lost if policy.acks != "0" else ():
        state, more = _retry_or_fail(policy, state, request, "disconnected")
        effects += more
    return state, tuple(effects)


def _leave_connection(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """The same, but what the broker has not handled yet still lies in its socket."""
    broker = _request(state, batch).broker
    line = tuple(request for request in state.wire if request.broker == broker and request.answer == "")
    state, effects = _break_connection(policy, state, batch)
    return state._replace(late=(*state.late, line)), effects


def _move_leader(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """The follower leads with the log it has; the old leader follows it and refuses whatever it is sent."""
    wire = tuple(r._replace(answer="not leader") if r.answer == "waiting" else r for r in state.wire)
    gone = tuple(f"truncated r{stored}" for stored, _ in state.log[state.copied :])
    return state._replace(leader=1, wire=wire, log=state.log[: state.copied]), ("elected b1 clean", *gone)


def _crash(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """What is queued is lost; what is on the wire may still be handled, but nobody reads the answers."""
    lost = tuple(f"lost r{queued}" for queued in state.queue)
    fence = state.epoch + 1 if policy.named and policy.idempotence else state.fence
    return state._replace(queue=(), alive=False, fence=fence), lost


_STEPS: dict[str, Callable[[ProducerPolicy, State, int], tuple[State, Effects]]] = {
    "send": _send,
    "handle": _handle,
    "fetch": _fetch,
    "answer": _answer,
    "lost_request": _break_connection,
    "lost_response": _break_connection,
    "retriable_error": _refuse_once,
    "leader_move": _move_leader,
    "producer_crash": _crash,
    "late_request": _leave_connection,
    "handle_late": handle_late,
    "delivery_expired": expire,
}
