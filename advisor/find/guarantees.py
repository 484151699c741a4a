"""The rules that name a guarantee, asked of deployments: findings that carry a run and a fix.

One root cause, one finding: of two rules that are broken alike and mended alike, the one that covers the
other is shown and the other folded under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ask.judge import OWN_PROTOCOL, Outcome, is_in_sight, judge, rests_on_protocol, worse
from ..ask.knob import Knob
from ..ask.policies import INTERNAL, Decoded, decode
from ..ask.regions import Region, conditions
from ..ask.tolerance import headline, tolerances
from ..ask.verdicts import Verdicts
from ..fix.edits import FACTS, is_same_key
from ..fix.searched import (
    decoded_by,
    decoded_for,
    internal_minimum,
    other_minimum,
    problem_of,
    problem_of_blamed,
)
from ..fix.smallest_change import Remedy
from ..join.effective import by_key
from ..join.racks import all_named, worst_placement
from ..model import (
    Deployment,
    Evidence,
    Finding,
    GuaranteeAnswer,
    Location,
    Setting,
    Tolerated,
    in_file_order,
    members_of,
)
from ..packs.pack import Rule
from ..packs.questions import ActiveRule
from ..packs.vocabulary import PRODUCER_GUARANTEES
from ..sim.search.verdict import Broken
from ..sim.tolerance import Headline
from ..tuples import NamedTuple
from .fixes.remedies import Remedies
from .folding import waiting_notes
from .reuse.outcomes import Answers

if TYPE_CHECKING:
    from ..ask.blame.searched import Blamed

_WORST_FIRST = ("error", "warning", "note")


class _Worst(NamedTuple):
    """The worst that a guarantee came to, the rule that asked, and what else the report tells of it."""

    outcome: Outcome
    code: str
    answer: GuaranteeAnswer


class _Known(NamedTuple):
    """What all deployments of one behaviour share."""

    outcomes: Mapping[str, Outcome]
    headline: Headline
    guarantees: tuple[_Worst, ...]


class Guaranteed:
    """Asks each behaviour once: deployments that behave alike share their outcomes and repairs."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.verdicts = verdicts
        self._known: dict[tuple[Any, ...], _Known] = {}

    def answers(
        self,
        deployment: Deployment,
        rules: Sequence[ActiveRule],
        fill: Callable[[str, Mapping[str, str]], str],
        remedies: Remedies,
    ) -> tuple[list[Finding], dict[str, str], Answers]:
        """What is found, the notes that wait with the rule that covers each, and the answers. `rules` are
        those of the deployment's profile, with the severity each has here."""
        decoded = decode(deployment)
        subjects = {one.rule.code: decoded_for(one.question, deployment, decoded) for one in rules}
        alike = behaviour_of(decoded, subjects)
        known = self._known.get(alike)
        if known is None:
            known = self._known[alike] = self._judged(decoded, rules, subjects)
        broken = [one for one in rules if _is(known.outcomes.get(one.rule.code), "broken")]
        waiting = waiting_notes(broken)
        found = [
            self._finding(one, known.outcomes[one.rule.code], deployment, decoded, fill, remedies)
            # The worst first: what is offered for it binds what is offered for the others.
            for one in sorted(broken, key=lambda one: _WORST_FIRST.index(one.severity))
            if one.rule.code not in waiting
        ]
        undecided = [one for one in rules if _may_blame(one, known.outcomes.get(one.rule.code), subjects)]
        for one, blamed in self._blamed(undecided, deployment):
            # Who compares two audits sees all: what waits here is not new when it is told later.
            firm = _firm(one, blamed, broken) if remedies.wanted else None
            if firm is not None:
                waiting[one.rule.code] = firm
            else:
                found.append(self._finding(one, blamed.outcome, deployment, decoded, fill, remedies, blamed))
        guarantees = tuple(_retold(one, subjects[one.code]) for one in known.guarantees)
        return found, waiting, Answers(known.headline._asdict(), guarantees)

    def _judged(
        self,
        decoded: Decoded,
        rules: Sequence[ActiveRule],
        subjects: Mapping[str, Decoded | None],
    ) -> _Known:
        outcomes = {}
        regions: dict[tuple[str | None, int], Region | None] = {}
        for rule, _, question in rules:
            subject = subjects[rule.code]
            if subject is None or (rule.severity == "note" and not is_in_sight(subject)):
                continue
            asked = rule.guarantee, id(subject)
            outcome = judge(question, subject, self.verdicts, regions.get(asked))
            if outcome is None:
                continue
            regions[asked] = outcome.region or regions.get(asked)
            if (
                question.part == OWN_PROTOCOL
                and outcome.verdict == "broken"
                and not rests_on_protocol(question, subject, self.verdicts)
            ):
                continue
            outcomes[rule.code] = outcome
        # What only a note asks is beyond the budget: it does not decide whether a guarantee holds.
        told = [
            (rule, outcomes[rule.code], subjects[rule.code] is decoded)
            for rule, severity, _ in rules
            if rule.code in outcomes and severity != "note"
        ]
        worst = _worst(told, {**decoded.knobs, **(decoded.producer or {})})
        guarantees = tuple(
            _Worst(outcome, code, _answer(name, outcome, tolerances(decoded, name, self.verdicts)))
            for name, (outcome, code) in sorted(worst.items())
        )
        return _Known(outcomes, headline(decoded, self.verdicts), guarantees)

    def _blamed(
        self, undecided: Sequence[ActiveRule], deployment: Deployment
    ) -> Iterator[tuple[ActiveRule, Blamed]]:
        """Questions that the unseen decides and a statement of the user's files is to blame for, each a
        severity lower."""
        if not undecided:
            return
        from ..ask.blame.searched import SEVERAL_BROKERS, blame, lower

        for one in undecided:
            severity = lower(one.severity)
            if severity is None:
                continue
            found = blame(one.question, deployment, decoded_by(one.question), self.verdicts)
            if found is not None:
                if SEVERAL_BROKERS in found.assuming and all(map(_is_single, found.settings)):
                    # What one broker must have, and no file says that there are more.
                    severity = lower(severity) or severity
                yield one._replace(severity=severity), found

    def _finding(
        self,
        asked: ActiveRule,
        outcome: Outcome,
        deployment: Deployment,
        decoded: Decoded,
        fill: Callable[[str, Mapping[str, str]], str],
        remedies: Remedies,
        blamed: Blamed | None = None,
    ) -> Finding:
        assert isinstance(outcome.drawn, Broken)
        rule, severity, question = asked
        subject = decoded_for(question, deployment, decoded) or decoded
        if blamed is None:
            problem = problem_of(question, deployment, decoded, self.verdicts)
        else:
            subject = decoded_by(question)(deployment) or decoded
            problem = problem_of_blamed(
                question, deployment, subject, blamed.holds, blamed.assuming, self.verdicts
            )
        sought = remedies.smallest(deployment, problem, rule, severity)
        repair = sought.remedy
        knobs = decoded.producer if rule.guarantee in PRODUCER_GUARANTEES else subject.knobs
        shown = [pair for knob in (knobs or {}).values() for pair in knob.decided_by]
        reason, numbers = outcome.drawn.reason, []
        if any("rack_lost" in faults for faults in rule.faults):
            shown = [*rack_settings(deployment), *shown]
            numbers = placements(subject)
            if subject.racks is not None and not subject.racks.named:
                who = "no broker names" if not any(subject.racks.names) else "not every broker names"
                reason += f"; {who} its rack, so Kafka may place a partition {numbers[0][1]}"
        at, keys = _place(repair, shown, deployment, rule.components)
        if repair is not None:
            advice = repair.advice
        else:
            advice = internal_minimum(question, deployment, subject, self.verdicts)
            for _, setting in subject.knobs["min_isr"].decided_by if advice else ():
                at, keys = setting.origin.at or at, (setting.key,)
        if blamed is not None:
            at = blamed.settings[0][1].origin.at or at
            if repair is None:
                advice = other_minimum(deployment, subject, blamed.holds)
            keys = tuple(setting.key for _, setting in blamed.settings)
        if rule.told_of == "cluster":
            about = deployment.cluster[0] if deployment.cluster else deployment.topic
            at = Location(about.file, about.line) if about is not None else at
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
            fill(rule.message, fields),
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
            (repair.fix,) if repair is not None else (),
            deployment.id,
            (),
            in_file_order(place for _, setting in shown if (place := setting.origin.at) and place != at),
            advice=(*advice, *(fill(step, fields) for step in rule.advice)),
            not_fixed=sought.refused,
            assuming=blamed.assuming if blamed is not None else (),
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
    found = (by_key(broker).get("broker.rack") for broker in deployment.cluster)
    return [("broker", setting) for setting in found if setting is not None]


