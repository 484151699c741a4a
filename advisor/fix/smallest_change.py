"""The smallest change that helps and harms nothing: one way for every rule, and a fix is a claim too.

The values that a person would write are tried, in subsets by size and in a fixed order. A change is offered
only when the same question, asked again with the change made, is answered well, and nobody is harmed: alone,
and together with the changes that are offered for other findings of the same subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from ..context import Context
from ..model import ADVICE, REVIEW, SAFE, Deployment, Document, Edit, Fix, members_of
from ..tuples import NamedTuple
from .edits import Subject, changes_of, with_edits
from .levels import at_brokers

EDITS_MAX = 3
# More candidates than a person would weigh are not tried: each costs asking every rule again.
CANDIDATES_MAX = 8

# `(subject, changed, edits, findings that must not come back, whether it works now)`: why not, or None.
HarmOf = Callable[[Subject, Subject, Sequence[Edit], Mapping[str, int], bool], str | None]
CostsOf = Callable[[Subject, Subject], str | None]


class Solved(NamedTuple):
    """A change after which the question is answered well. `condition`: where that depends on what is not in
    sight, when it is so. `advice`: further steps."""

    condition: str | None = None
    advice: tuple[str, ...] = ()


class Problem(NamedTuple):
    """Something to fix. `solved(changed, surely)` asks again, and gives None where the change does not help;
    with `surely` also where that depends on what is not in sight. `verified` names what is asked again.
    `resorts` are tried where no edit helps, each with or without the others: brokers moved or upgraded.
    `companions` solve nothing, but may make good what an edit would harm: idempotence beside acks=all.
    `code`, `severity` and `safety` are those of the rule that found it."""

    edits: Sequence[Edit]
    solved: Callable[[Subject, bool], Solved | None]
    verified: str
    resorts: Sequence[Edit] = ()
    companions: Sequence[Edit] = ()
    code: str = ""
    severity: str = "warning"
    safety: str = SAFE


class Remedy(NamedTuple):
    """A change that was tried, and what must be done for the parts of it that no file can hold."""

    edits: tuple[Edit, ...]
    fix: Fix
    advice: tuple[str, ...]


class Sought(NamedTuple):
    """What was found, or why what would help is not offered; empty if nothing would."""

    remedy: Remedy | None
    refused: str = ""


class _Plan(NamedTuple):
    """The changes offered for findings of one subject so far, and how many of each code they fix."""

    subject: Subject | None
    remedies: tuple[Remedy, ...] = ()
    fixed: Mapping[str, int] = {}

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(dict.fromkeys(edit for remedy in self.remedies for edit in remedy.edits))


class SmallestChange:
    def __init__(
        self, context: Context, harm: HarmOf, costs: CostsOf = lambda subject, changed: None
    ) -> None:
        self._context, self._harm, self._costs = context, harm, costs
        self._plan = _Plan(None)
        self._refused = ""
        # What would help and would harm, in the order in which it was tried.
        self._harmful: list[tuple[Edit, ...]] = []

    def of(self, subject: Subject, problem: Problem) -> Sought:
        if self._plan.subject is not subject:
            self._plan = _Plan(subject)
        self._refused, self._harmful = "", []
        remedy = self._found(subject, problem)
        if remedy is None:
            return Sought(None, self._refused)
        if problem.severity != "note":
            # What only a note wants binds nobody.
            fixed = {**self._plan.fixed, problem.code: self._plan.fixed.get(problem.code, 0) + 1}
            self._plan = _Plan(subject, (*self._plan.remedies, remedy), fixed)
        return Sought(remedy)

    def _found(self, subject: Subject, problem: Problem) -> Remedy | None:
        """The first that helps for sure; else the first that leaves it to what is not in sight; else brokers
        are to be moved or upgraded. What all topics inherit is changed at the brokers, if that is no harm."""
        perhaps: Remedy | None = None
        usual, resorts = list(problem.edits[:CANDIDATES_MAX]), problem.resorts
        if problem.severity == "note":
            # Nobody moves replicas or upgrades brokers for a note.
            usual, resorts = [edit for edit in usual if edit.key is not None], ()
        lifted = at_brokers(usual, subject, self._context) if isinstance(subject, Deployment) else None
        for edits in (lifted, usual) if lifted is not None else (usual,):
            for chosen in _subsets(edits):
                remedy = self._tried(subject, problem, chosen, surely=perhaps is not None)
                if remedy is not None and remedy.fix.condition is None:
                    return remedy
                perhaps = perhaps or remedy
        if perhaps is None and problem.companions:
            perhaps = self._accompanied(subject, problem)
        if perhaps is not None:
            return perhaps
        for planned in self._plan.remedies:
            # A part of it may harm where the whole does not.
            solved = problem.solved(self._made(subject, planned.edits), True)
            if solved is not None:
                verified = (*planned.fix.verified, problem.verified)
                return planned._replace(fix=planned.fix._replace(verified=verified))
        last = (chosen for chosen in _subsets([*resorts, *usual]) if chosen[0] in resorts)
        tried = (self._tried(subject, problem, chosen, surely=True) for chosen in last)
        return next((remedy for remedy in tried if remedy is not None), None)

    def _accompanied(self, subject: Subject, problem: Problem) -> Remedy | None:
        """What would help but harm, with what makes that good."""
        for chosen in tuple(self._harmful):
            for more in _subsets(problem.companions):
                remedy = self._tried(subject, problem, (*chosen, *more), surely=True)
                if remedy is not None:
                    return remedy
        return None

    def _tried(
        self, subject: Subject, problem: Problem, chosen: Sequence[Edit], surely: bool
    ) -> Remedy | None:
        changed = self._made(subject, chosen)
        solved = problem.solved(changed, surely) if changed != subject else None
        if solved is None:
            return None
        reason = self._harm(subject, changed, chosen, {}, problem.severity != "error")
        reason = reason or self._clash(subject, problem, chosen, solved)
        if reason is not None:
            self._refused = self._refused or f"{_shown(chosen)}: {reason}"
            self._harmful.append(tuple(chosen))
            return None
        told = problem.verified
        if solved.condition is not None:
            told = told.removesuffix("holds") + solved.condition
        fix = Fix(
            changes_of(chosen, subject),
            (told,),
            self._costs(subject, changed),
            smallest=True,
            condition=solved.condition,
            safety=_safety(chosen, problem.safety),
        )
        commands = tuple(step_of(edit.command) for edit in chosen if edit.command is not None)
        return Remedy(tuple(chosen), fix, (*commands, *solved.advice))

    def _clash(
        self, subject: Subject, problem: Problem, chosen: Sequence[Edit], solved: Solved
    ) -> str | None:
        """Why it does not go together with what is offered already."""
        made = self._plan.edits
        if not made or all(edit in made for edit in chosen):
            return None
        places = {_place(edit): edit.value for edit in made}
        if any(places.get(_place(edit), edit.value) != edit.value for edit in chosen):
            return f"it contradicts the fix of {', '.join(sorted(self._plan.fixed))}"
        both = (*made, *(edit for edit in chosen if edit not in made))
        changed = self._made(subject, both)
        if problem.solved(changed, solved.condition is None) is None:
            return f"it does not help beside the fix of {', '.join(sorted(self._plan.fixed))}"
        return self._harm(subject, changed, chosen, self._plan.fixed, problem.severity != "error")

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
            if len({_place(edit) for edit in chosen}) == size:
                yield chosen


def _place(edit: Edit) -> tuple[str, str, tuple[str, str] | None]:
    return edit.component, edit.key or edit.field, edit.of


def _safety(chosen: Sequence[Edit], of_rule: str) -> str:
    """As careful as its most careful part. What no file can hold is advice."""
    order = (SAFE, REVIEW, ADVICE)
    told = [ADVICE if edit.key is None else edit.safety or of_rule for edit in chosen]
    return max(told, key=order.index)


def _shown(chosen: Sequence[Edit]) -> str:
    return "; ".join(
        f"remove {edit.key}" if edit.value is None else f"{edit.key or edit.field}={edit.value}"
        for edit in chosen
    )


def step_of(command: str) -> str:
    return f"run {command}" if command.startswith("kafka-") else command
