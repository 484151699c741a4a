"""Partitioning: hashes of the client families, growth, and the keyless strategies."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.placing.partitioner import (
    SCHEMES,
    Load,
    StickyBytes,
    draw_partition,
    fnv1a,
    is_hashed,
    load_of,
    moved_keys,
    murmur2,
    partition_for,
    round_robin,
    split_key,
    sticky,
    uniform_sticky,
)
from tests.oracles.__main__ import HERE, replay


def test_recorded_answers_of_kafka() -> None:
    _, passed, failed, _ = replay("partitioner", f"{HERE}/data/partitioner.jsonl")
    assert failed == 0
    assert passed > 100


def test_hashes_agree_with_their_families() -> None:
    assert murmur2(b"") == 275646681
    assert fnv1a(b"") == 0x7EE3623B
    assert fnv1a(b"kafka") == 0xD33C4E1
    assert partition_for(b"123456789", 2**32, "consistent") == 0xCBF43926


def test_a_scheme_that_draws_only_without_key_hashes_the_rest_alike() -> None:
    for scheme in ("consistent", "murmur2", "fnv1a"):
        assert partition_for(b"k", 12, scheme) == partition_for(b"k", 12, f"{scheme}_random")
    assert partition_for(b"k", 12, "murmur2") == partition_for(b"k", 12, "java")


def test_an_empty_key_is_no_key_for_librdkafkas_default_alone() -> None:
    assert [scheme for scheme in SCHEMES if not is_hashed(b"", scheme)] == ["consistent_random"]
    with pytest.raises(ValueError, match="empty key"):
        partition_for(b"", 4, "consistent_random")
    with pytest.raises(ValueError, match="no such partitioning scheme"):
        partition_for(b"k", 4, "md5")
    with pytest.raises(ValueError, match="at least one partition"):
        partition_for(b"k", 0)


def test_two_families_send_one_key_to_two_partitions() -> None:
    key = split_key(6, "java", "consistent_random")
    assert key is not None
    assert partition_for(key, 6, "java") != partition_for(key, 6, "consistent_random")
    assert split_key(6, "java", "murmur2_random") is None
    assert split_key(1, "java", "consistent_random") is None


def test_added_partitions_move_keys() -> None:
    keys = [f"user-{number}".encode() for number in range(100)]
    assert moved_keys(keys, 6, 6) == ()
    assert 0 < len(moved_keys(keys, 6, 12)) < 100


def test_round_robin_skips_partitions_without_leader_and_survives_the_wrap() -> None:
    counter, seen = 2**31 - 2, []
    for _ in range(4):
        partition, counter = round_robin(counter, [0, 2], 3)
        seen.append(partition)
    assert seen == [0, 2, 0, 2]
    assert counter == -(2**31) + 2
    assert round_robin(5, [], 3)[0] == 2


def test_sticky_stays_until_its_own_batch_is_full() -> None:
    assert sticky(None, None, [0, 1, 2], 3, [7]) == 1
    assert sticky(1, 2, [0, 1, 2], 3, []) == 1
    assert sticky(1, 1, [0, 1, 2], 3, [1, 4, 2]) == 2
    assert sticky(1, 1, [1], 3, []) == 1
    assert sticky(None, None, [], 3, [-1]) == (2**31 - 1) % 3


def test_uniform_sticky_switches_by_bytes() -> None:
    state = StickyBytes(0)
    state = uniform_sticky(state, 60, 100, True, 1)
    assert state == (0, 60)
    assert uniform_sticky(state, 40, 100, True, 1) == (1, 0)
    assert uniform_sticky(state, 40, 100, False, 1) == (0, 100)
    assert uniform_sticky(state, 140, 100, False, 1) == (1, 0)


def test_a_short_queue_is_drawn_more_often() -> None:
    load = load_of([(0, 0), (1, 3), (2, 1)], 3)
    assert load == Load((0, 1, 2), (4, 5, 8))
    assert [draw_partition(number, [], 3, load) for number in range(8)] == [0, 0, 0, 0, 1, 2, 2, 2]
    assert load_of([(0, 2), (1, 2)], 2) is None
    assert load_of([(0, 2), (1, 2)], 3) == Load((0, 1), (1, 2))
    assert load_of([(0, 5)], 1) is None
    assert draw_partition(5, [0, 2], 3) == 2
    assert draw_partition(5, [], 3) == 2


@given(st.binary(min_size=1, max_size=40), st.integers(1, 1_000), st.sampled_from(SCHEMES))
def test_a_key_has_one_partition_and_it_exists(key: bytes, partitions: int, scheme: str) -> None:
    partition = partition_for(key, partitions, scheme)
    assert 0 <= partition < partitions
    assert partition == partition_for(key, partitions, scheme)


@given(st.binary(min_size=1, max_size=20), st.integers(1, 50), st.integers(2, 5))
def test_growth_by_a_factor_keeps_a_key_or_moves_it_to_a_new_partition(
    key: bytes, partitions: int, factor: int
) -> None:
    after = partition_for(key, partitions * factor)
    assert after % partitions == partition_for(key, partitions)


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=40, max_size=40))
def test_sticky_never_takes_the_full_partition_again(draws: list[int]) -> None:
    chosen = sticky(1, 1, [0, 1, 2, 3], 4, itertools.chain(draws, itertools.count()))
    assert chosen in (0, 2, 3)
