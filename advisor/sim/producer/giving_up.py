"""What the producer has given up and the broker may still do.

- A connection. The producer leaves it (a request took too long, or the network cut it); what it had sent lies
  in the broker's socket and is handled all the same, in its order, whenever the broker comes to it: Selector
  keeps a channel whose peer is gone until its outstanding requests are processed or an answer cannot be
  sent (`closingChannels`). Seen on 2.8, 3.9 and 4.3: a leader that was frozen takes up to two of them. Later
  requests come over another connection, through another thread, and may overtake them.
- A batch, when delivery.timeout.ms is over (Sender.getExpiredInflightBatches,
  RecordAccumulator.expiredBatches). It may be stored or not, so the sequence after it may leave a gap, which
  the leader refuses with OUT_OF_ORDER_SEQUENCE_NUMBER. Java numbers nothing new until all that has a number
  is settled, then begins a new epoch unless a later batch was acknowledged
  (TransactionManager.maybeResolveSequences, KIP-360, 2.5 on); but only if the batch had been sent again
  before (`inRetry`). One that expires in its first try leaves the gap unmarked: the batches behind it are
  refused until they expire too. librdkafka expires what waits in its queue, lets the requests in flight end
  and begins a new epoch (rd_kafka_idemp_drain_epoch_bump).
"""

from __future__ import annotations

from .policy import ProducerPolicy
from .sequences import STORED, judge
from .state import NONE, Effects, State, bump, finish, remembered, unfinished_numbers


def handle_late(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    """The broker takes the oldest request of a connection that the producer has left; nobody hears the
    answer."""
    place = next(place for place, line in enumerate(state.late) if line[0].batch == batch)
    request, *rest = state.late[place]
    lines = (*state.late[:place], tuple(rest), *state.late[place + 1 :])
    state = state._replace(late=tuple(line for line in lines if line))
    if request.broker != state.leader:
        return state, (f"not-leader r{batch}",)
    verdict = STORED if request.number is None else judge(remembered(state), request.number)
    if verdict == STORED:
        state = state._replace(log=(*state.log, (batch, request.number)))
    return state, (f"{verdict.replace(' ', '-')} r{batch}",)


def expires_next(policy: ProducerPolicy, state: State) -> int:
    """The oldest batch that was sent and has no outcome; those that never left are no gap."""
    in_queue = set(state.queue)
    for batch, outcome in enumerate(state.outcomes):
        sent = state.sent[batch] and not outcome
        if sent and (policy.client_family == "java" or batch in in_queue):
            return batch
    return NONE


def expire(policy: ProducerPolicy, state: State, batch: int) -> tuple[State, Effects]:
    number, again = state.numbers[batch], state.again[batch]
    queue = tuple(queued for queued in state.queue if queued != batch)
    # A request with it stays on the wire: its answer is heard, and means nothing for the batch.
    state = finish(state._replace(queue=queue), batch, "failed")
    if number is not None and (again or policy.client_family == "librdkafka"):
        state = state._replace(unresolved=number.last + 1)
    return state, (f"failed r{batch}",)


def resolve(policy: ProducerPolicy, state: State) -> State:
    """After a batch expired: once everything that has a number is settled, go on, or begin a new epoch."""
    if policy.client_family == "librdkafka":
        return state if state.wire else bump(state)
    if unfinished_numbers(state):
        return state
    last = max(number.last for number in state.numbers if number is not None and number.epoch == state.epoch)
    return state._replace(unresolved=NONE) if last == state.last_acked else bump(state)
