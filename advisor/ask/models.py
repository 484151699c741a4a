"""The models (clock, log, groups, sizes) that answer a guarantee for a deployment."""

from __future__ import annotations

from collections.abc import Iterable

from ..context import Context, Judgement, Question
from ..hookspecs import ModelSpec
from ..model import Deployment
from ..registry import function


class Models:
    """The models by the guarantee they answer; each is imported when a rule asks it."""

    def __init__(self, models: Iterable[ModelSpec]) -> None:
        self._functions = {spec.name: spec.function for spec in models if spec.kind == "guarantee"}
        # Of the deployment that is being answered: what a fix may not add is held against it.
        self._answering: tuple[Deployment | None, dict[str, tuple[Judgement, ...]]] = (None, {})

    def answers(self, guarantee: str | None) -> bool:
        return guarantee in self._functions

    @property
    def functions(self) -> list[str]:
        return sorted(self._functions.values())

    def answering(self, deployment: Deployment) -> None:
        """From now on each rule judges this deployment once, until the next."""
        self._answering = deployment, {}

    def judge(self, question: Question, deployment: Deployment, context: Context) -> tuple[Judgement, ...]:
        answering, known = self._answering
        found = known.get(question.rule) if deployment is answering else None
        if found is None:
            code = function(self._functions[question.guarantee], "judgements")
            found = tuple(code(deployment, context.asking(question)))
            if deployment is answering:
                known[question.rule] = found
        return found
