"""Whether a change harms: what any rule says of the changed subject, and what every deployment that shares a
document with it still stands. The cheapest are asked first, and the first harm is enough.

A rule above note that finds more than before is harm. So is a guarantee that gets worse in numbers, or that
can no longer be told; and a value that was raised on purpose, lowered without knowing what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ask.models import Models
from ...catalog import librdkafka, resolution_table
from ...context import Context, Judgement, Outside
from ...guard.calls import PluginError
from ...model import Deployment, Document, Edit, members_of
from ...packs.questions import ActiveRule
from ..rules.relevance import Relevance, Subject
from ..rules.rule_book import RuleBook

if TYPE_CHECKING:
    from ...ask.answers.neighbours import Neighbours
    from ...ask.policies import Decoded
    from ...ask.verdicts import Verdicts

Counts = Mapping[str, int]
NONE: Counts = {}


class Harm:
    """`searches` gives the verdicts of the search. `failed` is told of rules whose code broke."""

    def __init__(
        self,
        book: RuleBook,
        context: Context,
        relevance: Relevance,
        models: Models,
        searches: Callable[[], Verdicts],
        failed: Callable[[Sequence[ActiveRule], Subject, PluginError], None],
    ) -> None:
        self._book, self._context, self._relevance = book, context, relevance
        self._models, self._searches, self._failed = models, searches, failed
        self._neighbours_of: Neighbours | None = None
        self._decoded: dict[tuple[int, str], tuple[Deployment, Decoded | None]] = {}
        self._worse: dict[tuple[Any, ...], str | None] = {}
        self._hits: dict[int, tuple[Subject, Counts, tuple[Outside, ...]]] = {}
        self._read_as: dict[str, dict[str, set[str]]] = {}

    def of(
        self,
        subject: Subject,
        changed: Subject,
        edits: Sequence[Edit],
        fixed: Counts = NONE,
        works: bool = True,
    ) -> str | None:
        """Why the change is not to be made. `edits`: all of it, or what of it was not looked at before.
        `fixed`: findings that changes before it are there to fix, which must not come back. Not `works`:
        nothing goes as it is."""
        return next(self._reasons(subject, changed, edits, fixed, works), None)

    def costs(self, subject: Subject, changed: Subject) -> str | None:
        """What the change costs in numbers, here and elsewhere."""
        from ...fix.standing import costs

        told: list[str] = []
        if isinstance(subject, Deployment) and isinstance(changed, Deployment):
            for was, now in self._parts(subject, changed):
                told += costs(was, now, self._searches())
        for before, after in self._neighbours(subject, changed):
            topic, then = self._part(before, ""), self._part(after, "")
            found = costs(topic, then, self._searches()) if topic is not None and then is not None else []
            told += [f"in another deployment {one}" for one in found if one not in told]
        return "; ".join(dict.fromkeys(told)) or None

    def _reasons(
        self, subject: Subject, changed: Subject, edits: Sequence[Edit], fixed: Counts, works: bool
    ) -> Iterator[str]:
        yield from self._looked_at(subject, changed, edits, fixed, works)
        for before, after in self._neighbours(subject, changed):
            yield from self._still_stands(before, after, edits, works, NONE)
        if isinstance(subject, Deployment) and isinstance(changed, Deployment):
            yield from self._played(subject, changed, edits, fixed)

    def _looked_at(
        self, before: Subject, after: Subject, edits: Sequence[Edit], fixed: Counts, works: bool
    ) -> Iterator[str]:
        """What costs little: no clock runs."""
        yield from self._new_hits(before, after, fixed)
        if isinstance(before, Deployment) and isinstance(after, Deployment):
            yield from self._still_stands(before, after, edits, works, fixed)

    def _still_stands(
        self, before: Deployment, after: Deployment, edits: Sequence[Edit], works: bool, fixed: Counts
    ) -> Iterator[str]:
        from ...fix.raised_values import lowered_blindly

        reason = lowered_blindly(before, edits, works)
        if reason is not None:
            yield reason
        yield from self._searched(before, after, fixed)

    # The deployments that share what changes.

    def _neighbours(self, subject: Subject, changed: Subject) -> Iterator[tuple[Deployment, Deployment]]:
        """Each as it is, and as it would be."""
        context = self._context
        pairs = zip(_documents(subject), _documents(changed), strict=True)
        made = {id(context.original(was)): (was, now) for was, now in pairs if was is not now}
        own = [id(context.original(document)) for document in _documents(subject)]
        if self._neighbours_of is None:
            from ...ask.answers.neighbours import Neighbours

            self._neighbours_of = Neighbours(context)
        for home in self._neighbours_of.of([was for was, _ in made.values()]):
            if [id(one) for one in members_of(home)] == own:
                continue
            after = self._with_facts(_with(home, made), home, subject, changed)
            for now, original in zip(members_of(after), members_of(home), strict=True):
                context.stand_in(now, original)
            yield home, after

    def _with_facts(
        self, after: Deployment, home: Deployment, subject: Subject, changed: Subject
    ) -> Deployment:
        """What no file holds belongs to a topic or to a cluster, and changes for all that have it."""
        if not isinstance(subject, Deployment) or not isinstance(changed, Deployment):
            return after
        original = self._context.original
        mine = {"topic": subject.topic, "cluster": next(iter(subject.cluster), None)}
        theirs = {"topic": home.topic, "cluster": next(iter(home.cluster), None)}
        shared = {
            name
            for name, document in mine.items()
            if document is not None and original(document) is theirs[name]
        }
        new = [
            fact
            for fact in changed.facts
            if fact not in subject.facts and fact.name.partition(".")[0] in shared
        ]
        names = {fact.name for fact in new}
        facts = (*(fact for fact in after.facts if fact.name not in names), *new)
        version = changed.version if "cluster" in shared else after.version
        return after._replace(facts=facts, version=version)

    # Checks and conditions.

    def _new_hits(self, before: Subject, after: Subject, fixed: Counts) -> Iterator[str]:
        was, now = self._all_hits(before), self._all_hits(after)
        for code, count in now.items():
            if count > was.get(code, 0) - fixed.get(code, 0):
                yield f"it would introduce {code}"

    def _all_hits(self, subject: Subject) -> dict[str, int]:
        total = dict(self._hits_of(subject))
        for document in members_of(subject) if isinstance(subject, Deployment) else ():
            for code, count in self._hits_of(document).items():
                total[code] = total.get(code, 0) + count
        return total

    def _hits_of(self, subject: Subject) -> Counts:
        """Asked once: a change leaves most documents of a deployment as they are."""
        known = self._hits.get(id(subject))
        if known is None:
            start = len(self._context.outside)
            counted = self._counted(subject)
            known = self._hits[id(subject)] = subject, counted, tuple(self._context.outside[start:])
        else:
            self._context.outside += known[2]
        return known[1]

    def _counted(self, subject: Subject) -> Counts:
        found: dict[str, int] = {}
        present = tuple(document.component for document in _documents(subject))
        for check in self._book.every_check:
            if isinstance(subject, Document) == check.per_deployment or check.skips(present):
                continue
            try:
                hits = [*check.ask(subject, self._context.asking(check.question))]
            except PluginError as error:  # a fix of another rule is not held against it
                self._failed(check.rules_asked, subject, error)
                continue
            for hit in hits:
                for one in check.rules_of(hit):
                    serious = (hit.severity or one.severity) != "note"
                    if serious and self._relevance.applies(one.rule, subject):
                        found[one.rule.code] = found.get(one.rule.code, 0) + 1
        return found

    # Guarantees that are searched.

    def _searched(self, before: Deployment, after: Deployment, fixed: Counts) -> Iterator[str]:
        """A pair of behaviours is asked once: many deployments have them."""
        from ...ask.answers.neighbours import behaviour_of
        from ...ask.judge import judge
        from ...fix.standing import worse

        verdicts = self._searches()
        for asked in self._relevance.serious_guarantees_of(before):
            question = asked.question
            if self._models.answers(question.guarantee):
                continue
            was, now = self._part(before, question.part), self._part(after, question.part)
            if now is not None and fixed.get(question.rule):
                outcome = judge(question, now, verdicts, explained=False)
                if outcome is not None and outcome.verdict == "broken":
                    yield f"it would undo the fix of {question.rule}"
                continue
            if now is None or was is now:
                continue
            mark = question.rule, None if was is None else behaviour_of(was), behaviour_of(now)
            if mark not in self._worse:
                self._worse[mark] = worse(question, was, now, verdicts)
            reason = self._worse[mark]
            if reason is not None:
                yield reason

    def _part(self, deployment: Deployment, part: str) -> Decoded | None:
        """The topic, or the internal topic that the part of a question names."""
        from ...ask.policies import INTERNAL, decode, decode_internal

        part = part if part in INTERNAL else ""
        known = self._decoded.get((id(deployment), part))
        if known is None:
            found = decode_internal(deployment, part) if part else decode(deployment)
            known = self._decoded[id(deployment), part] = deployment, found
        return known[1]

    def _parts(self, before: Deployment, after: Deployment) -> Iterator[tuple[Decoded, Decoded]]:
        """The topic, and the internal topics that rules ask about."""
        for part in sorted(
            {one.question.part for one in self._relevance.serious_guarantees_of(before)} | {""}
        ):
            was, now = self._part(before, part), self._part(after, part)
            if was is not None and now is not None:
                yield was, now

    # Guarantees that a model plays.

    def _played(
        self, before: Deployment, after: Deployment, edits: Sequence[Edit], fixed: Counts
    ) -> Iterator[str]:
        touched = self._touched(before, edits)
        self._models.hold(before)
        for asked in self._relevance.serious_guarantees_of(before):
            question = asked.question
            if not self._models.answers(question.guarantee):
                continue
            try:
                was = self._models.judge(question, before, self._context)
                read = self._models.keys_read(question, before)
                if touched is not None and read is not None and touched.isdisjoint(read):
                    continue
                if _number(was, "broken") and not fixed.get(question.rule):
                    continue  # it cannot get worse, and playing it again costs most
                now = self._models.judge(question, after, self._context)
            except PluginError as error:
                self._failed([asked], before, error)
                continue
            if _number(now, "broken") > _number(was, "broken") - fixed.get(question.rule, 0):
                yield f"it would introduce {question.rule}"
            elif _number(now, "unknown") > _number(was, "unknown") and _number(now, "holds") < _number(
                was, "holds"
            ):
                yield f"it could then not be told whether {question.rule} holds"

    def _touched(self, deployment: Deployment, edits: Sequence[Edit]) -> set[str] | None:
        """The keys that change, under every name that they are read by; None where more than keys do."""
        if deployment.version not in self._read_as:
            table: dict[str, set[str]] = {}
            for (_, key), found in resolution_table(deployment.version).items():
                for _, name, _ in found.sources:
                    table.setdefault(name, set()).add(key)
            self._read_as[deployment.version] = table
        touched: set[str] = set()
        for edit in edits:
            # What groups are made of is read once for all of their rules, so that no rule is known by it.
            if edit.key is None or edit.component not in ("producer", "topic"):
                return None
            known = librdkafka(edit.key)
            names = {edit.key, *([known.alias_of] if known is not None and known.alias_of else [])}
            # Streams and Connect hand a client its settings under a prefix.
            names |= {edit.key.partition(".")[2], edit.key.split("override.")[-1]}
            for name in names:
                touched |= {name, *self._read_as[deployment.version].get(name, ())}
        return touched


def _documents(subject: Subject) -> list[Document]:
    return [subject] if isinstance(subject, Document) else members_of(subject)


def _number(judgements: Sequence[Judgement], verdict: str) -> int:
    return sum(one.verdict == verdict for one in judgements)


def _with(home: Deployment, made: Mapping[int, tuple[Document, Document]]) -> Deployment:
    """The deployment with its own documents changed as those of another subject are."""

    def changed(document: Document) -> Document:
        if id(document) not in made:
            return document
        was, now = made[id(document)]
        gone = {one.key for one in was.settings} - {one.key for one in now.settings}
        new = [one for one in now.settings if one not in was.settings]
        over = gone | {one.key for one in new}
        kept = (one for one in document.settings if one.key not in over)
        return document._replace(settings=(*kept, *new))

    producer, topic = home.producer, home.topic
    return home._replace(
        producer=None if producer is None else changed(producer),
        topic=None if topic is None else changed(topic),
        cluster=tuple(map(changed, home.cluster)),
        groups=tuple(map(changed, home.groups)),
    )
