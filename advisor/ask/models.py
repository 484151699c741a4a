"""The models (clock, log, groups, sizes) that answer a guarantee for a deployment."""

from __future__ import annotations

from collections.abc import Iterable

from ..context import Context, Judgement, Outside, Question
from ..hookspecs import ModelSpec
from ..join.asked_keys import note, noted_in
from ..model import Deployment
from ..registry import function
from ..tuples import NamedTuple

# Of so many deployments the answers are held at a time.
_HELD_MAX = 64


class Models:
    """The models by the guarantee they answer; each is imported when a rule asks it."""

    def __init__(self, models: Iterable[ModelSpec]) -> None:
        self._functions = {spec.name: spec.function for spec in models if spec.kind == "guarantee"}
        # What a fix must not make worse is held against the answers before it, and only what reads a key that
        # it changes is asked again.
        self._held: dict[int, tuple[Deployment, dict[str, _Answer]]] = {}

    def answers(self, guarantee: str | None) -> bool:
        return guarantee in self._functions

    @property
    def functions(self) -> list[str]:
        return sorted(self._functions.values())

    def hold(self, deployment: Deployment) -> None:
        """From now on each rule judges this deployment once."""
        if id(deployment) not in self._held:
            if len(self._held) >= _HELD_MAX:
                del self._held[next(iter(self._held))]
            self._held[id(deployment)] = deployment, {}

    def judge(self, question: Question, deployment: Deployment, context: Context) -> tuple[Judgement, ...]:
        held = self._held.get(id(deployment))
        if held is None:
            return self._judged(question, deployment, context)
        found = held[1].get(question.rule)
        if found is None:
            keys: set[str] = set()
            start = len(context.outside)
            with noted_in(keys):
                judgements = self._judged(question, deployment, context)
            for key in keys:
                note(key)
            found = _Answer(judgements, frozenset(keys), tuple(context.outside[start:]))
            held[1][question.rule] = found
        else:
            context.outside += found.outside
        return found.judgements

    def keys_read(self, question: Question, deployment: Deployment) -> frozenset[str] | None:
        """The keys that the answer about a held deployment came from; None if it was not asked."""
        held = self._held.get(id(deployment))
        found = held[1].get(question.rule) if held is not None else None
        return None if found is None else found.keys

    def _judged(self, question: Question, deployment: Deployment, context: Context) -> tuple[Judgement, ...]:
        code = function(self._functions[question.guarantee], "judgements")
        return tuple(code(deployment, context.asking(question)))


class _Answer(NamedTuple):
    judgements: tuple[Judgement, ...]
    keys: frozenset[str]
    outside: tuple[Outside, ...]
