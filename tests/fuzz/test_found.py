"""What mutants have found, each as the smallest input that a person would write."""

from __future__ import annotations

import json
from random import Random

import pytest

from advisor.ask.verdicts import Verdicts
from advisor.cli import main
from advisor.memo.cache import Cache
from advisor.sim.groups import plans
from advisor.sim.partition.state import Policy
from advisor.sim.producer.policy import ProducerPolicy
from tests.fuzz.changes import change_structure

CONSUMER = (
    "bootstrap.servers=kafka:9092\ngroup.id=billing\n"
    "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer\n"
    "value.deserializer=org.apache.kafka.common.serialization.StringDeserializer\n"
)
TOPIC = "partitions=6\nreplication.factor=3\nmin.insync.replicas=2\n"


def test_a_deploy_that_makes_rolls_dearer_shows_one(tmp_path, monkeypatch, capsys):
    sticky = "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor\n"
    for side, strategy in (("old", sticky), ("new", "")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "consumer.properties").write_text(CONSUMER + strategy)
        (tmp_path / side / "topic-orders.properties").write_text(TOPIC)
    monkeypatch.chdir(tmp_path)
    main(["compare", "--profile", "prod", "--kafka-version", "3.7", "--format", "json", "old", "new"])
    (dearer,) = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] == "KA461"]
    assert dearer["evidence"]["class"] == "trace"
    # Each of three members is stopped and started.
    assert [step["step"] for step in dearer["evidence"]["trace"]] == [1, 2, 3, 4, 5, 6]


def test_a_table_in_place_of_a_word_is_not_printed(tmp_path, capsys):
    (tmp_path / "s.toml").write_text(
        'title = "t"\nstory = "s"\nkafka_version = "3.5"\nexpect = "broken"\n'
        '[guarantee]\n"ssl.keystore.key" = "hunter2-1"\n'
    )
    assert main(["simulate", str(tmp_path / "s.toml")]) == 2
    told = capsys.readouterr()
    assert "hunter2" not in told.out + told.err
    assert "a table is not allowed" in told.err


def test_a_million_members_are_not_laid_out(tmp_path, monkeypatch, capsys):
    laid_out = []
    plan = plans.plan
    monkeypatch.setattr(
        plans, "plan", lambda kind, seats, *rest: laid_out.append(len(seats)) or plan(kind, seats, *rest)
    )
    strategy = "partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor\n"
    (tmp_path / "consumer.properties").write_text(CONSUMER + strategy)
    for name in ("orders", "payments"):
        (tmp_path / f"topic-{name}.properties").write_text(TOPIC)
    (tmp_path / "kafka-advisor.toml").write_text(
        'profile = "prod"\n[workload]\nmembers = 1000000\n'
        + "".join(
            f'[[deployment]]\ntopic = "{name}"\ngroups = "consumer"\n' for name in ("orders", "payments")
        )
    )
    main(["audit", "--no-cache", "--select", "KA452", str(tmp_path)])
    assert max(laid_out, default=0) < 1000


@pytest.mark.parametrize("ask", ["committed-on-isr", "records-stored-once"])
def test_a_search_ends_by_states_and_not_by_the_clock(ask):
    policy = Policy() if ask == "committed-on-isr" else ProducerPolicy()
    environment = {} if ask == "committed-on-isr" else {"late_request": 100}
    verdicts = Verdicts(Cache(None))
    found = verdicts.ask(ask, policy, environment, {"clean_stop": 2} if ask == "committed-on-isr" else {})
    assert not verdicts.was_late
    assert found.states <= 50_000


def test_no_tree_holds_itself():
    """A tree that does is written for ever."""
    text = b'[a]\nb = 1\n[[a.c]]\nd = [1, 2]\n[[e]]\nf = { g = "h" }\n'
    for seed in range(400):
        assert change_structure(Random(seed), "a.toml", text) is not None


def test_a_run_of_thousands_of_columns_is_not_drawn(tmp_path, capsys):
    (tmp_path / "s.toml").write_text(
        'title = "t"\nstory = "s"\nkafka_version = "3.9"\nevents = ["produce r0"]\n'
        "[facts]\nreplication_factor = 32767\n"
    )
    assert main(["simulate", str(tmp_path / "s.toml")]) == 2
    assert "32767 replicas: events are played with at most 64" in capsys.readouterr().err
