"""Rolling deploys: what they cost, counted on real clusters too, and the ones that take a group down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from advisor.ask.answers.assignor_moves import lists_between
from advisor.sim.groups.classic import INCONSISTENT
from advisor.sim.groups.roll import BY_BROKER, NOT_A_CONSUMER_GROUP, UNSUPPORTED, Brokers, Kind, Roll, roll

RANGE = Kind(("range",))
COOPERATIVE = Kind(("cooperative-sticky",))
BOTH = Kind(("cooperative-sticky", "range"))
STATIC = Kind(("range",), static=True)
CONSUMER = Kind(protocol="consumer")


@pytest.mark.parametrize(
    ("kind", "revoked"), [(RANGE, 64), (COOPERATIVE, 16), (STATIC, 8)], ids=["range", "cooperative", "static"]
)
def test_a_roll_of_four_members_takes_as_many_partitions_away_as_on_a_cluster(
    kind: Kind, revoked: int
) -> None:
    # Eight partitions; 4.3.1, each restart after the group has settled.
    assert roll(kind, kind, 4, 8).revoked == revoked


def told(run: Roll) -> Iterator[str]:
    for step in run.steps:
        reads = " ".join("-" if mine is None else ",".join(map(str, mine)) for mine in step.reads)
        yield f"{step.what} m{step.member + 1}  {step.strategy}  {reads}  {'; '.join(step.effects)}".rstrip()


def test_one_bounce_between_assignors_takes_the_group_down() -> None:
    run = roll(RANGE, COOPERATIVE, 3, 6)
    assert run.refused == INCONSISTENT
    assert list(told(run)) == [
        "stop m1  range  - 0,1,2 3,4,5",
        "start m1  range  - 0,1,2 3,4,5  refused: INCONSISTENT_GROUP_PROTOCOL",
        "stop m2  range  - - 0,1,2,3,4,5",
        "start m2  range  - - 0,1,2,3,4,5  refused: INCONSISTENT_GROUP_PROTOCOL",
        "stop m3    - - -",
        "start m3  cooperative-sticky  - - 0,1,2,3,4,5",
    ]
    assert run.fewest == 1


def test_two_bounces_do_not() -> None:
    first, second = roll(RANGE, BOTH, 3, 6), roll(BOTH, COOPERATIVE, 3, 6)
    for run in (first, second):
        assert run.refused is None
        assert run.fewest == 3
        after_starts = [step.reads for step in run.steps if step.what == "start"]
        for reads in after_starts:
            assert sorted(partition for mine in reads for partition in mine or ()) == list(range(6))
    # The old assignor is kept until the last member that has nothing else is gone.
    assert [step.strategy for step in first.steps] == ["range"] * 4 + ["cooperative-sticky"] * 2


def test_who_joins_an_old_group_alone_is_let_in() -> None:
    assert roll(RANGE, COOPERATIVE, 1, 2).refused is None


def test_a_static_member_that_loses_its_name_leaves_a_ghost() -> None:
    run = roll(STATIC, RANGE, 3, 6)
    assert run.ghosts == 3
    assert roll(RANGE, STATIC, 3, 6).ghosts == 0


def test_the_consumer_protocol_takes_a_running_group_over_if_the_brokers_let_it() -> None:
    assert roll(RANGE, CONSUMER, 3, 6).refused is None
    assert roll(RANGE, CONSUMER, 3, 6, Brokers(online_upgrade=False)).refused == NOT_A_CONSUMER_GROUP
    assert roll(RANGE, CONSUMER, 3, 6, Brokers(consumer_protocol=False)).refused == UNSUPPORTED
    # A group without members is nobody's: it can be taken over in any case.
    assert roll(RANGE, CONSUMER, 1, 2, Brokers(online_upgrade=False)).refused is None
    assert roll(CONSUMER, RANGE, 3, 6).refused is None


def test_the_broker_plans_for_members_of_both_protocols():
    run = roll(RANGE, CONSUMER, 3, 6)
    first = run.steps[1]
    assert first.effects == ("the group is the broker's from now on",)
    for step in run.steps:
        running = [reads for reads in step.reads if reads is not None]
        assert sorted(partition for reads in running for partition in reads) == list(range(6))
        assert max(map(len, running)) - min(map(len, running)) <= 1
    # An eager member gives up everything whenever it is told to join; one that keeps gives up what moves.
    assert run.revoked > roll(COOPERATIVE, CONSUMER, 3, 6).revoked


def test_a_static_member_changes_its_protocol_unnoticed():
    run = roll(RANGE._replace(static=True), CONSUMER._replace(static=True), 3, 6)
    assert (run.rebalances, run.revoked, run.ghosts) == (0, 6, 0)


def test_the_last_of_the_consumer_protocol_leaves_a_classic_group():
    steps = roll(CONSUMER, RANGE, 3, 6).steps
    assert [step.strategy for step in steps[:4]] == [BY_BROKER] * 4
    assert steps[4].effects == ("the group is a classic one again",)
    assert steps[5].strategy == "range"


def test_a_roll_back_without_downgrades_leaves_a_group_in_which_nobody_takes_over() -> None:
    assert roll(CONSUMER, RANGE, 3, 6, Brokers(online_downgrade=False)).stranded
    assert not roll(CONSUMER, RANGE, 3, 6).stranded
    assert not roll(RANGE, CONSUMER, 3, 6, Brokers(online_downgrade=False)).stranded
    # Alone it leaves an empty group, which is of whoever comes.
    assert not roll(CONSUMER, RANGE, 1, 6, Brokers(online_downgrade=False)).stranded


def test_from_the_default_list_of_3_0_one_roll_is_enough() -> None:
    """ConsumerConfig's default is [range, cooperative-sticky] since 3.0, so that one roll may take range away
    (upgrade notes of 3.1); from range alone it takes two."""
    cooperative, mixed = ("cooperative-sticky",), ("range", "cooperative-sticky")
    assert lists_between(mixed, cooperative) == [cooperative]
    assert lists_between(("range",), cooperative) == [("cooperative-sticky", "range"), cooperative]
    # librdkafka takes no list that mixes the two kinds: the group is stopped.
    assert lists_between(("range", "roundrobin"), cooperative, librdkafka=True) == []
