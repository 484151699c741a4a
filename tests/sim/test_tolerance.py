"""The two headline numbers, found by search, equal the arithmetic of the documentation."""

from __future__ import annotations

import pytest

from advisor.sim import Broken, Policy
from advisor.sim.tolerance import Headline, headline, tolerance


def expected(policy: Policy) -> Headline:
    effective = policy.effective_min_isr
    if policy.acks != "all":
        return Headline(0, policy.replicas - 1)
    if effective > policy.replicas:
        return Headline(None, None)  # before 3.7: no write at all, so nothing to survive
    # Where the minimum is the replication factor every replica has what is acked: whoever is elected has it.
    anybody = policy.unclean and effective < policy.replicas
    return Headline(0 if anybody else effective - 1, policy.replicas - effective)


@pytest.mark.parametrize("replicas", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("min_isr", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("acks", ["1", "all"])
@pytest.mark.parametrize("unclean", [False, True])
@pytest.mark.parametrize("current", [False, True], ids=["before-3.7", "from-3.7"])
def test_headline(replicas: int, min_isr: int, acks: str, unclean: bool, current: bool) -> None:
    policy = Policy(
        replicas=replicas,
        min_isr=min_isr,
        acks=acks,
        unclean=unclean,
        min_isr_capped=current,
        hw_waits_for_min_isr=current,
    )
    assert headline(policy) == expected(policy)


@pytest.mark.parametrize("min_isr", [1, 2, 3])
def test_headline_with_elr(min_isr: int) -> None:
    policy = Policy(replicas=3, min_isr=min_isr, elr=True)
    assert headline(policy) == expected(policy)


def test_tolerance_stops_where_it_breaks() -> None:
    found = tolerance(Policy(min_isr=2), "acked-records-survive", "broker_lost")
    assert (found.survives, found.broken_by, found.exhausted) == (1, 2, False)
    assert isinstance(found.verdict, Broken)


def test_tolerance_is_exhausted_when_no_more_were_tried() -> None:
    found = tolerance(Policy(min_isr=2), "acked-records-survive", "broker_crash")
    assert (found.survives, found.broken_by, found.exhausted) == (2, None, True)


def test_not_even_none_is_survived_where_no_write_is_taken() -> None:
    policy = Policy(replicas=1, min_isr=2, min_isr_capped=False)
    found = tolerance(policy, "writes-available", "broker_crash")
    assert (found.survives, found.broken_by) == (None, 0)
