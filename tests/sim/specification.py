"""The public TLA+ specification of Kafka replication (hachikuji/kafka-specification), in own words.

A second opinion on the simulator's model of a partition: other state, other events, written from another
source, run on the same search. TLC, the model checker of TLA+, explores as many distinct states of it
(test_specification). Nodes do not fail here; the controller takes leaders and replicas out at will, and
requests to replicas arrive late, in any order, or never.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

NONE = -1
PROTOCOLS = ("high-watermark", "kip-101", "kip-279", "kip-320")


class Quorum(NamedTuple):
    """Leader, leader epoch and ISR, as the controller holds them and as it sends them to replicas."""

    epoch: int
    leader: int
    isr: frozenset[int]


class Local(NamedTuple):
    """What a replica believes."""

    hw: int = 0
    epoch: int = NONE
    leader: int = NONE
    isr: frozenset[int] = frozenset()


class Spec(NamedTuple):
    logs: tuple[tuple[tuple[int, int], ...], ...]  # entries are (record, epoch)
    local: tuple[Local, ...]
    quorum: Quorum
    requests: tuple[Quorum, ...]  # everything the controller ever sent, by epoch
    written: int  # records so far


class Sizes(NamedTuple):
    replicas: int
    records: int  # of the log and in all
    epoch_max: int


Next = tuple[str, str, Spec]


def first(sizes: Sizes) -> Spec:
    everyone = frozenset(range(sizes.replicas))
    nobody = (Local(),) * sizes.replicas
    return Spec(((),) * sizes.replicas, nobody, Quorum(NONE, NONE, everyone), (), 0)


def successors(sizes: Sizes, protocol: str, state: Spec) -> Iterator[Next]:
    yield from controller(sizes, state)
    for replica in range(sizes.replicas):
        yield from become_leader(state, replica)
        yield from write(sizes, state, replica)
        for other in range(sizes.replicas):
            yield from change_isr(protocol, state, replica, other)
        yield from raise_hw(protocol, state, replica)
        yield from become_follower(protocol, state, replica)
        yield from replicate(protocol, state, replica)


def presumes(state: Spec, replica: int) -> bool:
    return state.local[replica].leader == replica


def follows(protocol: str, state: Spec, follower: int, leader: int) -> bool:
    """A follower counts for a leader if it names it; from KIP-320 on only within one leader epoch."""
    if state.local[follower].leader != leader:
        return False
    fenced = protocol == "kip-320"
    return not fenced or (
        presumes(state, leader) and state.local[follower].epoch == state.local[leader].epoch
    )


def controller(sizes: Sizes, state: Spec) -> Iterator[Next]:
    """Every change by the controller takes a new leader epoch and sends a request."""
    epoch = len(state.requests)
    if epoch > sizes.epoch_max:
        return
    _, leader, isr = state.quorum

    def sent(name: str, new_leader: int, new_isr: frozenset[int]) -> Next:
        quorum = Quorum(epoch, new_leader, new_isr)
        return name, "", state._replace(quorum=quorum, requests=(*state.requests, quorum))

    for replica in sorted(isr):
        if replica != leader:
            yield sent(f"elect {replica}", replica, isr)
    for replica in range(sizes.replicas):
        if replica == leader:
            yield sent(f"controller_shrink {replica}", NONE, isr - {replica} or isr)
        elif replica in isr:
            yield sent(f"controller_shrink {replica}", leader, isr - {replica})


def become_leader(state: Spec, replica: int) -> Iterator[Next]:
    for request in state.requests:
        if request.leader == replica and request.epoch > state.local[replica].epoch:
            mine = Local(state.local[replica].hw, request.epoch, replica, request.isr)
            yield f"lead {replica} epoch {request.epoch}", "", _with_local(state, replica, mine)


def write(sizes: Sizes, state: Spec, replica: int) -> Iterator[Next]:
    log = state.logs[replica]
    if presumes(state, replica) and state.written < sizes.records and len(log) < sizes.records:
        entry = (state.written, state.local[replica].epoch)
        after = _with_log(state, replica, (*log, entry))
        yield f"write {replica}", "", after._replace(written=state.written + 1)


def change_isr(protocol: str, state: Spec, leader: int, replica: int) -> Iterator[Next]:
    """Only the true leader, of the current epoch, may write the ISR."""
    mine, log = state.local[leader], state.logs[leader]
    if state.quorum.leader != leader or mine.leader != leader or mine.epoch != state.quorum.epoch:
        return

    def changed(name: str, isr: frozenset[int]) -> Next:
        after = _with_local(state, leader, mine._replace(isr=isr))
        return name, "", after._replace(quorum=state.quorum._replace(isr=isr))

    ends = len(state.logs[replica])
    if replica in mine.isr:
        lags = not follows(protocol, state, replica, leader) or ends < len(log)
        if replica != leader and lags:
            yield changed(f"shrink {replica}", mine.isr - {replica})
    elif follows(protocol, state, replica, leader) and ends >= mine.hw <= len(log):
        # From KIP-320 on the high watermark must have reached the leader's epoch as well.
        reached = mine.hw == len(log) or log[mine.hw][1] == mine.epoch
        if protocol != "kip-320" or reached:
            yield changed(f"expand {replica}", mine.isr | {replica})


def raise_hw(protocol: str, state: Spec, leader: int) -> Iterator[Next]:
    if may_raise(protocol, state, leader) and all(
        lets_raise(protocol, state, leader, replica) for replica in sorted(state.local[leader].isr)
    ):
        yield raised(state, leader)


def may_raise(protocol: str, state: Spec, leader: int) -> bool:
    own = state.local[leader].hw < len(state.logs[leader])
    return presumes(state, leader) and (protocol != "kip-320" or own)


def lets_raise(protocol: str, state: Spec, leader: int, replica: int) -> bool:
    has = state.local[leader].hw < len(state.logs[replica])
    return has and follows(protocol, state, replica, leader)


def raised(state: Spec, leader: int) -> Next:
    mine = state.local[leader]
    return f"raise_hw {leader}", "", _with_local(state, leader, mine._replace(hw=mine.hw + 1))


def become_follower(protocol: str, state: Spec, replica: int) -> Iterator[Next]:
    mine = state.local[replica]
    for request in state.requests:
        leader = request.leader
        if leader in (NONE, replica) or request.epoch <= mine.epoch:
            continue
        if protocol == "kip-320" and not (
            presumes(state, leader) and state.local[leader].epoch == request.epoch
        ):
            continue
        for end in truncations(protocol, state, replica, leader):
            after = _with_log(state, replica, state.logs[replica][:end])
            believes = Local(min(end, mine.hw), request.epoch, leader, request.isr)
            yield f"follow {replica} epoch {request.epoch}", "", _with_local(after, replica, believes)


def truncations(protocol: str, state: Spec, replica: int, leader: int) -> list[int]:
    """Where the follower's log may end; none where the answer lies beyond its end."""
    log, other, hw = state.logs[replica], state.logs[leader], state.local[replica].hw
    if protocol == "high-watermark":
        end = hw
    elif protocol == "kip-101":
        if not log:
            return [0]
        asked = log[-1][1]
        larger = [offset for offset, (_, epoch) in enumerate(other) if epoch > asked]
        if other and other[-1][1] == asked:
            end = len(other)
        else:
            end = larger[0] if other and larger else hw
    else:
        matching = [offset for offset, entry in enumerate(log) if other[offset : offset + 1] == (entry,)]
        end = matching[-1] + 1 if matching else 0
    return [end] if end <= len(log) else []


