"""What somebody stated, and a deployment as if it had not been stated: then Kafka's default counts, or the
cluster's own where its file is in sight."""

from __future__ import annotations

from collections.abc import Iterable

from ...model import Deployment, Document, Fact, Setting

# A component and a setting of it, as findings show them.
Pair = tuple[str, Setting]
# Facts that are shown as settings, by the name they have there.
_FACTS = {"replication factor": "topic.replication_factor", "storage": "cluster.storage"}


def stated(shown: Iterable[Pair]) -> list[Pair]:
    """Those of them that are written in a file, each once; what a template fills in is not stated."""
    found = {
        (component, setting.key): (component, setting)
        for component, setting in shown
        if setting.origin.kind == "file" and setting.origin.at is not None and isinstance(setting.value, str)
    }
    return list(found.values())


def without(deployment: Deployment, taken: Iterable[Pair]) -> Deployment:
    """The same without these statements. All brokers of a cluster are taken to say the same."""
    names: set[tuple[str, str]] = set()
    facts_taken = set()
    for component, setting in taken:
        names.add((component, setting.key))
        facts_taken.add(_FACTS.get(setting.key))
        # A topic's value that is its brokers': `_through` of join/effective.py notes where it is written.
        source, _, key = setting.origin.note.partition(" ")
        names.add((source, key))

    def kept(facts: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(fact for fact in facts if fact.name not in facts_taken)

    def document(one: Document) -> Document:
        settings = tuple(setting for setting in one.settings if (one.component, setting.key) not in names)
        facts = kept(one.facts)
        same = len(settings) == len(one.settings) and len(facts) == len(one.facts)
        return one if same else one._replace(settings=settings, facts=facts)

    return deployment._replace(
        producer=None if deployment.producer is None else document(deployment.producer),
        topic=None if deployment.topic is None else document(deployment.topic),
        cluster=tuple(map(document, deployment.cluster)),
        groups=tuple(map(document, deployment.groups)),
        facts=kept(deployment.facts),
    )
