"""A rule's `when` asked of one subject: a hit where the condition is surely true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...context import Context, Hit
from ...join.reader import Reader, read_alone
from ...model import Deployment, Document, Location, Setting, Value, members_of
from ...packs.conditions import Condition


def per_deployment(condition: Condition) -> bool:
    """A condition on one component is asked of each such document; one that joins several, or reads facts
    or the workload, of each deployment."""
    heads = {name.partition(".")[0] for name in condition.reads} - {"param"}
    return len(heads) != 1 or not heads.isdisjoint({"fact", "workload"})


def hits_of(condition: Condition) -> Callable[[Document | Deployment, Context], Iterable[Hit]]:
    heads = {name.partition(".")[0] for name in condition.reads}
    return lambda subject, context: _ask_condition(condition, heads, subject, context)


def _ask_condition(
    condition: Condition, heads: set[str], subject: Document | Deployment, context: Context
) -> Iterable[Hit]:
    if isinstance(subject, Document):
        if subject.component not in heads:
            return
        reader = read_alone(subject, context.version_of(subject), context.clients)
        fields = {subject.component: subject.name}
        at = Location(subject.file, subject.line)
    else:
        members = members_of(subject)
        fields = {document.component: document.name for document in reversed(members)}
        if not heads <= {*fields, "fact", "workload", "param"}:
            return  # a side that is not in sight is not guessed
        reader = Reader(subject, context.clients)
        at = Location(members[0].file, members[0].line)

    def get(name: str) -> tuple[Value | None, bool]:
        return reader.named(name, context.params)

    if condition.test(get) is not True:
        return
    shown: list[tuple[str, Setting]] = []
    for name in condition.reads:
        component, _, key = name.partition(".")
        value, _ = get(name)
        fields[name] = str(value) if value is not None else "unset"
        if component not in ("fact", "workload", "param"):
            found, _ = reader.in_force(component, key)
            if found is not None:
                shown.append((component, found))
    places = _places(condition.reads, subject, shown)
    names = [name.partition(".") for name in condition.reads]
    keys = tuple(key for head, _, key in names if head not in ("fact", "workload", "param"))
    yield Hit(places[0] if places else at, keys, fields, tuple(shown), also_at=tuple(places[1:]))


def _places(
    reads: Sequence[str], subject: Document | Deployment, shown: Sequence[tuple[str, Setting]]
) -> list[Location]:
    """Where to look first: at a fact of the topic (its replication factor), then at settings, then at facts
    of the cluster."""
    wanted = {name.partition(".")[2] for name in reads if name.startswith("fact.")}
    facts = [fact for fact in subject.facts if fact.name.partition(".")[2] in wanted]
    facts.sort(key=lambda fact: not fact.name.startswith("topic."))
    topics = [fact.origin.at for fact in facts if fact.name.startswith("topic.")]
    others = [fact.origin.at for fact in facts if not fact.name.startswith("topic.")]
    found = [*topics, *(setting.origin.at for _, setting in shown), *others]
    return list(dict.fromkeys(at for at in found if at is not None))
