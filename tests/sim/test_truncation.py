"""Truncation by leader epochs, against the epoch cache and against what it is for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.partition.leader_epochs import EpochCache
from advisor.sim.partition.truncation import epoch_starts, truncation_offset

LOG = st.lists(st.integers(0, 4), max_size=6).map(
    lambda epochs: tuple((e, n) for n, e in enumerate(sorted(epochs)))
)


def cache_of(log: tuple[tuple[int, int], ...]) -> EpochCache:
    cache = EpochCache()
    for offset, (epoch, _) in enumerate(log):
        cache = cache.assign(epoch, offset)
    return cache


@given(LOG)
def test_epochs_are_those_of_the_cache(log: tuple[tuple[int, int], ...]) -> None:
    assert epoch_starts(log) == [tuple(entry) for entry in cache_of(log).entries]


@given(LOG, LOG, st.integers(0, 6))
def test_kip_101_asks_once(
    follower: tuple[tuple[int, int], ...], leader: tuple[tuple[int, int], ...], hw: int
) -> None:
    epoch = 5
    end = truncation_offset("kip-101", follower, hw, leader, epoch)
    known = cache_of(leader).assign(epoch, len(leader))
    if follower and known.entries[0].epoch <= follower[-1][0]:
        assert end == min(known.end_offset_for(follower[-1][0], len(leader))[1], len(follower))
    elif follower:
        assert end == min(hw, len(follower))


EPOCHS = st.lists(st.integers(0, 3), max_size=4)


@given(EPOCHS, EPOCHS, EPOCHS)
def test_kip_279_cuts_to_what_two_logs_have_in_common(
    common: list[int], mine: list[int], other: list[int]
) -> None:
    """Every epoch has one leader: beyond what they share, two logs have no epoch in common."""
    shared = [(epoch, 0) for epoch in sorted(common)]
    follower = (*shared, *((10 + 2 * epoch, 1) for epoch in sorted(mine)))
    leader = (*shared, *((11 + 2 * epoch, 2) for epoch in sorted(other)))
    assert truncation_offset("kip-279", follower, 0, leader, 20) == len(shared)
    assert truncation_offset("kip-320", follower, 0, leader, 20) == len(shared)


def test_a_story_of_the_documentation() -> None:
    """Leader (1, 20) (2, 80) (3, 120), asked for 1: 80. Scaled down by ten."""
    leader = tuple([(0, 0)] * 2 + [(1, 0)] * 6 + [(2, 0)] * 4 + [(3, 0)])
    follower = tuple([(0, 0)] * 2 + [(1, 0)] * 8)
    assert truncation_offset("kip-101", follower, 0, leader, 3) == 8
    assert truncation_offset("kip-279", follower, 0, leader, 3) == 8
    assert truncation_offset("high-watermark", follower, 3, leader, 3) == 3