def _may_blame(asked: ActiveRule, outcome: Outcome | None, subjects: Mapping[str, Decoded | None]) -> bool:
    """The unseen decides it, or how many brokers there are, which no file says."""
    if outcome is not None:
        return outcome.verdict == "unknown" and outcome.region is not None
    return subjects[asked.rule.code] is None and asked.question.part in INTERNAL


def _firm(asked: ActiveRule, blamed: Blamed, broken: Sequence[ActiveRule]) -> str | None:
    """The rule that is broken whatever the unseen is, and says enough of the same guarantee."""
    for one in broken:
        graver = blamed.usual and _covers(asked, one)
        same = (one.rule.guarantee, _topic(one)) == (asked.rule.guarantee, _topic(asked))
        if same and one.severity != "note" and not graver:
            return one.rule.code
    return None


def _topic(asked: ActiveRule) -> str:
    """The internal topic that it asks about, if any."""
    return asked.question.part if asked.question.part in INTERNAL else ""


def _covers(asked: ActiveRule, other: ActiveRule) -> bool:
    return other.rule.code in asked.rule.covers or other.rule.name in asked.rule.covers


def _is_single(blamed: tuple[str, Setting]) -> bool:
    return blamed[1].key.endswith("replication.factor") and blamed[1].value == "1"


