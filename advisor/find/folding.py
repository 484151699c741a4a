"""One root cause, one finding; one answer for each guarantee.

`covers` of a rule says which other faults its own explains. Of two findings that one change mends, or that
nothing mends, the one that covers the other is shown, and the other is told under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..context import Judgement
from ..model import Finding, GuaranteeAnswer
from ..packs.questions import ActiveRule

_SEVERITIES = ("note", "warning", "error")
_WORSE = ("holds", "unknown", "broken")


def waiting_notes(broken: Sequence[ActiveRule]) -> dict[str, str]:
    """Notes about a lesser fault can wait until the greater one is mended: no fix is looked for. Each with
    the rule that covers it."""
    return {
        note.rule.code: one.rule.code
        for one in reversed(broken)
        for note in broken
        if note.severity == "note" and note is not one and _covers(one, note.rule.code, note.rule.name)
    }


def folded(
    findings: Sequence[Finding], rules: Iterable[ActiveRule], waiting: Mapping[str, str] = {}
) -> list[Finding]:
    """The findings of one deployment, those that another covers told under it. `waiting`: codes that are told
    under another though nothing was made of them."""
    by_code = {one.rule.code: one for one in rules}
    under: dict[int, Finding] = {}
    for finding in findings:
        for other in findings:
            covered = other is not finding and _covers(by_code[finding.code], other.code, other.name)
            covered = covered and not _is_graver(other, finding)
            if (covered or _is_lesser(other, finding)) and _mends_both(finding, other):
                under.setdefault(id(other), finding)
    inside: dict[int, set[str]] = {}
    for finding in findings:
        if id(finding) in under:
            inside.setdefault(id(_top(finding, under)), set()).add(finding.code)
    for finding in findings:
        notes = {code for code, by in waiting.items() if by == finding.code}
        inside.setdefault(id(_top(finding, under)), set()).update(notes)
    return [
        finding._replace(covers=tuple(sorted(inside[id(finding)])))
        for finding in findings
        if id(finding) not in under
    ]


def _is_lesser(one: Finding, other: Finding) -> bool:
    """It rests on an assumption, and the same statement is to blame for something graver."""
    return bool(one.assuming) and _is_graver(other, one) and one.at == other.at


def _is_graver(one: Finding, other: Finding) -> bool:
    return _SEVERITIES.index(one.severity) > _SEVERITIES.index(other.severity)


def _covers(one: ActiveRule, code: str, name: str) -> bool:
    return code in one.rule.covers or name in one.rule.covers


def _top(finding: Finding, under: Mapping[int, Finding]) -> Finding:
    while id(finding) in under:
        finding = under[id(finding)]
    return finding


def _mends_both(finding: Finding, other: Finding) -> bool:
    """One change mends the two, or what the first asks for holds all that the other asks for."""
    one, two = ({*each.fixes[0].changes} if each.fixes else None for each in (finding, other))
    return one == two or (one is not None and two is not None and two <= one)


# Answers.


def model_answer(asked: ActiveRule, judgement: Judgement) -> GuaranteeAnswer:
    return GuaranteeAnswer(
        asked.question.guarantee,
        judgement.verdict,
        bounds=judgement.bounds,
        states=judgement.states,
        depends_on=judgement.depends_on,
        reason=judgement.reason,
    )


def merged(answers: Iterable[GuaranteeAnswer]) -> tuple[GuaranteeAnswer, ...]:
    """One for each guarantee, the worst; reasons of several unknowns are told together."""
    found: dict[str, GuaranteeAnswer] = {}
    for one in answers:
        kept = found.get(one.name)
        if kept is None:
            found[one.name] = one
        elif _WORSE.index(one.verdict) > _WORSE.index(kept.verdict):
            found[one.name] = one._replace(tolerance=kept.tolerance)
        elif kept.verdict == one.verdict == "unknown" and (one.reason or "") not in (kept.reason or ""):
            found[one.name] = kept._replace(
                reason=f"{kept.reason}; {one.reason}",
                depends_on=tuple(sorted({*kept.depends_on, *one.depends_on})),
            )
    return tuple(found[name] for name in sorted(found))
