"""When a change is harm, in numbers: the rule of advisor/fix/standing.py, a case for each line of it."""

from __future__ import annotations

import pytest

from advisor.ask.judge import judge
from advisor.ask.policies import Decoded, decode
from advisor.ask.verdicts import Verdicts
from advisor.context import Question
from advisor.fix.standing import worse
from advisor.memo.cache import Cache
from advisor.model import Deployment, Document, Fact, Origin, Setting

HERE = Origin("file")
CRASH = Question("KA101", "acked-records-survive", "", {}, {"slow_follower": "rf-1"}, ({"broker_crash": 1},))
LOST = Question("KA102", "acked-records-survive", "", {}, {"slow_follower": "rf-1"}, ({"broker_lost": 1},))
AWAY = Question("KA201", "writes-available", "", {}, {}, ({"broker_crash": 1},))
VERDICTS = Verdicts(Cache(None))


def decoded(replicas: int, acks: str | None = None, version: str = "3.9", **of_topic: str) -> Decoded:
    """A topic, and its producer unless nothing says how it writes."""

    def document(component: str, settings: dict[str, str]) -> Document:
        told = tuple(Setting(key.replace("_", "."), value, HERE) for key, value in settings.items())
        return Document(f"{component}.properties", "properties", component, component, told)

    facts = (Fact("topic.replication_factor", str(replicas), HERE),)
    return decode(
        Deployment(
            "orders",
            document("producer", {"acks": acks}) if acks is not None else None,
            document("topic", of_topic)._replace(facts=facts),
            (),
            (),
            version,
            facts,
            {},
            (),
        )
    )


def answer(question: Question, subject: Decoded) -> str:
    outcome = judge(question, subject, VERDICTS, explained=False)
    assert outcome is not None
    return outcome.verdict


SAFE = {"min_insync_replicas": "2", "unclean_leader_election_enable": "false"}
LOW = {"min_insync_replicas": "1", "unclean_leader_election_enable": "false"}
UNCLEAN = {"min_insync_replicas": "2", "unclean_leader_election_enable": "true"}


@pytest.mark.parametrize(
    ("question", "before", "after", "answers", "harm"),
    [
        (CRASH, decoded(3, "1", **SAFE), decoded(3, "all", **SAFE), ("broken", "holds"), False),
        (CRASH, decoded(3, "all", **SAFE), decoded(3, "1", **SAFE), ("holds", "broken"), True),
        (AWAY, decoded(2, "1", **SAFE), decoded(2, "all", **SAFE), ("holds", "broken"), True),
        # One copy comes back with its broker; of three, acks decides, and is all unless somebody says 1.
        (CRASH, decoded(1, **LOW), decoded(3, **LOW), ("holds", "unknown"), False),
        # The same with a minimum that nobody needs lowered.
        (LOST, decoded(3, **SAFE), decoded(3, **LOW), ("unknown", "broken"), True),
        (AWAY, decoded(2, "1", **LOW), decoded(2, **SAFE), ("holds", "unknown"), True),
        (AWAY, decoded(2, "1", **LOW), decoded(2, **LOW), ("holds", "holds"), False),
        # Broken, and then up to the unseen: a fix with a condition.
        (LOST, decoded(1, **SAFE), decoded(3, **SAFE), ("broken", "unknown"), False),
        # Eligible leader replicas may be on or off: with them off an unclean election loses records.
        (
            CRASH,
            decoded(3, "all", "4.1", **SAFE),
            decoded(3, "all", "4.1", **UNCLEAN),
            ("holds", "unknown"),
            True,
        ),
    ],
)
def test_a_change(question, before, after, answers, harm):
    assert (answer(question, before), answer(question, after)) == answers
    assert (worse(question, before, after, VERDICTS) is not None) is harm
