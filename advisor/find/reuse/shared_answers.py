"""Of many subjects, those that differ in names alone are asked once: under words that stand for any name
(`shapes`), and what is answered is told to each of them under its own.

An answer is not shared if it read more of other deployments than `Surroundings` tells, or if code of a
plugin, which may make something of any name, had a part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ...ask.answers.neighbours import kind_of
from ...ask.answers.surroundings import Surroundings, are_all
from ...context import Context
from ...guard.calls import calls_made
from ...join.profiles import Profile
from ...memo.cache import digest
from ...model import Deployment, Document, Finding, members_of
from ...packs.conditions import compile_condition
from ...packs.pack import Rule
from ...read.stand_ins import Hidden, Told, told
from ...registry import is_foreign
from ...tuples import NamedTuple
from ..rules.choice import Check
from . import outcomes
from .outcomes import Answers
from .shapes import Shape, Shapes

T = TypeVar("T")
Subject = Document | Deployment
Answered = tuple[Sequence[Finding], Answers | None]


class _Known(NamedTuple):
    """What a check finds in any subject of a shape; None if each must be asked itself."""

    number: int
    check: Check
    found: Told | None


class SharedAnswers:
    """The answers of one audit. `profiles` and `present` learn of subjects that stand for others."""

    def __init__(
        self,
        rules: Sequence[Rule],
        params: Iterable[Mapping[str, Any]],
        context: Context,
        profiles: dict[str, Profile],
        present: dict[str, tuple[str, ...]],
    ) -> None:
        self._context = context
        self._profiles, self._present = profiles, present
        self._shapes = Shapes(_read_by_conditions(rules), context.version_of)
        self._surroundings = Surroundings([*(rule.params for rule in rules), *params], context)
        # Families whose own check is a plugin's.
        self._foreign = {name for name, spec in context.clients.items() if is_foreign(spec.refused or "")}
        self._found: dict[tuple[Any, ...], list[_Known]] = {}
        self._answers: dict[tuple[Any, ...], Told | None] = {}
        self._homes: dict[int, str] = {}
        self._around: dict[int, tuple[str, ...]] = {}
        self._kinds: dict[tuple[Any, ...], str] = {}
        self._shape_of: dict[int, tuple[Subject, Shape | None]] = {}

    def home_of(self, document: Document) -> str | None:
        """What stands for the only deployment of a document that stands for others."""
        return self._homes.get(id(document))

    # Checks.

    def found_about(
        self,
        subject: Subject,
        checks: Sequence[tuple[int, Check]],
        ask: Callable[[Check, Subject], list[Finding]],
        may_keep: Callable[[Sequence[Finding]], bool],
        mark: str,
    ) -> list[tuple[int, Finding]]:
        """`mark`: all that what is found depends on besides the subject and the program."""
        shape = self._shape(subject)
        if shape is None:
            return [(number, finding) for number, check in checks for finding in ask(check, subject)]
        known = self._found.get(shape.key)
        if known is None:
            known = self._found[shape.key] = self._known(subject, shape, checks, ask, may_keep, mark)
        return [
            (number, finding)
            for number, check, found in known
            for finding in (ask(check, subject) if found is None else found.under(shape.names))
        ]

    def _known(
        self,
        subject: Subject,
        shape: Shape,
        checks: Sequence[tuple[int, Check]],
        ask: Callable[[Check, Subject], list[Finding]],
        may_keep: Callable[[Sequence[Finding]], bool],
        mark: str,
    ) -> list[_Known]:
        made = self._stand_in(subject, shape)
        if made is None:
            return [_Known(number, check, None) for number, check in checks]
        stand_in, words = made
        found: dict[int, tuple[Finding, ...] | None] = {}

        def asked() -> Any:
            for number, check in checks:
                findings, may_share = self._watched(ask, check, stand_in) if check.ours else ([], False)
                if findings or not may_share:
                    found[number] = tuple(findings) if may_share else None
            told = [finding for findings in found.values() for finding in findings or ()]
            if not may_keep(told):
                raise outcomes.NotKept(())
            return [
                [number, None if findings is None else outcomes.as_json(findings, {})]
                for number, findings in found.items()
            ]

        try:
            if len(self._found) < outcomes.SHAPES_MAX:
                kept = self._context.remember(
                    "checks", self._whole_mark(subject, stand_in, shape, mark), asked
                )
                found = {
                    number: None if value is None else outcomes.from_json(value)[0] for number, value in kept
                }
            else:
                asked()
        except outcomes.NotKept:
            pass
        except (KeyError, TypeError, ValueError):  # somebody else's writing in the cache
            return [_Known(number, check, None) for number, check in checks]
        return [
            _Known(number, check, None if found[number] is None else _told(found[number], words))
            for number, check in checks
            if number in found
        ]

    def _whole_mark(self, subject: Subject, stand_in: Subject, shape: Shape, mark: str) -> str:
        versions = [self._context.version_of(part).asked for part in outcomes.documents_of(subject)]
        return outcomes.mark_among([stand_in], f"{mark}{shape.key[1:]!r}{versions!r}")

    # Guarantees.

    def answers_about(
        self,
        deployment: Deployment,
        ask: Callable[[Deployment], Answered],
        may_keep: Callable[[Sequence[Finding]], bool],
        mark: str,
    ) -> Answered:
        """`mark`: all that the answers depend on besides the deployment and the program."""
        shape = self._shape(deployment)
        if shape is None:
            return ask(deployment)
        if shape.key not in self._answers:
            self._answers[shape.key] = self._answers_to_all(deployment, shape, ask, may_keep, mark)
        known = self._answers[shape.key]
        if known is None:
            return ask(deployment)
        answers, found = known.under(shape.names)
        return found, None if answers is None else Answers(*answers)

    def _answers_to_all(
        self,
        deployment: Deployment,
        shape: Shape,
        ask: Callable[[Deployment], Answered],
        may_keep: Callable[[Sequence[Finding]], bool],
        mark: str,
    ) -> Told | None:
        """What the rules answer for any deployment of this shape; None if each must be asked itself."""
        made = self._stand_in(deployment, shape)
        if made is None:
            return None
        subject, words = made
        assert isinstance(subject, Deployment)
        may_share = True

        def asked() -> Any:
            nonlocal may_share
            (found, answers), may_share = self._watched(ask, subject)
            found = tuple(found)
            if not may_share or not may_keep(found):
                raise outcomes.NotKept(found, answers)
            try:
                return outcomes.as_json(found, {} if answers is None else {subject.id: answers})
            except outcomes.NotKept:
                raise outcomes.NotKept(found, answers) from None

        try:
            if len(self._answers) < outcomes.SHAPES_MAX:
                whole = self._whole_mark(deployment, subject, shape, mark)
                value = self._context.remember("guarantees", whole, asked)
            else:
                value = asked()
            found, known = outcomes.from_json(value)
            answers = known.get(subject.id)
        except outcomes.NotKept as error:
            found, answers = error.findings, error.answers
        except (KeyError, TypeError, ValueError):  # somebody else's writing in the cache
            return None
        if not may_share:
            return None
        return _told((None if answers is None else tuple(answers), found), words)

    # Subjects that stand for others.

    def _shape(self, subject: Subject) -> Shape | None:
        """Worked out once: checks and guarantees ask about the same deployments."""
        known = self._shape_of.get(id(subject))
        # One that was made for a question may be gone, and another have its number.
        if known is None or known[0] is not subject:
            known = self._shape_of[id(subject)] = subject, self._worked_out(subject)
        return known[1]

    def _worked_out(self, subject: Subject) -> Shape | None:
        if isinstance(subject, Deployment):
            if self._foreign and any(document.client in self._foreign for document in members_of(subject)):
                return None
            around = self._surroundings.of(subject), self._shared_with(members_of(subject))
            return self._shapes.of_deployment(subject, (self._profiles[subject.id].name, *around))
        if subject.client in self._foreign:
            return None
        homes = self._context.homes_of(subject)
        profiles = frozenset([self._profiles[home.id].name for home in homes])
        alone = len(homes) == 1
        about = profiles, alone, self._shared_with([subject])
        return self._shapes.of_document(subject, about, homes[0].id if alone else "-")

    def _shared_with(self, documents: Sequence[Document]) -> tuple[object, ...]:
        """What a fix may harm besides: the kinds of all deployments of each document that has several, in an
        order that is the same in every audit."""
        return tuple([self._kinds_around(document) for document in documents])

    def _kinds_around(self, document: Document) -> tuple[str, ...]:
        known = self._around.get(id(document))
        if known is None:
            homes = self._context.homes_of(document)
            found = {self._kind(home) for home in homes} if len(homes) > 1 else ()
            known = self._around[id(document)] = tuple(sorted(found))
        return known

    def _kind(self, deployment: Deployment) -> str:
        """Worked out once for all that differ in names alone."""
        profile = self._profiles[deployment.id].name
        shape = self._shapes.of_deployment(deployment, profile)
        known = self._kinds.get(shape.key)
        if known is None:
            known = self._kinds[shape.key] = digest(repr((profile, kind_of(deployment))).encode())
        return known

    def _stand_in(self, subject: Subject, shape: Shape) -> tuple[Subject, list[str]] | None:
        made = self._shapes.stand_in(subject, shape)
        if made is None:
            return None
        stand_in, words = made
        if isinstance(subject, Deployment):
            for changed, original in zip(members_of(stand_in), members_of(subject), strict=True):
                self._context.stand_in(changed, original)
            self._profiles[stand_in.id] = self._profiles[subject.id]
            self._present[stand_in.id] = self._present[subject.id]
        else:
            self._context.stand_in(stand_in, subject)
            if len(self._context.homes_of(subject)) == 1:
                self._homes[id(stand_in)] = words[0]
        return stand_in, words

    def _watched(self, ask: Callable[..., T], *given: Any) -> tuple[T, bool]:
        """What is answered, and whether it may be told of others."""
        outside, calls = self._context.outside, calls_made()
        start = len(outside)
        value = ask(*given)
        return value, are_all(outside[start:]) and calls_made() == calls


def _told(value: Any, words: Sequence[str]) -> Told | None:
    try:
        return told(value, words)
    except Hidden:
        return None


def _read_by_conditions(rules: Iterable[Rule]) -> set[str]:
    conditions = [compile_condition(rule.when) for rule in rules if rule.when]
    return {name.partition(".")[2] for condition in conditions for name in condition.reads}
