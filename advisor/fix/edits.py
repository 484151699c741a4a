"""Edits made: a document or deployment as it would be with a change, and the change as a report tells it."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog import librdkafka
from ..join.racks import NAMED
from ..model import Change, Deployment, Document, Edit, Fact, Location, Origin, Secret, Setting

Subject = Document | Deployment

# What no key sets: an edit's field, the fact it changes, and what a reader calls it.
FACTS = {
    "replicas": ("topic.replication_factor", "replication factor"),
    "elr": ("cluster.elr", "eligible leader replicas"),
    "storage": ("cluster.storage", "storage"),
    "racks": ("cluster.racks", "racks named in broker.rack"),
    "partitions": ("topic.partitions", "partitions"),
    "brokers": ("cluster.brokers", "brokers"),
    "members": ("group.members", "members"),
    "version": ("kafka.version", "Kafka version"),
}


def with_edits(subject: Subject, edits: Sequence[Edit]) -> Subject:
    """The subject as it would be with the edits made."""
    for edit in edits:
        subject = _edited(subject, edit) if isinstance(subject, Document) else _turned(subject, edit)
    return subject


def _turned(deployment: Deployment, edit: Edit) -> Deployment:
    if edit.key is None:
        if edit.field == "version":
            return deployment._replace(version=edit.value or deployment.version)
        name = FACTS[edit.field][0]
        kept = tuple(fact for fact in deployment.facts if fact.name != name)
        made = Fact(name, edit.value or "", Origin("assumed", None, "the fix"))
        return deployment._replace(facts=(*kept, made))
    if edit.component == "producer" and deployment.producer is not None:
        return deployment._replace(producer=_edited(deployment.producer, edit))
    if any(_is_meant(group, edit) for group in deployment.groups):
        groups = (_edited(group, edit) if _is_meant(group, edit) else group for group in deployment.groups)
        return deployment._replace(groups=tuple(groups))
    if edit.component == "topic" and deployment.topic is not None:
        return deployment._replace(topic=_edited(deployment.topic, edit))
    return deployment._replace(cluster=tuple(_edited(broker, edit) for broker in deployment.cluster))


def _is_meant(group: Document, edit: Edit) -> bool:
    return group.component == edit.component and edit.of in (None, (group.file, group.name))


def _edited(document: Document, edit: Edit) -> Document:
    """The document with the edit's key set, or taken out."""
    assert edit.key is not None
    kept = tuple(one for one in document.settings if not is_same_key(one.key, edit.key, document.client))
    if edit.value is None:
        return document._replace(settings=kept)
    return document._replace(
        settings=(*kept, Setting(edit.key, edit.value, Origin("assumed", None, "the fix")))
    )


def is_same_key(one: str, other: str, client: str) -> bool:
    """librdkafka has two names for some settings: acks is its request.required.acks."""
    if one == other or client != "librdkafka":
        return one == other
    return _first_name(one) == _first_name(other)


def _first_name(key: str) -> str:
    known = librdkafka(key)
    return (known.alias_of or key) if known is not None else key


# As changes of what is written.


def changes_of(edits: Sequence[Edit], subject: Subject) -> tuple[Change, ...]:
    if isinstance(subject, Document):
        return tuple(_change_in(edit, subject) for edit in edits)
    return tuple(_change_of(edit, subject) for edit in edits)


def _change_of(edit: Edit, deployment: Deployment) -> Change:
    if edit.key is None:
        value = (edit.value or "").removeprefix(NAMED)
        return Change(edit.component, FACTS[edit.field][1], None, value, None, None, "set")
    return _change_in(edit, _home_of(edit, deployment))


def _change_in(edit: Edit, document: Document | None) -> Change:
    """The edit as a change of what is written in this document."""
    key = edit.key or ""
    written = (
        next((one for one in document.settings if _is_it(one, key, document)), None) if document else None
    )
    if written is None or document is None:
        file = document.file if document is not None else None
        return Change(edit.component, key, None, edit.value, file, None, "add")
    at = written.origin.at or Location(document.file)
    before = str(written.value) if not isinstance(written.value, Secret) else None
    action = "remove" if edit.value is None else "set"
    return Change(edit.component, written.key, before, edit.value, at.file, at.line, action)


def edits_of(changes: Sequence[Change], deployment: Deployment) -> tuple[Edit, ...]:
    """The edits behind changes that a report tells."""
    fields = {label: field for field, (_, label) in FACTS.items()}
    found = []
    for change in changes:
        field = fields.get(change.key) if change.file is None else None
        if field is not None:
            value = f"{NAMED}{change.after}" if field == "racks" else change.after
            found.append(Edit(field, change.component, None, value))
        else:
            group = next((one for one in deployment.groups if _is_home(one, change)), None)
            of = (group.file, group.name) if group is not None else None
            found.append(Edit(change.key, change.component, change.key, change.after, of=of))
    return tuple(found)


def _is_home(group: Document, change: Change) -> bool:
    return group.component == change.component and group.file == change.file


def _is_it(setting: Setting, key: str, document: Document) -> bool:
    """Written in a file under this name or, for librdkafka, another name of it."""
    return setting.origin.kind == "file" and is_same_key(setting.key, key, document.client)


def _home_of(edit: Edit, deployment: Deployment) -> Document | None:
    if edit.component == "producer":
        return deployment.producer
    if edit.component == "topic":
        return deployment.topic
    if edit.component != "broker":
        return next((group for group in deployment.groups if _is_meant(group, edit)), None)
    return deployment.cluster[0] if deployment.cluster else None
