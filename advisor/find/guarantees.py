"""The rules that name a guarantee, asked of deployments: findings that carry a run and a fix.

One root cause, one finding: of two rules that are broken alike and mended alike, the one that covers the
other is shown and the other folded under it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..ask.judge import Outcome, judge, rests_on_protocol, worse
from ..ask.policies import Decoded, Knob, decode
from ..ask.regions import Region
from ..ask.tolerance import headline, tolerances
from ..ask.verdicts import Verdicts
from ..fix.candidates import FACTS, is_same_key
from ..fix.smallest_change import Repair, as_fix, decoded_for, silent_rules, smallest_repair
from ..join.racks import all_named, worst_placement
from ..model import Deployment, Evidence, Finding, Location, Setting, members_of
from ..packs.pack import Rule
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.search.verdict import Broken
from ..sim.tolerance import Headline
from .outcomes import Answers


class _Known(NamedTuple):
    """What all deployments of one behaviour share."""

    outcomes: Mapping[str, Outcome]
    headline: Headline
    guarantees: tuple[Mapping[str, Any], ...]


class Guaranteed:
    """Asks each behaviour once: deployments that behave alike share their outcomes and repairs."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.verdicts = verdicts
        self._known: dict[tuple[Any, ...], _Known] = {}
        self._silent: dict[tuple[Any, ...], list[Rule]] = {}

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
        if broken and alike not in self._silent:
            asked = [rule for rule, _ in rules]
            self._silent[alike] = silent_rules(asked, deployment, decoded, self.verdicts)
        silent = self._silent.get(alike, [])
        waiting = waiting_notes(broken)
        found = [
            self._finding(rule, severity, known.outcomes[rule.code], deployment, decoded, silent, messages)
            for rule, severity in broken
            if rule.code not in waiting
        ]
        return Answers(known.headline._asdict(), known.guarantees, tuple(folded(found, broken, waiting)))

    def _judged(
        self,
        decoded: Decoded,
        rules: Sequence[tuple[Rule, str]],
        subjects: Mapping[str, Decoded | None],
    ) -> _Known:
        outcomes = {}
        regions: dict[tuple[str | None, int], Region | None] = {}
        for rule, _ in rules:
            subject = subjects[rule.code]
            if subject is None:
                continue
            asked = rule.guarantee, id(subject)
            outcome = judge(rule, subject, self.verdicts, regions.get(asked))
            if outcome is None:
                continue
            regions[asked] = outcome.region or regions.get(asked)
            if (
                rule.params.get("own_protocol")
                and outcome.verdict == "broken"
                and not rests_on_protocol(rule, subject, self.verdicts)
            ):
                continue
            outcomes[rule.code] = outcome
        # What only a note asks is beyond the budget: it does not decide whether a guarantee holds.
        told = [
            (rule, outcomes[rule.code], subjects[rule.code] is decoded)
            for rule, severity in rules
            if rule.code in outcomes and severity != "note"
        ]
        guarantees = _merged(told, {**decoded.knobs, **(decoded.producer or {})})
        for entry in guarantees:
            entry["tolerance"] = tolerances(decoded, entry["name"], self.verdicts)
        return _Known(outcomes, headline(decoded, self.verdicts), tuple(guarantees))

    def _finding(
        self,
        rule: Rule,
        severity: str,
        outcome: Outcome,
        deployment: Deployment,
        decoded: Decoded,
        silent: Sequence[Rule],
        messages: Any,
    ) -> Finding:
        assert isinstance(outcome.drawn, Broken)
        repair = smallest_repair(rule, deployment, decoded, silent, self.verdicts)
        subject = decoded_for(rule, deployment, decoded) or decoded
        knobs = decoded.producer if rule.guarantee in PRODUCER_GUARANTEES else subject.knobs
        shown = [pair for knob in (knobs or {}).values() for pair in knob.decided_by]
        reason, numbers = outcome.drawn.reason, []
        if any("rack_lost" in faults for faults in rule.faults):
            shown = [*rack_settings(deployment), *shown]
            numbers = placements(subject)
            if subject.racks is not None and not subject.racks.named:
                who = "no broker names" if not any(subject.racks.names) else "not every broker names"
                reason += f"; {who} its rack, so Kafka may place a partition {numbers[0][1]}"
        at, keys = _blame(repair, shown, deployment)
        fields = {
            "deployment": deployment.id,
            "producer": deployment.producer.name if deployment.producer else "the producer",
            "topic": deployment.topic.name if deployment.topic else "the topic",
            "cluster": cluster_name(deployment),
            "why_broken": reason,
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
                (("spent", spent or "none"), *numbers),
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
            advice=repair.advice if repair is not None else (),
        )


