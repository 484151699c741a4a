"""The rules that name a guarantee, asked of deployments: findings that carry a run and a fix.

One root cause, one finding: of two rules that are broken alike and mended alike, the one that covers the
other is shown and the other folded under it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .decode import Decoded, decode
from .fix import Repair, as_fix, commands, decoded_for, smallest_repair
from .judging import PRODUCER_GUARANTEES, Outcome, judge
from .model import Deployment, Evidence, Finding, Location, Setting, members_of
from .packs import Rule
from .sim.tolerance import Headline
from .sim.verdict import Broken
from .tolerance import headline, tolerances
from .turning import FACTS
from .verdicts import Verdicts


class Answers(NamedTuple):
    """What one deployment comes to."""

    headline: Headline | None
    guarantees: tuple[Mapping[str, Any], ...]
    findings: tuple[Finding, ...]


class _Known(NamedTuple):
    """What all deployments of one behaviour share."""

    outcomes: Mapping[str, Outcome]
    headline: Headline
    guarantees: tuple[Mapping[str, Any], ...]


class Guaranteed:
    """Asks each behaviour once: deployments that behave alike share their outcomes and repairs."""

    def __init__(self, verdicts: Verdicts, tolerances: bool = False) -> None:
        self.verdicts, self.tolerances = verdicts, tolerances
        self._known: dict[tuple[Any, ...], _Known] = {}

    def answers(self, deployment: Deployment, rules: Sequence[tuple[Rule, str]], messages: Any) -> Answers:
        """`rules` are those of the deployment's profile, with the severity each has here."""
        decoded = decode(deployment)
        subjects = {rule.code: decoded_for(rule, deployment, decoded) for rule, _ in rules}
        alike = behaviour_of(decoded, subjects)
        known = self._known.get(alike)
        if known is None:
            known = self._known[alike] = self._judged(decoded, rules, subjects)
        broken = [
            (rule, severity) for rule, severity in rules if _is(known.outcomes.get(rule.code), "broken")
        ]
        asked = [rule for rule, _ in rules]
        waiting = waiting_notes(broken)
        found = [
            self._finding(rule, severity, known.outcomes[rule.code], deployment, decoded, asked, messages)
            for rule, severity in broken
            if rule.code not in waiting
        ]
        return Answers(known.headline, known.guarantees, tuple(folded(found, broken, waiting)))

    def _judged(
        self,
        decoded: Decoded,
        rules: Sequence[tuple[Rule, str]],
        subjects: Mapping[str, Decoded | None],
    ) -> _Known:
        outcomes = {}
        for rule, _ in rules:
            subject = subjects[rule.code]
            outcome = judge(rule, subject, self.verdicts) if subject is not None else None
            if outcome is not None:
                outcomes[rule.code] = outcome
        # What only a note asks is beyond the budget: it does not decide whether a guarantee holds.
        summary = [
            _summary(rule, outcomes[rule.code])
            for rule, severity in rules
            if rule.code in outcomes and severity != "note"
        ]
        guarantees = _merged(summary)
        if self.tolerances:
            guarantees = [
                {
                    **entry,
                    "tolerance": tolerances(decoded, entry["name"], self.verdicts) or entry["tolerance"],
                }
                for entry in guarantees
            ]
        return _Known(outcomes, headline(decoded, self.verdicts), tuple(guarantees))

    def _finding(
        self,
        rule: Rule,
        severity: str,
        outcome: Outcome,
        deployment: Deployment,
        decoded: Decoded,
        rules: Sequence[Rule],
        messages: Any,
    ) -> Finding:
        assert isinstance(outcome.drawn, Broken)
        repair = smallest_repair(rule, deployment, decoded, rules, self.verdicts)
        subject = decoded_for(rule, deployment, decoded) or decoded
        knobs = decoded.producer if rule.guarantee in PRODUCER_GUARANTEES else subject.knobs
        shown = [pair for knob in (knobs or {}).values() for pair in knob.decided_by]
        if any("rack_lost" in faults for faults in rule.faults):
            shown = [*rack_settings(deployment), *shown]
        at, keys = _blame(repair, shown, deployment)
        fields = {
            "deployment": deployment.id,
            "producer": deployment.producer.name if deployment.producer else "the producer",
            "topic": deployment.topic.name if deployment.topic else "the topic",
            "cluster": cluster_name(deployment),
            "why_broken": outcome.drawn.reason,
        }
        spent = ", ".join(f"{name} {count}" for name, count in sorted(outcome.drawn.faults.items()))
        return Finding(
            rule.code,
            rule.name,
            severity,
            messages(rule.message, fields),
            at,
            deployment.id,
            keys,
            tuple(shown),
            Evidence(
                rule.evidence,
                (("spent", spent or "none"),),
                rule.guarantee,
                tuple(sorted(outcome.environment.items())),
                tuple(sorted(outcome.faults.items())),
                outcome.drawn.bounds.text(),
                outcome.drawn.states,
                tuple(step.as_dict() for step in outcome.drawn.trace),
            ),
            (as_fix(repair, deployment, rule),) if repair is not None else (),
            deployment.id,
            (),
            tuple(sorted({place for _, setting in shown if (place := setting.origin.at) and place != at})),
            advice=commands(repair) if repair is not None else (),
        )


