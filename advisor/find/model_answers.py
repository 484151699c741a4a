"""Rules whose guarantee a model computes (clock, log, groups, sizes), asked of deployments: findings."""

from __future__ import annotations

from collections.abc import Sequence

from ..ask.models import Models
from ..context import Context, Judgement
from ..fix.edits import Subject
from ..fix.smallest_change import Solved
from ..model import Deployment, Finding, GuaranteeAnswer, UsageError
from ..packs.questions import ActiveRule
from .failures import crashed
from .folding import model_answer
from .from_hit import Findings
from .remedies import Remedies


class ModelAnswers:
    def __init__(self, models: Models, context: Context, findings: Findings, remedies: Remedies) -> None:
        self._models, self._context = models, context
        self._findings, self._remedies = findings, remedies

    def answers(
        self, deployment: Deployment, rules: Sequence[ActiveRule]
    ) -> tuple[list[Finding], list[Finding], list[GuaranteeAnswer]]:
        """What the models find, where their code failed, and what they answer. What only a note asks does not
        decide whether a guarantee holds."""
        answers: list[GuaranteeAnswer] = []
        failed: list[Finding] = []
        found: list[Finding] = []
        self._models.hold(deployment)
        for asked in rules:
            try:
                judgements = self._models.judge(asked.question, deployment, self._context)
                if asked.severity != "note":
                    answers += [model_answer(asked, judgement) for judgement in judgements]
                found += [
                    self._broken(asked, deployment, judgement, judgements)
                    for judgement in judgements
                    if judgement.verdict == "broken"
                ]
            except UsageError:
                raise
            except Exception as error:
                failed += crashed([asked.rule], deployment, error)
        return found, failed, answers

    def _broken(
        self,
        asked: ActiveRule,
        deployment: Deployment,
        judgement: Judgement,
        judgements: Sequence[Judgement],
    ) -> Finding:
        rule, hit = asked.rule, judgement.hit
        assert hit is not None, "what is broken is broken somewhere"
        group, amiss = hit.fields.get("group"), _amiss(judgements)

        def solved(changed: Subject, surely: bool) -> Solved | None:
            """Of several groups one is mended: the others may be as they were."""
            assert isinstance(changed, Deployment)
            after = self._models.judge(asked.question, changed, self._context)
            if group is None:
                return None if _amiss(after) else Solved()
            same = any(other.hit and other.hit.fields.get("group") == group for other in after)
            return None if same or _amiss(after) >= amiss else Solved()

        finding = self._findings.of(asked, deployment, hit)
        finding = self._remedies.fixed(finding, rule, deployment, hit, solved)
        evidence = finding.evidence._replace(
            kind=rule.evidence if judgement.trace or rule.evidence != "trace" else "budget",
            guarantee=rule.guarantee,
            environment=tuple(sorted(judgement.environment.items())),
            faults=tuple(sorted(judgement.faults.items())),
            bounds=judgement.bounds,
            states=judgement.states,
            trace=judgement.trace,
        )
        return finding._replace(evidence=evidence)


def _amiss(judgements: Sequence[Judgement]) -> int:
    return sum(judgement.verdict != "holds" for judgement in judgements)
