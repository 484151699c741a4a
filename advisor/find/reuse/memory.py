"""What the rules answered, kept while `fix` tries changes: only what a change touches is asked again.

An answer is kept under the content of all that it depends on: the subject's documents, their versions and
profiles, and what was read of other deployments while it was asked. Nothing is kept by name or by place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...catalog import Version
from ...context import Context, Outside
from ...join.profiles import Profile
from ...model import Deployment, Document, members_of
from ...packs.pack import Rule
from ...read.project import Project
from ...tuples import NamedTuple

if TYPE_CHECKING:
    from ..guarantees import Guaranteed

T = TypeVar("T")


class _Answer(NamedTuple):
    outside: tuple[Outside, ...]
    value: Any


class Memory:
    """The answers about one root."""

    def __init__(self) -> None:
        self.guaranteed: Guaranteed | None = None
        self._numbers: dict[Document, int] = {}
        # The document itself is held, so that its id stays its own.
        self._seen: dict[int, tuple[Document, int]] = {}
        self._answers: dict[tuple[Any, ...], list[_Answer]] = {}

    def number(self, document: Document) -> int:
        """The same for documents of the same content."""
        seen = self._seen.get(id(document))
        if seen is None:
            try:
                number = self._numbers.setdefault(document, len(self._numbers))
            except TypeError:  # a plugin's document that holds a list: it is like no other
                number = -1 - len(self._seen)
            seen = self._seen[id(document)] = document, number
        return seen[1]

    def recall(self, key: tuple[Any, ...], now: Run, compute: Callable[[], T]) -> T:
        """The answer that was given under this key when other deployments were as they are now."""
        context = now.context
        for kept in self._answers.get(key, ()):
            if all(now.is_so(outside) for outside in kept.outside):
                context.outside += kept.outside
                found: T = kept.value
                return found
        start = len(context.outside)
        value = compute()
        self._answers.setdefault(key, []).append(_Answer(tuple(context.outside[start:]), value))
        return value


class Memories:
    """One Memory a root. Another project file or other rules make it another root."""

    def __init__(self) -> None:
        self._roots: list[tuple[str, Project, Sequence[Rule], Memory]] = []

    def of(self, prefix: str, project: Project, rules: Sequence[Rule]) -> Memory:
        for known, its_project, its_rules, memory in self._roots:
            if known == prefix and its_project == project and its_rules == rules:
                return memory
        self._roots.append((prefix, project, rules, Memory()))
        return self._roots[-1][3]


class Run:
    """One audit of a root that has a Memory: who belongs where in it."""

    def __init__(
        self,
        memory: Memory,
        context: Context,
        documents: Sequence[Document],
        versions: Mapping[int, Version],
        profiles: Mapping[str, Profile],
    ) -> None:
        self.memory, self.context = memory, context
        self._versions, self._profiles = versions, profiles
        self._documents = {memory.number(document): document for document in documents}
        self._views: dict[int, tuple[Any, ...]] = {}

    def recall(self, kind: object, subject: Document | Deployment, compute: Callable[[], T]) -> T:
        return self.memory.recall((kind, *self._key(subject)), self, compute)

    def is_so(self, outside: Outside) -> bool:
        document = self._documents.get(self.memory.number(outside.document))
        return document is not None and self.context.look_outside(document, outside.read) == outside.value

    def _key(self, subject: Document | Deployment) -> tuple[Any, ...]:
        if isinstance(subject, Document):
            return self._view(subject)
        members = members_of(subject)
        return (
            subject.id,
            subject.version,
            subject.facts,
            subject.joined_by,
            (subject.producer is None, subject.topic is None, len(subject.cluster)),
            self._profiles[subject.id].name,
            tuple([self._view(document) for document in members]),
        )

    def _view(self, document: Document) -> tuple[Any, ...]:
        """A document with what the rules know of where it belongs."""
        view = self._views.get(id(document))
        if view is None:
            homes = self.context.homes_of(document)
            view = self._views[id(document)] = (
                self.memory.number(document),
                self._versions[id(document)],
                frozenset([self._profiles[home.id].name for home in homes]),
                homes[0].id if len(homes) == 1 else len(homes) > 1,
            )
        return view