def behaviour_of(decoded: Decoded, subjects: Mapping[str, Decoded | None]) -> tuple[Any, ...]:
    """All that the answers depend on: what the knobs can be, the version, and which rules ask."""
    producer = decoded.producer
    internal = [(code, _values(subject)) for code, subject in subjects.items() if subject is not decoded]
    return (
        decoded.version.number,
        decoded.family,
        (decoded.racks, decoded.kraft),
        _values(decoded),
        None if producer is None else tuple(knob.values for knob in producer.values()),
        tuple(subjects),
        tuple(internal),
    )


def _values(decoded: Decoded | None) -> tuple[Any, ...] | None:
    return None if decoded is None else tuple(knob.values for knob in decoded.knobs.values())


def cluster_name(deployment: Deployment) -> str:
    names = [broker.name for broker in deployment.cluster]
    return (
        names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more" if names else "the cluster"
    )


def _is(outcome: Outcome | None, verdict: str) -> bool:
    return outcome is not None and outcome.verdict == verdict


def rack_settings(deployment: Deployment) -> list[tuple[str, Setting]]:
    found = [setting for broker in deployment.cluster for setting in broker.settings]
    return [("broker", setting) for setting in found if setting.key == "broker.rack"]


def _blame(
    repair: Repair | None, shown: Sequence[tuple[str, Setting]], deployment: Deployment
) -> tuple[Location, tuple[str, ...]]:
    """Where to look: at what the smallest change would change, else at what was decided in a file."""
    first = members_of(deployment)[0]
    anywhere = Location(first.file, first.line)
    if repair is not None:
        keys = tuple(edit.key or edit.field for edit in repair.edits)
        wanted = {edit.key or FACTS[edit.field][1] for edit in repair.edits}
        for _, setting in shown:
            if setting.key in wanted and setting.origin.at is not None:
                return setting.origin.at, keys
        for edit in repair.edits:
            for document in members_of(deployment):
                if document.component == edit.component:
                    return Location(document.file, document.line), keys
        return anywhere, keys
    placed = [setting for _, setting in shown if setting.origin.at is not None]
    if not placed:
        return anywhere, ()
    return placed[0].origin.at or anywhere, tuple(setting.key for setting in placed)


def waiting_notes(broken: Sequence[tuple[Rule, str]]) -> dict[str, str]:
    """Notes about a lesser fault can wait until the greater one is mended: no fix is looked for. Each with
    the rule that covers it."""
    return {
        note.code: rule.code
        for rule, _ in reversed(broken)
        for note, severity in broken
        if severity == "note" and note is not rule and {note.code, note.name} & set(rule.covers)
    }


def folded(
    findings: Sequence[Finding], broken: Sequence[tuple[Rule, str]], waiting: Mapping[str, str]
) -> list[Finding]:
    rules = {rule.code: rule for rule, _ in broken}
    under = dict(waiting)
    for finding in findings:
        for other in findings:
            covered = {other.code, other.name} & set(rules[finding.code].covers)
            if covered and _first_fix(other) == _first_fix(finding):
                under.setdefault(other.code, finding.code)
    shown = []
    for finding in findings:
        if finding.code not in under:
            inside = tuple(sorted(code for code in under if _top(code, under) == finding.code))
            shown.append(finding._replace(covers=inside))
    return shown


def _top(code: str, under: Mapping[str, str]) -> str:
    while code in under:
        code = under[code]
    return code


def _first_fix(finding: Finding) -> object:
    return finding.fixes[0].changes if finding.fixes else None


def _summary(rule: Rule, outcome: Outcome) -> dict[str, Any]:
    bounds = getattr(outcome.drawn, "bounds", None)
    return {
        "name": rule.guarantee,
        "verdict": outcome.verdict,
        "tolerance": [],
        "bounds": bounds.text() if bounds is not None else None,
        "states": getattr(outcome.drawn, "states", None),
        "depends_on": list(outcome.depends_on),
        "reason": outcome.reason,
        "asked": {**outcome.environment, **outcome.faults},
    }


def _merged(summary: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry a guarantee: the worst that any rule of the profile came to, with what each fault did."""
    order = ("holds", "unknown", "broken")
    found: dict[str, dict[str, Any]] = {}
    for entry in summary:
        asked = entry.pop("asked")
        name = entry["name"]
        tolerance = _tolerance(asked, entry["verdict"])
        kept = found.get(name)
        if kept is None or order.index(entry["verdict"]) > order.index(kept["verdict"]):
            found[name] = {**entry, "tolerance": (kept["tolerance"] if kept else []) + tolerance}
        else:
            kept["tolerance"] = kept["tolerance"] + tolerance
    return [found[name] for name in sorted(found)]


def _tolerance(asked: Mapping[str, int], verdict: str) -> list[dict[str, Any]]:
    counted = {name: count for name, count in asked.items() if name != "slow_follower"}
    if len(counted) != 1 or verdict == "unknown":
        return []
    fault, count = next(iter(counted.items()))
    holds = verdict == "holds"
    return [
        {
            "fault": fault,
            "survives": count if holds else count - 1,
            "broken_by": None if holds else count,
            "exhausted": holds,
        }
    ]
