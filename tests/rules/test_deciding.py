"""What the unseen decides: the region told holds everywhere, and nothing that was left out matters."""

from __future__ import annotations

import pytest

from advisor.ask.judge import OWN_PROTOCOL, PRODUCER_GUARANTEES, counts, is_in_sight, judge
from advisor.ask.policies import INTERNAL, decode, producer_policies, replication_policies
from advisor.ask.regions import conditions
from advisor.ask.verdicts import Verdicts
from advisor.hookspecs import SEARCHED
from advisor.memo.cache import Cache
from advisor.model import Deployment, Document, Fact, Location, Origin, Setting
from advisor.packs.questions import question_of
from advisor.registry import load_registry
from advisor.testing import audit_texts
from tests.rules.test_rules import RULES

VERDICTS = Verdicts(Cache(None))
ASKED = [rule for rule in RULES if rule.code in ("KA101", "KA102", "KA103", "KA201", "KA301", "KA302")]


def document(component, settings):
    made = tuple(
        Setting(key, value, Origin("file", Location("x.properties", number)))
        for number, (key, value) in enumerate(settings.items(), 1)
    )
    return Document("x.properties", "properties", component, component, made)


def deployment(version, producer=None, topic=None, factor=None):
    facts = (Fact("topic.replication_factor", factor, Origin("set")),) if factor else ()
    return Deployment(
        "x",
        document("producer", producer) if producer is not None else None,
        document("topic", topic) if topic is not None else None,
        (),
        (),
        version,
        facts,
        {},
        (),
    )


CASES = [
    (version, side)
    for version in ("2.8", "3.9", "4.3")
    for side in (
        {"producer": {"acks": "all"}},
        {"producer": {"acks": "1"}},
        {"topic": {"min.insync.replicas": "2"}, "factor": "3"},
        {"producer": {"acks": "all"}, "topic": {"unclean.leader.election.enable": "false"}},
    )
]


@pytest.mark.parametrize(("version", "sides"), CASES, ids=str)
def test_all_of_the_region_holds_and_something_outside_is_broken(version, sides):
    decoded = decode(deployment(version, **sides))
    unknown = 0
    for rule in ASKED:
        if rule.severity == "note" and not is_in_sight(decoded):
            continue
        outcome = judge(question_of(rule, {}), decoded, VERDICTS)
        if outcome is None or outcome.verdict != "unknown":
            continue
        unknown += 1
        of_producer = rule.guarantee in PRODUCER_GUARANTEES
        knobs = (decoded.producer if of_producer else decoded.knobs) or {}
        combinations = producer_policies(decoded) if of_producer else replication_policies(decoded)
        assert outcome.region is not None, outcome.reason
        verdicts: dict[bool, set[str]] = {True: set(), False: set()}
        for faults in rule.faults:
            for one in combinations:
                inside = all(one.choices[name] in values for name, values in outcome.region.items())
                asked = counts(rule.environment, one.policy), counts(faults, one.policy)
                verdicts[inside].add(VERDICTS.ask(rule.guarantee, one.policy, *asked).verdict)
        assert verdicts[True] == {"holds"}, (rule.code, outcome.reason)
        assert "broken" in verdicts[False], (rule.code, outcome.reason)
        assert (outcome.depends_on, outcome.reason) == conditions(outcome.region, knobs)
        assert outcome.depends_on, "a region that is everything depends on nothing"
    assert unknown or sides.get("producer", {}).get("acks") == "1"


def reason(version, rule, **sides):
    (asked,) = [one for one in RULES if one.code == rule]
    return judge(question_of(asked, {}), decode(deployment(version, **sides)), VERDICTS).reason


@pytest.mark.parametrize(
    ("rule", "sides", "told"),
    [
        (
            "KA101",
            {"producer": {"acks": "all"}},
            "holds if unclean.leader.election.enable = false; "
            "Kafka's default is unclean.leader.election.enable false",
        ),
        (
            "KA102",
            {"producer": {"acks": "all"}},
            "holds if replication factor >= 2, min.insync.replicas >= 2, "
            "unclean.leader.election.enable = false; Kafka's defaults are replication factor 1, "
            "min.insync.replicas 1, unclean.leader.election.enable false",
        ),
        (
            "KA201",
            {"producer": {"acks": "all"}},
            "holds if replication factor >= 3, min.insync.replicas <= 2; "
            "Kafka's defaults are replication factor 1, min.insync.replicas 1",
        ),
        (
            "KA102",
            {"topic": {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}, "factor": "3"},
            "holds if acks = all",
        ),
    ],
)
def test_only_what_matters_is_named(rule, sides, told):
    assert reason("3.9", rule, **sides) == told


BROKER = "process.roles=broker\nnode.id=1\nlisteners=PLAINTEXT://kafka-1:9092\ndefault.replication.factor=3\n"


def test_the_defaults_are_those_of_the_cluster_in_sight():
    """Two clusters that behave alike, each told with its own file and line."""
    producer = "bootstrap.servers=kafka-{0}:9092\nacks=all\n"
    report = audit_texts(
        {
            "one/server.properties": BROKER,
            "two/server.properties": "# behind a comment\n" + BROKER.replace("kafka-1", "kafka-2"),
            "one/producer.properties": producer.format(1),
            "two/producer.properties": producer.format(2),
        }
    )
    told = [
        answer["reason"].partition("; ")[2]
        for one in report["deployments"]
        for answer in one["guarantees"]
        if answer["name"] == "writes-available"
    ]
    assert told == [
        f"this cluster's defaults are replication factor 3 ({name}/server.properties:{line}), "
        f"min.insync.replicas 1 ({name}/server.properties does not set it)"
        for name, line in (("one", 4), ("two", 5))
    ]


def test_the_parts_of_a_searched_guarantee_are_the_topics_that_can_be_asked():
    searched = [spec for spec in load_registry().models if spec.kind == SEARCHED]
    assert searched
    for spec in searched:
        assert set(spec.parts) == {"", OWN_PROTOCOL, *INTERNAL}
