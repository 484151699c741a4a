"""The smallest change that helps and harms nothing: one way for every rule, and a fix is a claim too.

The values that a person would write are tried, in subsets by size and in a fixed order. A change is offered
only when the same question, asked again with the change made, is answered well, and no rule that was silent
finds something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ..context import Context, Outside
from ..model import Document, Edit, Fix, members_of
from .edits import Subject, changes_of, with_edits

EDITS_MAX = 3
# More candidates than a person would weigh are not tried: each costs asking every rule again.
CANDIDATES_MAX = 8


class Solved(NamedTuple):
    """A change after which the question is answered well. `condition`: where that depends on what is not in
    sight, when it is so. `advice`: further steps. `price`: what gets worse."""

    condition: str | None = None
    advice: tuple[str, ...] = ()
    price: str | None = None


class Problem(NamedTuple):
    """Something to fix. `solved(changed, surely)` asks again, and gives None where the change does not help;
    with `surely` also where that depends on what is not in sight. `verified` names what is asked again.
    `resorts` are tried where no edit helps, each with or without the others: brokers moved or upgraded."""

    edits: Sequence[Edit]
    solved: Callable[[Subject, bool], Solved | None]
    verified: str
    resorts: Sequence[Edit] = ()


class Remedy(NamedTuple):
    """A change that was tried, and what must be done for the parts of it that no file can hold."""

    edits: tuple[Edit, ...]
    fix: Fix
    advice: tuple[str, ...]


class SmallestChange:
    """`found(subject, besides)` gives the codes above note that any rule finds in it, one after another."""

    def __init__(self, context: Context, found: Callable[[Subject, frozenset[str]], Iterator[str]]) -> None:
        self._context, self._found = context, found
        self._before: dict[int, tuple[Subject, frozenset[str], tuple[Outside, ...]]] = {}

    def of(self, subject: Subject, problem: Problem) -> Remedy | None:
        """The first that helps for sure; else the first that leaves it to what is not in sight; else brokers
        are to be moved or upgraded."""
        perhaps: Remedy | None = None
        usual = problem.edits[:CANDIDATES_MAX]
        for chosen in _subsets(usual):
            remedy = self._tried(subject, problem, chosen, surely=perhaps is not None)
            if remedy is not None and remedy.fix.condition is None:
                return remedy
            perhaps = perhaps or remedy
        if perhaps is not None:
            return perhaps
        resorts = (chosen for chosen in _subsets([*problem.resorts, *usual]) if chosen[0] in problem.resorts)
        tried = (self._tried(subject, problem, chosen, surely=True) for chosen in resorts)
        return next((remedy for remedy in tried if remedy is not None), None)

    def _tried(
        self, subject: Subject, problem: Problem, chosen: Sequence[Edit], surely: bool
    ) -> Remedy | None:
        changed = self._made(subject, chosen)
        solved = problem.solved(changed, surely) if changed != subject else None
        if solved is None or any(self._found(changed, self._known(subject))):
            return None
        told = problem.verified
        if solved.condition is not None:
            told = told.removesuffix("holds") + solved.condition
        changes = changes_of(chosen, subject)
        fix = Fix(changes, (told,), solved.price, smallest=True, condition=solved.condition)
        commands = tuple(step_of(edit.command) for edit in chosen if edit.command is not None)
        return Remedy(tuple(chosen), fix, (*commands, *solved.advice))

    def _known(self, subject: Subject) -> frozenset[str]:
        known = self._before.get(id(subject))
        if known is None:
            start = len(self._context.outside)
            codes = frozenset(self._found(subject, frozenset()))
            known = self._before[id(subject)] = subject, codes, tuple(self._context.outside[start:])
        else:
            self._context.outside += known[2]
        return known[1]

    def _made(self, subject: Subject, chosen: Sequence[Edit]) -> Subject:
        changed = with_edits(subject, chosen)
        for now, original in zip(_documents(changed), _documents(subject), strict=True):
            self._context.stand_in(now, original)
        return changed


def _documents(subject: Subject) -> list[Document]:
    return [subject] if isinstance(subject, Document) else members_of(subject)


def _subsets(candidates: Sequence[Edit]) -> Iterator[tuple[Edit, ...]]:
    for size in range(1, EDITS_MAX + 1):
        for chosen in combinations(candidates, size):
            if len({(edit.component, edit.key or edit.field) for edit in chosen}) == size:
                yield chosen


def step_of(command: str) -> str:
    return f"run {command}" if command.startswith("kafka-") else command