def behaviour_of(decoded: Decoded, subjects: Mapping[str, Decoded | None]) -> tuple[Any, ...]:
    """All that the answers depend on: what the knobs can be, the version, and which rules ask."""
    producer = decoded.producer
    internal = [(code, _values(subject)) for code, subject in subjects.items() if subject is not decoded]
    return (
        decoded.version.number,
        decoded.family,
        (decoded.racks, decoded.racks_unplaced, decoded.kraft),
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


def placements(decoded: Decoded) -> list[tuple[str, str]]:
    """The worst partition as Kafka places it; where no broker names its rack, also as it would with racks."""
    racks, replicas = decoded.racks, decoded.knobs["replicas"].values[-1]
    assert racks is not None
    found = []
    for known in (racks,) if racks.named else (racks, all_named(racks.of_brokers)):
        worst = worst_placement(known, replicas, decoded.kraft)
        if worst is not None:
            name = "placed by rack" if known.named else "placed without racks"
            brokers = ", ".join(f"{broker} in {rack}" for broker, rack in zip(*worst, strict=True))
            found.append((name, f"on brokers {brokers}"))
    if not racks.named:
        count = len(set(racks.of_brokers))
        found.append(("assumed", f"{len(racks.of_brokers)} brokers, evenly over {count} racks"))
    return found


def rack_settings(deployment: Deployment) -> list[tuple[str, Setting]]:
    found = [setting for broker in deployment.cluster for setting in broker.settings]
    return [("broker", setting) for setting in found if setting.key == "broker.rack"]


def _blame(
    repair: Repair | None, shown: Sequence[tuple[str, Setting]], deployment: Deployment
) -> tuple[Location, tuple[str, ...]]:
    """Where to look: at what the smallest change would change, else at what was decided in a file."""
    first = members_of(deployment)[0]
    placed = [setting for _, setting in shown if setting.origin.at is not None]
    keys = tuple(setting.key for setting in placed)
    if repair is not None:
        keys = tuple(edit.key or edit.field for edit in repair.edits)
        wanted = {edit.key or FACTS[edit.field][1] for edit in repair.edits}
        wanted |= {"broker.rack" for edit in repair.edits if edit.field == "racks"}
        client = deployment.producer.client if deployment.producer is not None else ""
        homes = {edit.component for edit in repair.edits}
        for setting in placed:
            written = any(is_same_key(setting.key, key, client) for key in wanted)
            if written and setting.origin.at is not None:
                return setting.origin.at, keys
        for document in members_of(deployment):
            if document.component in homes:
                return Location(document.file, document.line), keys
    at = placed[0].origin.at if placed else None
    return at or Location(first.file, first.line), keys


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


def _merged(told: Sequence[tuple[Rule, Outcome, bool]], knobs: Mapping[str, Knob]) -> list[dict[str, Any]]:
    """One entry a guarantee: the worst that any rule of the profile came to. What is asked of an internal
    topic has knobs of its own: what it depends on is not joined with the rest."""
    worst: dict[str, tuple[Outcome, bool]] = {}
    for rule, outcome, own in told:
        name = rule.guarantee or ""
        kept = worst.get(name)
        if kept is None:
            worst[name] = outcome, own
        else:
            found = worse(kept[0], outcome, knobs if own and kept[1] else None)
            worst[name] = found, own if found is outcome else kept[1]
    return [_summary(name, worst[name][0]) for name in sorted(worst)]


def _summary(name: str, outcome: Outcome) -> dict[str, Any]:
    bounds = getattr(outcome.drawn, "bounds", None)
    return {
        "name": name,
        "verdict": outcome.verdict,
        "tolerance": [],
        "bounds": bounds.text() if bounds is not None else None,
        "states": getattr(outcome.drawn, "states", None),
        "depends_on": list(outcome.depends_on),
        "reason": outcome.reason,
    }
