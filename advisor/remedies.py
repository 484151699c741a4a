"""A fix for what is no question of the search: the values a rule would try, tried.

As everywhere a fix is a claim: the same rule is asked again of what the change makes, and nothing that was
silent may be found in it. The smallest set of edits that passes is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from .context import Context, Outside
from .fix import EDITS_MAX, change_in, change_of, step_of
from .model import Change, Deployment, Document, Edit, Fix, members_of
from .turning import edited, turned

Subject = Document | Deployment
# More candidates than a person would weigh are not tried: each costs asking every rule again.
CANDIDATES_MAX = 8


class Remedy(NamedTuple):
    """A change that was tried, and what must be run for the parts of it that no file can hold."""

    fix: Fix
    commands: tuple[str, ...]


class Remedies:
    """`found(subject)` gives the codes above note that any rule finds in it."""

    def __init__(self, context: Context, found: Callable[[Subject], frozenset[str]]) -> None:
        self._context, self._found = context, found
        self._before: dict[int, tuple[Subject, frozenset[str], tuple[Outside, ...]]] = {}

    def smallest(
        self, subject: Subject, edits: Sequence[Edit], still: Callable[[Subject], bool], verified: str
    ) -> Remedy | None:
        """The smallest change after which `still` is false and nothing new is found."""
        candidates = edits[:CANDIDATES_MAX]
        for size in range(1, EDITS_MAX + 1):
            for chosen in combinations(candidates, size):
                if len({(edit.component, edit.key or edit.field) for edit in chosen}) < size:
                    continue
                changed = self._made(subject, chosen)
                if changed == subject or still(changed):
                    continue
                if self._found(changed) <= self._known(subject):
                    commands = tuple(step_of(edit.command) for edit in chosen if edit.command is not None)
                    return Remedy(Fix(_changes(chosen, subject), (verified,), smallest=True), commands)
        return None

    def _known(self, subject: Subject) -> frozenset[str]:
        known = self._before.get(id(subject))
        if known is None:
            start = len(self._context.outside)
            codes = self._found(subject)
            known = self._before[id(subject)] = subject, codes, tuple(self._context.outside[start:])
        else:
            self._context.outside += known[2]
        return known[1]

    def _made(self, subject: Subject, chosen: Sequence[Edit]) -> Subject:
        if isinstance(subject, Document):
            document = subject
            for edit in chosen:
                document = edited(document, edit)
            self._context.stand_in(document, subject)
            return document
        deployment = subject
        for edit in chosen:
            deployment = turned(deployment, edit)
        for changed, original in zip(members_of(deployment), members_of(subject), strict=True):
            self._context.stand_in(changed, original)
        return deployment


def _changes(chosen: Sequence[Edit], subject: Subject) -> tuple[Change, ...]:
    if isinstance(subject, Document):
        return tuple(change_in(edit, subject) for edit in chosen)
    return tuple(change_of(edit, subject) for edit in chosen)
