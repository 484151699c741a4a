"""The wire: variable-length integers, and a group's partition of `__consumer_offsets`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.offsets_topic import java_abs, java_hash, offsets_partition
from advisor.sim.wire_varint import (
    read_signed,
    read_unsigned,
    unsigned_varint,
    unsigned_varint_size,
    unsigned_varlong,
    varint,
    varint_size,
    varlong,
    zigzag,
)
from tests.oracles.__main__ import HERE, replay

INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(("kind", "least"), [("varint", 50), ("coordinator", 100)])
def test_recorded_answers_of_kafka(kind: str, least: int) -> None:
    lines, passed, failed, _ = replay(kind, f"{HERE}/data/{kind}.jsonl")
    assert failed == 0, lines
    assert passed > least


def test_zigzag_keeps_small_negatives_short() -> None:
    assert [zigzag(value) for value in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]
    assert varint(-65) == b"\x81\x01"


@given(LONGS)
def test_what_is_written_is_read_again(value: int) -> None:
    data = varlong(value)
    assert read_signed(b"\x00" + data, 1) == (value, 1 + len(data))
    assert varint_size(value) == len(data) <= 10


@given(INTS)
def test_an_int_is_written_alike_as_varint_and_varlong(value: int) -> None:
    assert varint(value) == varlong(value)
    assert len(unsigned_varint(value)) == unsigned_varint_size(value) <= 5
    assert read_unsigned(unsigned_varint(value))[0] == value % 2**32


def test_a_value_out_of_range_and_cut_data_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit 32 bits"):
        varint(2**31)
    with pytest.raises(ValueError, match="does not fit 64 bits"):
        unsigned_varlong(2**63)
    with pytest.raises(ValueError, match="ends within"):
        read_unsigned(b"\x80")
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_unsigned(b"\x80" * 11)


def test_the_one_int_without_absolute_value_maps_to_partition_0() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert java_abs(-(2**31)) == 0
    assert offsets_partition("polygenelubricants") == 0


def test_a_character_beyond_16_bits_is_hashed_as_two() -> None:
    assert java_hash("\U0001f600") == 31 * 0xD83D + 0xDE00
    with pytest.raises(ValueError, match="at least one partition"):
        offsets_partition("group", 0)