def _place(
    repair: Remedy | None,
    shown: Sequence[tuple[str, Setting]],
    deployment: Deployment,
    components: Sequence[str],
) -> tuple[Location, tuple[str, ...]]:
    """Where to look: at what the smallest change would change, else at what was decided in a file, else at
    one of those that the rule is about."""
    members = members_of(deployment)
    first = next((one for one in members if one.component in components), members[0])
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


def _worst(
    told: Sequence[tuple[Rule, Outcome, bool]], knobs: Mapping[str, Knob]
) -> dict[str, tuple[Outcome, str]]:
    """By guarantee: the worst that any rule of the profile came to, and a rule that asked so. What is asked
    of an internal topic has knobs of its own: what it depends on is not joined with the rest."""
    worst: dict[str, tuple[Outcome, str]] = {}
    joined: dict[str, bool] = {}
    for rule, outcome, own in told:
        name = rule.guarantee or ""
        if name not in worst:
            worst[name], joined[name] = (outcome, rule.code), own
            continue
        kept, code = worst[name]
        found = worse(kept, outcome, knobs if own and joined[name] else None)
        if found is outcome:
            code, joined[name] = rule.code, own
        worst[name] = found, code
    return worst


def _answer(name: str, outcome: Outcome, tolerance: tuple[Tolerated, ...]) -> GuaranteeAnswer:
    bounds = getattr(outcome.drawn, "bounds", None)
    return GuaranteeAnswer(
        name,
        outcome.verdict,
        tolerance,
        bounds.text() if bounds is not None else None,
        getattr(outcome.drawn, "states", None),
        outcome.depends_on,
        outcome.reason,
    )


def _retold(worst: _Worst, subject: Decoded | None) -> GuaranteeAnswer:
    """What it depends on, with the defaults of this deployment's own cluster and their places."""
    if worst.outcome.region is None or subject is None:
        return worst.answer
    depends_on, reason = conditions(worst.outcome.region, {**subject.knobs, **(subject.producer or {})})
    return worst.answer._replace(depends_on=depends_on, reason=reason)