def replicate(protocol: str, state: Spec, follower: int) -> Iterator[Next]:
    leader = state.local[follower].leader
    if leader in (NONE, follower) or not presumes(state, leader):
        return
    if not follows(protocol, state, follower, leader):
        return
    log = state.logs[follower]
    if len(log) < len(state.logs[leader]):
        after = _with_log(state, follower, (*log, state.logs[leader][len(log)]))
        hw = min(state.local[leader].hw, len(log) + 1)
        yield f"fetch {follower}", "", _with_local(after, follower, state.local[follower]._replace(hw=hw))


def strong_isr(sizes: Sizes, state: Spec) -> str | None:
    """What a presumed leader counts as committed is, entry for entry, on every member of the true ISR."""
    for leader in range(sizes.replicas):
        hw = state.local[leader].hw
        if not presumes(state, leader) or not hw:
            continue
        for replica in sorted(state.quorum.isr):
            both = state.logs[leader][:hw], state.logs[replica][:hw]
            if both[0] != both[1] or len(both[0]) < hw:
                return f"{replica} in the ISR lacks what {leader} counts as committed"
    return None


def permuted(state: Spec, to: tuple[int, ...]) -> Spec:
    """The state with replica i renamed to to[i]: the specification treats all replicas alike."""

    def quorum(old: Quorum) -> Quorum:
        return Quorum(old.epoch, name(old.leader), frozenset(to[r] for r in old.isr))

    def name(replica: int) -> int:
        return to[replica] if replica >= 0 else replica

    back = sorted(range(len(to)), key=lambda replica: to[replica])
    return Spec(
        tuple(state.logs[old] for old in back),
        tuple(
            Local(mine.hw, mine.epoch, name(mine.leader), frozenset(to[r] for r in mine.isr))
            for mine in (state.local[old] for old in back)
        ),
        quorum(state.quorum),
        tuple(quorum(request) for request in state.requests),
        state.written,
    )


def _with_log(state: Spec, replica: int, log: tuple[tuple[int, int], ...]) -> Spec:
    return state._replace(logs=(*state.logs[:replica], log, *state.logs[replica + 1 :]))


def _with_local(state: Spec, replica: int, mine: Local) -> Spec:
    return state._replace(local=(*state.local[:replica], mine, *state.local[replica + 1 :]))
