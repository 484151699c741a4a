"""A second opinion: the public TLA+ specification on the same search, against TLC and against the simulator.

The counts are those that TLC, the model checker of TLA+, gives for the specification itself (log size and
records 2; StrongIsr as the invariant).
"""

from __future__ import annotations

from functools import partial

import pytest

from advisor.sim import Bounds, Holds, Policy, ask
from advisor.sim.search.explore import Explored, explore

from .packed import Packing
from .specification import PROTOCOLS, Sizes, Spec, first, permuted, strong_isr, successors

TWO = Sizes(replicas=2, records=2, epoch_max=2)
THREE = Sizes(replicas=3, records=2, epoch_max=1)


def answer(protocol: str, sizes: Sizes) -> Explored[Spec, str]:
    return explore(first(sizes), partial(successors, sizes, protocol), partial(strong_isr, sizes))


@pytest.mark.parametrize(
    ("protocol", "sizes", "states"),
    [
        ("kip-320", TWO, 5_973),
        ("kip-320", THREE, 39_619),
        ("kip-279", TWO, 9_027),
        ("kip-279", TWO._replace(epoch_max=1), 1_177),
        ("kip-101", TWO._replace(epoch_max=1), 1_177),
    ],
)
def test_as_many_distinct_states_as_tlc(protocol: str, sizes: Sizes, states: int) -> None:
    found = answer(protocol, sizes)
    assert found.run is None
    assert found.states == states


@pytest.mark.parametrize(
    ("protocol", "sizes", "length"),
    [
        ("high-watermark", TWO, 10),
        ("high-watermark", THREE._replace(epoch_max=2), 9),
        ("kip-101", TWO, 12),
        ("kip-101", THREE, 12),
        ("kip-279", THREE, 12),
    ],
)
def test_runs_as_short_as_those_of_tlc(protocol: str, sizes: Sizes, length: int) -> None:
    found = answer(protocol, sizes)
    assert found.run is not None
    assert len(found.run) + 1 == length  # TLC counts states, the first one included


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("sizes", [TWO, THREE], ids=["two", "three"])
def test_the_simulator_agrees_on_every_verdict(protocol: str, sizes: Sizes) -> None:
    """Same replicas, records and leader epochs; leaders move freely, a follower may be slow. The protocols
    before KIP-320 let a follower join at the high watermark, in the specification as in Kafka then."""
    policy = Policy(replicas=sizes.replicas, truncation=protocol, joins_at_epoch_start=protocol == "kip-320")
    bounds = Bounds(sizes.replicas, sizes.records, elections=sizes.epoch_max, fetch="rounds")
    free = {"slow_follower": 1, "leader_move": sizes.epoch_max}
    verdict = ask("committed-on-isr", policy, free, {}, bounds)
    assert verdict.verdict == ("holds" if answer(protocol, sizes).run is None else "broken")


def test_the_packed_twin_takes_the_same_transitions() -> None:
    packing = Packing(TWO)
    todo, seen = [first(TWO)], {first(TWO)}
    while todo:
        state = todo.pop()
        following = [after for _, _, after in successors(TWO, "kip-320", state)]
        packed = {after for _, _, after in packing.successors(packing.pack(state))}
        assert packed == {packing.pack(after) for after in following}
        assert (strong_isr(TWO, state) is None) == (packing.strong_isr(packing.pack(state)) is None)
        for after in following:
            if after not in seen:
                seen.add(after)
                todo.append(after)


def test_a_renamed_state_is_of_the_same_class() -> None:
    packing = Packing(THREE)
    todo, seen = [first(THREE)], {first(THREE)}
    while todo and len(seen) < 3_000:
        state = todo.pop(0)
        classes = {packing.canonical(packing.pack(permuted(state, to))) for to in packing.renamings}
        assert len(classes) == 1
        for _, _, after in successors(THREE, "kip-320", state):
            if after not in seen:
                seen.add(after)
                todo.append(after)


def test_symmetry_and_packing_answer_the_question_in_fewer_states() -> None:
    packing = Packing(THREE)
    found = explore(packing.first(), packing.successors, packing.strong_isr, canonical=packing.canonical)
    assert found.run is None
    assert found.states == 4_360


def test_the_simulator_holds_with_every_event_of_the_specification() -> None:
    """Restarts and unnoticed bounces besides moves: KIP-320 still holds."""
    policy = Policy(replicas=2, truncation="kip-320", bounce_unnoticed=True)
    bounds = Bounds(2, 2, elections=2, fetch="rounds")
    verdict = ask(
        "committed-on-isr", policy, {"slow_follower": 1, "leader_move": 2}, {"broker_crash": 1}, bounds
    )
    assert isinstance(verdict, Holds)
