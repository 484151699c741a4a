"""Leader epochs: the example of KIP-101, the checkpoint file and its explanation, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.partition.leader_epochs import (
    CheckpointError,
    EpochCache,
    EpochEntry,
    cache_of,
    explain_checkpoint,
    parse_checkpoint,
)
from tests.oracles.__main__ import HERE, replay

LEADER = cache_of([(1, 20), (2, 80), (3, 120)])
TEXT = "0\n3\n1 20\n2 80\n3 120\n"


def test_recorded_answers_of_kafka() -> None:
    _, passed, failed, _ = replay("leader_epoch", f"{HERE}/data/leader_epoch.jsonl")
    assert failed == 0
    assert passed > 50


def test_an_older_epoch_ends_where_the_next_begins() -> None:
    assert LEADER.end_offset_for(1, 200) == (1, 80)
    assert LEADER.end_offset_for(3, 200) == (3, 200)
    assert LEADER.end_offset_for(4, 200) == (-1, -1)
    assert LEADER.end_offset_for(0, 200) == (0, 20)


def test_a_missing_epoch_is_answered_with_the_one_before() -> None:
    assert cache_of([(1, 20), (4, 80)]).end_offset_for(3, 200) == (1, 80)


def test_a_new_entry_drops_what_it_contradicts() -> None:
    assert LEADER.assign(4, 100).entries == ((1, 20), (2, 80), (4, 100))
    assert LEADER.assign(2, 130).entries == ((1, 20), (2, 130))
    assert LEADER.assign(3, 500) is LEADER
    with pytest.raises(ValueError, match="negative"):
        LEADER.assign(-1, 0)


def test_truncation_from_both_ends() -> None:
    assert LEADER.truncate_from_end(80).entries == ((1, 20),)
    assert LEADER.truncate_from_end(-1) is LEADER
    assert LEADER.truncate_from_start(90).entries == ((2, 90), (3, 120))
    assert LEADER.truncate_from_start(500).entries == ((3, 500),)


def test_a_checkpoint_is_read() -> None:
    assert parse_checkpoint(TEXT) == (EpochEntry(1, 20), EpochEntry(2, 80), EpochEntry(3, 120))
    assert parse_checkpoint(TEXT.replace("\n", "\r\n")) == parse_checkpoint(TEXT)
    assert parse_checkpoint("") == parse_checkpoint("0\n") == parse_checkpoint("0\n0\n") == ()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("x\n", 1, "version"),
        ("1\n0\n", 1, "version 1"),
        ("0\nmany\n", 2, "number of entries"),
        ("0\n2\n1 20\n", 2, "2 entries announced, 1 found"),
        ("0\n1\n1 20 30\n", 3, "epoch offset"),
        ("0\n1\n\n", 3, "epoch offset"),
        ("0\n2\n1 20\n2 x\n", 4, "a start offset"),
        ("0\n1\n99999999999 0\n", 3, "an epoch"),
        ("0\n1\n-1 0\n", 3, "negative"),
    ],
)
def test_a_checkpoint_kafka_would_refuse_names_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(CheckpointError, match=says) as refused:
        parse_checkpoint(text)
    assert refused.value.line == line


def test_a_checkpoint_is_explained() -> None:
    assert explain_checkpoint(parse_checkpoint(TEXT), 200) == (
        "Epoch 1 wrote offsets 20 to 79: a follower whose last epoch is 1 is told 80, where epoch 2 begins, "
        "and cuts off whatever it has from there on.",
        "Epoch 2 wrote offsets 80 to 119: a follower whose last epoch is 2 is told 120, where epoch 3 begins"
        ", and cuts off whatever it has from there on.",
        "Epoch 3 wrote from offset 120 on and is the latest: a follower whose last epoch is 3 is told 200, "
        "the end of this log, and keeps what it has before that.",
        "An epoch before 1 has no records left here: the answer is 20, where the oldest known epoch begins.",
        "An epoch after 3 is unknown here: no answer, as the asker is ahead of this replica.",
    )


def test_gaps_and_contradictions_are_explained() -> None:
    lines = explain_checkpoint(parse_checkpoint("0\n3\n1 20\n3 90\n6 80\n"))
    assert lines[0].startswith("The entry 3 90 contradicts a later one")
    assert (
        "Epochs 2 to 5 wrote nothing that is kept: asked for, the answer is epoch 1 and offset 80." in lines
    )
    assert explain_checkpoint(())[0].startswith("No leader epoch")


STEPS = st.lists(
    st.tuples(st.sampled_from(["assign", "end", "start"]), st.integers(0, 9), st.integers(0, 60)), max_size=25
)


@given(STEPS, st.integers(0, 12))
def test_entries_rise_and_answers_rise_with_the_epoch(steps: list[tuple[str, int, int]], asked: int) -> None:
    cache = EpochCache()
    for name, epoch, offset in steps:
        if name == "assign":
            cache = cache.assign(epoch, offset)
        elif name == "end":
            cache = cache.truncate_from_end(offset)
        else:
            cache = cache.truncate_from_start(offset)
        for before, after in zip(cache.entries, cache.entries[1:], strict=False):
            assert before.epoch < after.epoch
            assert before.start_offset < after.start_offset
    end = max((entry.start_offset for entry in cache.entries), default=0) + 5
    known, offset = cache.end_offset_for(asked, end)
    assert known <= asked
    if known >= 0:
        assert offset <= cache.end_offset_for(cache.entries[-1].epoch, end)[1]
    assert cache_of(cache.entries) == cache


@given(STEPS)
def test_a_cache_written_as_text_reads_back(steps: list[tuple[str, int, int]]) -> None:
    entries = cache_of((epoch, offset) for _, epoch, offset in steps).entries
    text = "\n".join(["0", str(len(entries)), *(f"{epoch} {offset}" for epoch, offset in entries)]) + "\n"
    assert parse_checkpoint(text) == entries
