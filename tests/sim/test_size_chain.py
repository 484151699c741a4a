"""The size chain against what a real 4.3.1 did, and laws of its arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.producer.batch_split import FAILS, HALVES, SPLITS, batch_bytes, fitting, settle
from advisor.sim.producer.size_chain import Chain, Gap, gaps, largest, measured, send

MIB = 1_048_576
DEFAULTS = Chain(request=MIB, buffer=32 * MIB, connection=100 * MIB, batch=MIB + 12, segment=1024 * MIB)


def outcome(chain: Chain, value: int) -> tuple[str, str]:
    last = list(send(chain, value))[-1]
    return last.link, last.outcome


def test_the_defaults_have_no_gap() -> None:
    assert gaps(DEFAULTS) == []


def test_what_a_real_client_and_broker_measured() -> None:
    """Kafka 4.3.1: a value of 1,048,505 bytes is 1,048,592 when serialized and refused by the client; one of
    1,048,400 passes everything."""
    assert measured(DEFAULTS, "request", 1_048_505) == 1_048_592
    assert outcome(DEFAULTS, 1_048_505) == ("request", "refused")
    assert all(passage.passed for passage in send(DEFAULTS, 1_048_400))
    assert measured(DEFAULTS, "request", 1_048_400) == 1_048_487


# Kafka 4.3.1, client and broker: max.request.size, max.message.bytes, segment.bytes, bytes of the value, and
# whose limit it was that the record met.
RECORDED = [
    (5_242_880, 1_048_588, None, 1_048_516, None),
    (5_242_880, 1_048_588, None, 1_048_517, "batch"),
    (5_242_880, 1_048_588, None, 5_242_792, "batch"),
    (5_242_880, 1_048_588, None, 5_242_793, "request"),
    (1_048_576, 1_048_588, None, 1_048_489, None),
    (1_048_576, 1_048_588, None, 1_048_490, "request"),
    (1_048_576, 262_144, None, 262_072, None),
    (1_048_576, 262_144, None, 262_073, "batch"),
    (5_242_880, 5_242_880, 2_097_152, 2_097_078, None),
    (5_242_880, 5_242_880, 2_097_152, 2_097_079, "segment"),
    (5_242_880, 20_000, None, 19_929, "batch"),
    (5_242_880, 1_000, None, 930, None),
    (5_242_880, 1_000, None, 931, "batch"),
]


@pytest.mark.parametrize(("request_max", "batch", "segment", "value", "stopped"), RECORDED)
def test_a_real_client_and_broker_to_the_byte(
    request_max: int, batch: int, segment: int | None, value: int, stopped: str | None
) -> None:
    last = list(send(Chain(request=request_max, batch=batch, segment=segment), value))[-1]
    assert (None if last.passed else last.link) == stopped


def test_a_client_that_allows_more_than_the_topic() -> None:
    raised = DEFAULTS._replace(request=3 * MIB)
    (gap,) = gaps(raised)
    assert (gap.link, gap.outcome) == ("batch", "refused")
    assert outcome(raised, gap.least - 1) == ("segment", "passed")
    assert outcome(raised, gap.least) == outcome(raised, gap.most) == ("batch", "refused")
    assert outcome(raised, gap.most + 1) == ("request", "refused")
    assert measured(raised, "batch", gap.least) == MIB + 13


def test_more_than_the_buffer_holds_is_refused_at_once() -> None:
    assert outcome(DEFAULTS._replace(request=64 * MIB), 40 * MIB) == ("buffer", "refused")


@pytest.mark.parametrize(("whole", "found"), [(True, []), (False, ["replica", "reader"])])
def test_readers_and_followers_are_stopped_only_before_kip_74(whole: bool, found: list[str]) -> None:
    chain = DEFAULTS._replace(
        request=12 * MIB, batch=12 * MIB, replica=2 * MIB, reader=MIB, whole_batches=whole, magic=1
    )
    assert [gap.link for gap in gaps(chain)] == found
    assert all(gap.outcome == "stuck" for gap in gaps(chain))


def test_librdkafka_counts_36_bytes_and_drops_a_larger_answer() -> None:
    chain = Chain("librdkafka", request=1_000_000, batch=MIB + 12, receiver=500_000)
    assert largest(chain, "request") == 999_964
    assert gaps(chain) == [Gap("receiver", largest(chain, "receiver") + 1, 999_964, "stuck")]


CHAINS = st.builds(
    Chain,
    client_family=st.sampled_from(["java", "librdkafka"]),
    magic=st.sampled_from([0, 1, 2]),
    compressed=st.booleans(),
    whole_batches=st.booleans(),
    request=st.integers(200, 5_000),
    buffer=st.none() | st.integers(200, 5_000),
    connection=st.none() | st.integers(200, 5_000),
    batch=st.none() | st.integers(200, 5_000),
    segment=st.none() | st.integers(200, 5_000),
    replica=st.none() | st.integers(200, 5_000),
    reader=st.none() | st.integers(200, 5_000),
    receiver=st.none() | st.integers(200, 5_000),
)


@given(CHAINS, st.integers(0, 6_000))
def test_a_record_meets_its_end_exactly_in_a_gap(chain: Chain, value: int) -> None:
    last = list(send(chain, value))[-1]
    inside = [gap for gap in gaps(chain) if gap.least <= value <= gap.most]
    if last.passed or last.link in ("request", "buffer"):
        assert inside == []
    else:
        assert inside[0].link == last.link
        assert inside[0].outcome == last.outcome


@given(CHAINS)
def test_the_largest_passes_and_one_byte_more_does_not(chain: Chain) -> None:
    value = largest(chain, "request")
    assert measured(chain, "request", value) <= (chain.request or 0) < measured(chain, "request", value + 1)


# -- full batches ------------------------------------------------------------------------------------------


def test_what_real_clients_did_with_a_batch_over_the_limit() -> None:
    """60 values of 500 bytes, batch.size 16384: clients 3.9, 4.0 and 4.1 stored the 28 of the second batch
    where the topic took 15000 bytes, and failed the 32 of the first after hundreds of splits; 4.2 and 4.3
    split each refused batch twice and stored all."""
    assert fitting(16_384, 500) == 32
    assert batch_bytes(28, 500) <= 15_000 < batch_bytes(32, 500)
    (only,) = settle(16_384, 15_000, 500, SPLITS)
    assert (only.records, only.outcome) == (32, "the same")
    for limit in (8_000, 15_000):
        sent = list(settle(16_384, limit, 500, HALVES))
        assert [one.outcome for one in sent].count("split") == 2
        assert sum(one.records for one in sent if one.outcome == "stored") == 32
    assert [one.outcome for one in settle(16_384, 15_000, 500, FAILS)] == ["failed"]


@given(st.integers(100, 20_000), st.integers(100, 20_000), st.integers(0, 3_000))
def test_halving_ends_and_keeps_every_record(batch_size: int, limit: int, value: int) -> None:
    sent = list(settle(batch_size, limit, value, HALVES))
    ended = [one for one in sent if one.outcome in ("stored", "failed")]
    assert sum(one.records for one in ended) == fitting(batch_size, value)
    # Only a record that is too large by itself fails.
    assert all(one.records == 1 for one in ended if one.outcome == "failed")
