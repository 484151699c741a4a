"""`explain`: settings by runs, rules and words with a run that is played when somebody asks."""

from __future__ import annotations

import pytest

from advisor.catalog import COMPONENTS, NEWEST, lookup, resolve_version
from advisor.explain.glossary import term_of, terms
from advisor.explain.scenarios import run_of_scenario, scenario, scenario_names
from advisor.explain.values import BASES, setting_words, tried_values, try_of
from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from tests.conftest import ROOT

REGISTRY = load_registry()
RULES = load_packs(REGISTRY.packs, (), Cache(None))
VERSION = resolve_version("4.3")


def codes(values):
    return {one.value: [finding["code"] for finding in one.findings] for one in values.tried}


def headlines(values):
    return {one.value: tuple(one.headline.values()) for one in values.tried}


def test_what_each_value_of_acks_costs_and_gains():
    values = tried_values("acks", VERSION)
    assert headlines(values) == {"0": (0, 2), "1": (0, 2), "all": (1, 1)}
    assert codes(values) == {"0": ["KA101", "KA304"], "1": ["KA101", "KA301", "KA302"], "all": []}
    # Idempotence is on by default from 3.0 on: before, acks=all stores retries twice.
    spans = {
        (first, last): [one["code"] for one in tried[-1].findings] for first, last, tried in values.spans
    }
    assert spans[("2.8", "2.8")] == ["KA301", "KA302"]
    assert spans[("3.0", "4.3")] == []


def test_a_minimum_is_bought_with_availability():
    assert headlines(tried_values("min.insync.replicas", VERSION)) == {"1": (0, 2), "2": (1, 1), "3": (2, 0)}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("unclean.leader.election.enable", {"false": [], "true": ["KA101"]}),
        ("max.in.flight.requests.per.connection", {"1": [], "5": ["KA302"]}),
        ("isolation.level", {"read_uncommitted": ["KA343"], "read_committed": []}),
        ("enable.auto.commit", {"true": ["KA401"], "false": []}),
        ("max.poll.records", {"500": ["KA421"], "200": []}),
        ("session.timeout.ms", {"10000": ["KA423"], "45000": [], "180000": ["KA431"]}),
        ("delivery.timeout.ms", {"20000": ["KA321"], "120000": []}),
        ("buffer.memory", {"8388608": ["KA323"], "134217728": []}),
    ],
)
def test_values_differ_by_what_is_found(name, wanted):
    assert codes(tried_values(name, VERSION)) == wanted


def test_every_setting_that_is_told_of_exists_and_every_try_tells_something():
    for name in setting_words():
        assert any(lookup(component, name, resolve_version(NEWEST)) for component in COMPONENTS), name
        asked = try_of(name)
        assert asked is None or asked.base in BASES


@pytest.mark.parametrize("term", terms(), ids=lambda term: term.id)
def test_a_word_leads_to_what_there_is(term):
    known = {rule.code for rule in RULES} | set(REGISTRY.guarantees)
    for name in term.see:
        setting = any(lookup(component, name, resolve_version(NEWEST)) for component in COMPONENTS)
        assert setting or name in known or term_of(name) is not None, name
    if term.scenario is not None:
        trace, _ = run_of_scenario(scenario(term.scenario))
        assert trace


def test_the_scenarios_are_those_of_the_samples():
    files = {path.stem for path in (ROOT / "samples" / "scenarios").glob("*.toml")}
    assert set(scenario_names()) == files


def test_explain_a_setting(advisor):
    said = advisor("explain", "acks").stdout
    assert (
        "acks=all\n    confirmed records survive the loss of 1 broker\n    writes continue with 1 broker down"
        in said
    )
    assert "  The same in Kafka 3.0 to 4.3.\n" in said
    assert "  4  broker 1 takes over" in said
    assert "r0 is lost" in said
    assert "assuming the newest; choose with --kafka-version" in said


def test_explain_a_setting_at_a_version(advisor):
    said = advisor("explain", "acks", "--kafka-version", "2.8").stdout
    assert "played just now on Kafka 2.8" in said
    assert "default    1" in said
    assert "assuming" not in said


def test_explain_a_rule_shows_its_run_and_what_the_fix_makes_of_it(advisor):
    said = advisor("explain", "KA101").stdout
    assert said.startswith("error[KA101] acknowledged records can be lost\n")
    assert "Asked with: 1 broker crash; besides, at any time: 2 slow followers" in said
    assert "  bad   producer: acks = 1\n  good  producer: acks = all\n" in said
    assert "r0 is lost" in said
    assert "With acks=all: broker 1 leads and has r0: no confirmed record is lost." in said


def test_explain_a_word(advisor):
    said = advisor("explain", "isr").stdout
    assert said.startswith("ISR, in-sync replicas\n")
    assert "broker 2 is in sync again" in said
    assert advisor("explain", "high watermark").stdout.startswith("HW, high watermark")


def test_explain_a_guarantee(advisor):
    said = advisor("explain", "send-order-kept").stdout
    assert "Asked by:\n  KA302  warning" in said
    assert "r0 is stored after r1" in said


def test_a_word_that_nobody_knows(advisor):
    done = advisor("explain", "akcs")
    assert done.returncode == 2
    assert "did you mean acks" in done.stderr


def test_rules_have_a_sentence_each(advisor):
    said = advisor("rules").stdout
    for rule in RULES:
        line = next(line for line in said.splitlines() if line.startswith(rule.code))
        assert line.endswith(rule.title)
