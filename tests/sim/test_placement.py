"""Placement of replicas: worked examples, what Kafka refuses, racks that fail, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.placing.placement import (
    Broker,
    PlacementError,
    assign_replicas,
    fewest_survivors,
    place_striped,
    rack_alternated,
    rack_lost,
    surviving_replicas,
)
from tests.oracles.__main__ import HERE, replay

FIVE = [Broker(number) for number in range(5)]


def test_recorded_answers_of_kafka() -> None:
    _, passed, failed, _ = replay("placement", f"{HERE}/data/placement.jsonl")
    assert failed == 0
    assert passed > 100


def test_rack_unaware_the_shift_grows_when_the_brokers_wrap_around() -> None:
    placed = assign_replicas(FIVE, 10, 3)
    assert placed[0] == (0, 1, 2)
    assert placed[4] == (4, 0, 1)
    assert placed[5] == (0, 2, 3)
    assert placed[9] == (4, 1, 2)


def test_start_index_and_shift_may_differ_as_they_do_in_kafka() -> None:
    assert assign_replicas(FIVE, 1, 3, start_index=3)[0] == (3, 2, 4)
    assert assign_replicas(FIVE, 1, 3, start_index=3, replica_shift=0)[0] == (3, 4, 0)


def test_added_partitions_go_on_where_the_topic_ends() -> None:
    assert list(assign_replicas(FIVE, 2, 1, start_partition=7)) == [7, 8]


def test_rack_aware_deals_rack_by_rack() -> None:
    racks = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}
    assert rack_alternated(racks) == [0, 3, 1, 5, 4, 2]
    placed = assign_replicas([Broker(b, racks[b]) for b in racks], 7, 3)
    assert placed[0] == (0, 3, 1)
    assert placed[5] == (2, 0, 3)
    assert placed[6] == (0, 4, 2)


@pytest.mark.parametrize(
    ("brokers", "partitions", "factor", "error"),
    [
        (FIVE, 0, 1, "InvalidPartitionsException"),
        (FIVE, 1, 0, "InvalidReplicationFactorException"),
        (FIVE, 1, 6, "InvalidReplicationFactorException"),
        ([Broker(0, "a"), Broker(1)], 1, 1, "AdminOperationException"),
        # The replication factor is looked at before the racks.
        ([Broker(0, "a"), Broker(1)], 1, 3, "InvalidReplicationFactorException"),
    ],
)
def test_what_the_zookeeper_controller_refuses(
    brokers: list[Broker], partitions: int, factor: int, error: str
) -> None:
    with pytest.raises(PlacementError) as refused:
        assign_replicas(brokers, partitions, factor)
    assert refused.value.error == error


@pytest.mark.parametrize(("fenced", "factor"), [((True, True), 1), ((False, False), 3), ((False, True), 0)])
def test_what_the_kraft_controller_refuses(fenced: tuple[bool, bool], factor: int) -> None:
    brokers = [Broker(number, None, is_fenced) for number, is_fenced in enumerate(fenced)]
    with pytest.raises(PlacementError) as refused:
        place_striped(brokers, 1, factor)
    assert refused.value.error == "InvalidReplicationFactorException"


def test_striped_begins_each_partition_at_the_next_rack() -> None:
    brokers = [Broker(3 * rack + n, f"r{rack}") for rack in range(3) for n in range(3)]
    assert place_striped(brokers, 3, 3) == [(0, 3, 6), (4, 7, 1), (8, 2, 5)]


def test_a_fenced_broker_never_leads() -> None:
    brokers = [Broker(0, "a", True), Broker(1, "b"), Broker(2, "c", True)]
    for replicas in place_striped(brokers, 6, 3):
        assert replicas[0] == 1
        assert sorted(replicas) == [0, 1, 2]


def test_a_lost_rack() -> None:
    racks: dict[int, str | None] = {0: "a", 1: "a", 2: "b"}
    assert surviving_replicas((0, 2, 1), racks, "a") == (2,)
    assert rack_lost([(0, 1), (2, 0)], racks) == {"a": ((), (2,)), "b": ((0, 1), (0,))}
    assert fewest_survivors([(0, 1), (2, 0)], racks) == 0
    assert fewest_survivors([(2, 0)], racks) == 1


CLUSTERS = st.integers(1, 9).flatmap(
    lambda size: st.tuples(
        st.lists(st.sampled_from(["a", "b", "c"]), min_size=size, max_size=size),
        st.booleans(),
        st.integers(1, size),
        st.integers(1, 25),
        st.integers(0, 9),
    )
)


@given(CLUSTERS)
def test_each_partition_gets_distinct_brokers_and_as_many_racks_as_it_can(
    case: tuple[list[str], bool, int, int, int],
) -> None:
    racks, aware, factor, partitions, start = case
    brokers = [Broker(number, rack if aware else None) for number, rack in enumerate(racks)]
    placed = assign_replicas(brokers, partitions, factor, start_index=start)
    for replicas in [*placed.values(), *place_striped(brokers, partitions, factor)]:
        assert len(replicas) == factor == len(set(replicas))
    if aware:
        for replicas in placed.values():
            assert len({racks[replica] for replica in replicas}) == min(factor, len(set(racks)))


@given(CLUSTERS)
def test_leaders_are_spread_evenly(case: tuple[list[str], bool, int, int, int]) -> None:
    racks, _, factor, _, start = case
    brokers = [Broker(number) for number in range(len(racks))]
    placed = assign_replicas(brokers, 3 * len(brokers), factor, start_index=start)
    leaders = [replicas[0] for replicas in placed.values()]
    assert sorted(leaders) == sorted(3 * list(range(len(brokers))))
