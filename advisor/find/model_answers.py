"""Rules whose guarantee a model computes (clock, log, groups, sizes), asked of deployments: findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ask.models import Models
from ..context import Context, Judgement
from ..fix.edits import Subject
from ..fix.smallest_change import Solved
from ..model import Deployment, Edit, Evidence, Finding, GuaranteeAnswer, UsageError, members_of
from ..packs.questions import ActiveRule
from .failures import crashed
from .fixes.remedies import Remedies
from .folding import model_answer
from .from_hit import Findings


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
                if any(judgement.verdict == "unknown" for judgement in judgements):
                    found += self._blamed(asked, deployment, judgements)
            except UsageError:
                raise
            except Exception as error:
                failed += crashed([asked.rule], deployment, error)
        return found, failed, answers

    def _blamed(
        self, asked: ActiveRule, deployment: Deployment, judgements: Sequence[Judgement]
    ) -> Iterator[Finding]:
        """The unseen decides, and a statement of the user's files is to blame: a severity lower."""
        from ..ask.blame.searched import lower
        from ..ask.blame.unseen import blame_judgement

        severity = lower(asked.severity)
        if severity is None or any(judgement.verdict == "broken" for judgement in judgements):
            return

        def judge(other: Deployment) -> Sequence[Judgement]:
            self._stand_in(other, deployment)
            return self._models.judge(asked.question, other, self._context)

        blamed = blame_judgement(deployment, judge, asked.question.params)
        if blamed is None:
            return
        hit = blamed.judgement.hit
        assert hit is not None, "what is broken is broken somewhere"
        at = blamed.settings[0][1].origin.at or hit.at
        also_at = tuple(place for place in hit.also_at if place.file and place != at)
        # Somebody chose the value, and nobody sees the other side: what to write is told, not written.
        advice = (*_choices(hit.edits), *hit.advice)
        hit = hit._replace(at=at, also_at=also_at, severity=severity, edits=(), advice=advice)
        finding = self._findings.of(asked._replace(severity=severity), deployment, hit)
        evidence = _evidence(finding.evidence, asked, blamed.judgement)
        yield finding._replace(severity=severity, evidence=evidence, assuming=blamed.assuming)

    def _stand_in(self, other: Deployment, deployment: Deployment) -> None:
        """What is filled in has the version, and the surroundings, of what is there."""
        members = members_of(deployment)
        known = {(one.file, one.component, one.name): one for one in members}
        for document in members_of(other):
            original = known.get((document.file, document.component, document.name), members[0])
            self._context.stand_in(document, original)

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
        return finding._replace(evidence=_evidence(finding.evidence, asked, judgement))


def _evidence(evidence: Evidence, asked: ActiveRule, judgement: Judgement) -> Evidence:
    rule = asked.rule
    return evidence._replace(
        kind=rule.evidence if judgement.trace or rule.evidence != "trace" else "budget",
        guarantee=rule.guarantee,
        environment=tuple(sorted(judgement.environment.items())),
        faults=tuple(sorted(judgement.faults.items())),
        bounds=judgement.bounds,
        states=judgement.states,
        trace=judgement.trace,
    )


def _choices(edits: Sequence[Edit]) -> tuple[str, ...]:
    """What would help, the best first."""
    told = [f"{edit.key}={edit.value} ({edit.component})" for edit in edits if edit.key and edit.value]
    return (f"set {', or '.join(dict.fromkeys(told))}",) if told else ()


def _amiss(judgements: Sequence[Judgement]) -> int:
    return sum(judgement.verdict != "holds" for judgement in judgements)
