"""Assignors: the worked examples, recorded answers of Kafka, an assignor of one's own, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.assign.assignors import BUILT_IN, assign, rebalance_protocol, withheld
from advisor.sim.assign.java_order import map_order, number_set_order
from advisor.sim.assign.members import Assignment, Member, Metadata
from advisor.sim.assign.server import ServerMember, flat
from advisor.sim.assign.server import assign as assign_by_broker
from tests.oracles.__main__ import HERE, replay

AB = ("A", "B")
TWO = [Member("C1", AB), Member("C2", AB)]
FIVE_AND_THREE = Metadata({"A": 5, "B": 3})
VERSIONS = [(2, 8), (3, 9), (4, 3)]


def told(assignment: Assignment) -> dict[str, str]:
    """`A0 A2 B1`, as the examples are written."""
    return {
        member: " ".join(f"{topic}{number}" for topic, number in sorted(partitions))
        for member, partitions in sorted(assignment.items())
    }


@pytest.mark.parametrize("kind", ["assignors", "server_assignors"])
def test_recorded_answers_of_kafka(kind: str) -> None:
    lines, passed, failed, _ = replay(kind, f"{HERE}/data/{kind}.jsonl")
    assert failed == 0, "\n".join(lines[:5])
    assert passed > 50


@pytest.mark.parametrize("version", VERSIONS)
def test_range_topic_by_topic(version: tuple[int, int]) -> None:
    assert told(assign("range", TWO, FIVE_AND_THREE, version)) == {"C1": "A0 A1 A2 B0 B1", "C2": "A3 A4 B2"}
    three = [Member(f"C{n}", ("A",)) for n in (1, 2, 3)]
    assert told(assign("range", three, Metadata({"A": 5}), version)) == {
        "C1": "A0 A1",
        "C2": "A2 A3",
        "C3": "A4",
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_round_robin_over_all_topics(version: tuple[int, int]) -> None:
    assigned = assign("roundrobin", TWO, FIVE_AND_THREE, version)
    assert told(assigned) == {"C1": "A0 A2 A4 B1", "C2": "A1 A3 B0 B2"}


def test_members_take_turns_by_instance_id_and_those_without_come_last() -> None:
    members = [
        Member("C1", ("A",)),
        Member("C2", ("A",), instance_id="z"),
        Member("C3", ("A",), instance_id="a"),
    ]
    for assignor in ("range", "roundrobin"):
        assert told(assign(assignor, members, Metadata({"A": 3}))) == {"C1": "A2", "C2": "A1", "C3": "A0"}


def rejoined(members: list[Member], assignment: Assignment, generation: int) -> list[Member]:
    """The members with what they were given."""
    return [member._replace(owned=tuple(assignment[member.id]), generation=generation) for member in members]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_sticky_balances_first_and_then_keeps(assignor: str, version: tuple[int, int]) -> None:
    three = [Member(f"C{n}", AB) for n in (1, 2, 3)]
    first = assign(assignor, three, FIVE_AND_THREE, version)
    assert sorted(map(len, first.values())) == [2, 3, 3]
    left = [member for member in rejoined(three, first, 1) if member.id != "C2"]
    second = assign(assignor, left, FIVE_AND_THREE, version)
    assert sorted(map(len, second.values())) == [4, 4]
    for member in left:
        assert set(member.owned) <= set(second[member.id])


def test_a_cooperative_member_gives_up_first_and_the_next_rebalance_hands_on() -> None:
    metadata = Metadata({"A": 4})
    one = rejoined([Member("C1", ("A",))], {"C1": [("A", n) for n in range(4)]}, 1)
    both = [*one, Member("C2", ("A",))]
    step = assign("cooperative-sticky", both, metadata)
    assert told(step) == {"C1": "A0 A1", "C2": ""}
    assert withheld(step, both, metadata) == [("A", 2), ("A", 3)]
    # An eager group hands the same two on at once, after all have stopped reading.
    assert told(assign("sticky", both, metadata)) == {"C1": "A0 A1", "C2": "A2 A3"}
    assert told(assign("cooperative-sticky", rejoined(both, step, 2), metadata)) == {
        "C1": "A0 A1",
        "C2": "A2 A3",
    }


def test_a_late_claim_loses_to_a_newer_generation() -> None:
    members = [
        Member("C1", ("A",), (("A", 0), ("A", 1)), generation=4),
        Member("C2", ("A",), (("A", 0),), generation=5),
    ]
    assert told(assign("cooperative-sticky", members, Metadata({"A": 2}))) == {"C1": "A1", "C2": "A0"}


def test_two_claims_of_one_generation_are_withheld() -> None:
    members = [Member(name, ("A",), (("A", 0),), generation=5) for name in ("C1", "C2")]
    assert told(assign("cooperative-sticky", members, Metadata({"A": 2}))) == {"C1": "", "C2": "A1"}


def test_racks_are_matched_since_3_5() -> None:
    members = [Member("C1", ("A",), rack="east"), Member("C2", ("A",), rack="west")]
    metadata = Metadata({"A": 2}, {("A", 0): frozenset({"west"}), ("A", 1): frozenset({"east"})})
    for assignor in ("range", "sticky", "cooperative-sticky"):
        assert told(assign(assignor, members, metadata, (3, 4))) == {"C1": "A0", "C2": "A1"}
        assert told(assign(assignor, members, metadata, (3, 5))) == {"C1": "A1", "C2": "A0"}


def test_a_member_is_cooperative_only_if_all_its_assignors_are() -> None:
    assert rebalance_protocol(["cooperative-sticky"]) == "cooperative"
    assert rebalance_protocol(["cooperative-sticky", "range"]) == "eager"
    assert rebalance_protocol(["range", "cooperative-sticky"]) == "eager"


def test_an_assignor_of_ones_own() -> None:
    def all_to_one(members, metadata, version):
        first = min(member.id for member in members)
        everything = [(topic, n) for topic, count in metadata.partitions.items() for n in range(count)]
        return {member.id: everything if member.id == first else [] for member in members}

    assigned = assign(
        "com.example.AllToOne", TWO, Metadata({"A": 2}), own={"com.example.AllToOne": all_to_one}
    )
    assert told(assigned) == {"C1": "A0 A1", "C2": ""}
    with pytest.raises(ValueError, match=r"com\.example\.AllToOne"):
        assign("com.example.AllToOne", TWO, Metadata({"A": 2}))


def test_the_broker_deals_ranges_and_keeps_uniform_members_level() -> None:
    members = [ServerMember("C1", frozenset(AB)), ServerMember("C2", frozenset(AB))]
    assert told(flat(assign_by_broker("range", members, {"A": 5, "B": 3}))) == {
        "C1": "A0 A1 A2 B0 B1",
        "C2": "A3 A4 B2",
    }
    kept = [members[0]._replace(current={"A": range(5), "B": range(3)}), members[1]]
    level = flat(assign_by_broker("uniform", kept, {"A": 5, "B": 3}))
    assert told(level) == {"C1": "A0 A1 A2 A3", "C2": "A4 B0 B1 B2"}


def test_hash_orders_of_java() -> None:
    # As java.util.HashMap and HashSet of Java 17 hold them.
    assert map_order(f"consumer-{n}" for n in (1, 2, 10)) == ["consumer-10", "consumer-2", "consumer-1"]
    thirteen = map_order(f"consumer-{n}" for n in range(13))  # the table has grown to 32 buckets
    assert [int(name[9:]) for name in thirteen] == [11, 10, 6, 5, 4, 3, 2, 1, 12, 0, 9, 8, 7]
    assert number_set_order([1, 16, 3]) == [16, 1, 3]


TOPICS = ("A", "B", "C")


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[Member], Metadata]:
    partitions = {topic: draw(st.integers(0, 7)) for topic in TOPICS}
    names = draw(st.lists(st.text("abc0", min_size=1, max_size=4), min_size=1, max_size=7, unique=True))
    members = [
        Member(name, tuple(sorted(draw(st.sets(st.sampled_from(TOPICS), min_size=1))))) for name in names
    ]
    return members, Metadata(partitions)


@given(groups(), st.sampled_from(sorted(BUILT_IN)), st.sampled_from(VERSIONS))
def test_each_partition_goes_to_one_subscriber_and_stays_there(group, assignor, version):
    members, metadata = group
    first = assign(assignor, members, metadata, version)
    topics = {member.id: set(member.topics) for member in members}
    given_out = [part for partitions in first.values() for part in partitions]
    assert len(given_out) == len(set(given_out))
    assert withheld(first, members, metadata) == []
    assert all(part[0] in topics[member] for member, partitions in first.items() for part in partitions)
    again = assign(assignor, rejoined(members, first, 1), metadata, version)
    # The old assignor forgets what members had where subscriptions differ.
    if version > (2, 8) or len({member.topics for member in members}) == 1:
        assert told(again) == told(first)
