"""A guarantee asked of one deployment by hand: what may go wrong is stated, what nobody stated is assumed.

Settings that are neither set nor in sight are those of the reference deployment: three brokers, replication
factor 3, the defaults of the version. Logs are cut by the protocol of the version itself, down to 0.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..ask.judge import OWN_PROTOCOL, Outcome, judge
from ..ask.knob import Knob
from ..ask.policies import Decoded, decode
from ..ask.verdicts import Verdicts
from ..catalog import Version, resolve_version
from ..context import Question
from ..join.link import Overrides
from ..join.reader import Reader
from ..model import Deployment, Document, Fact, Origin, Setting, UsageError
from ..packs.faults import Counts, counted
from ..packs.pack import Rule
from ..packs.vocabulary import (
    PRODUCER_GUARANTEES,
    TRANSACTION_GUARANTEES,
)
from ..syntax.numbers import fact_count
from ..tuples import NamedTuple

if TYPE_CHECKING:
    from ..ask.answers.transactions.reads import Seen as TransactionsSeen


_READ = ("producer", "topic", "broker", "consumer")
_ASSUMED = "(assumed)"
_OWN_DEFAULTS: Mapping[str, tuple[Counts, Counts]] = {
    "acked-records-survive": ({"slow_follower": "rf-1"}, {"broker_crash": 2}),
    "replicas-agree": ({}, {"power_loss": 2}),
    "only-committed-read": ({}, {"producer_crash": 1, "producer_pause": 1}),
    "records-visible": ({}, {"late_request": 1}),
}


class Simulated(NamedTuple):
    """A question, and what it came to."""

    asked: Question
    outcome: Outcome


# -- what is asked -----------------------------------------------------------------------------------------


def question(
    guarantee: str, environment: Counts | None, faults: Counts | None, rules: Sequence[Rule]
) -> Question:
    """What is not stated is the usual for the guarantee, else as in the first rule that asks it; of a
    producer's guarantee, as in each that does."""
    if environment is not None and faults is not None:
        return _question(guarantee, environment, (faults,))
    if guarantee in _OWN_DEFAULTS:
        usual, counted = _OWN_DEFAULTS[guarantee]
        return _question(
            guarantee,
            usual if environment is None else environment,
            (counted if faults is None else faults,),
        )
    rule = next((rule for rule in rules if rule.guarantee == guarantee and rule.enabled), None)
    if rule is None and faults is None:
        raise UsageError(f"no rule asks {guarantee}: say what may go wrong, such as --faults broker_crash=1")
    if environment is None:
        environment = rule.environment if rule is not None else {}
    if faults is not None:
        return _question(guarantee, environment, (faults,))
    if guarantee in PRODUCER_GUARANTEES:
        # Whatever a rule asks of a producer, one after the other: an audit finds no more than this does.
        every = (one.faults for one in rules if one.guarantee == guarantee and one.enabled)
        return _question(guarantee, environment, tuple(faults for each in every for faults in each))
    return _question(guarantee, environment, rule.faults if rule is not None else ())


def answered(decoded: Decoded, asked: Question, verdicts: Verdicts) -> Simulated:
    if decoded.producer is None:
        reason = "the producer does not start with these settings; `kafka-advisor audit` says why"
        return Simulated(asked, Outcome("unknown", None, {}, {}, (), reason))
    outcome = judge(asked, decoded, verdicts)
    if outcome is None:
        outcome = Outcome("unknown", None, {}, {}, (), "these settings cannot be asked that")
    return Simulated(asked, outcome)


def _question(guarantee: str, environment: Counts, faults: tuple[Counts, ...]) -> Question:
    """Asked by hand, logs are cut as the version itself cuts them."""
    return Question("", guarantee, OWN_PROTOCOL, {}, environment, faults)


# -- of which deployment -----------------------------------------------------------------------------------


def of_settings(overrides: Overrides, version: Version, client: str = "java") -> Deployment:
    """A deployment of nothing but stated settings and facts."""

    def document(component: str) -> Document | None:
        given = overrides.settings.get(component)
        if not given:
            return None
        family = client if component in ("producer", "consumer") else "java"
        return Document("--set", "set", component, component, tuple(given.values()), family)

    broker, consumer = document("broker"), document("consumer")
    return Deployment(
        id="the settings given",
        producer=document("producer"),
        topic=document("topic"),
        cluster=(broker,) if broker is not None else (),
        groups=(consumer,) if consumer is not None else (),
        version=version.asked,
        facts=overrides.facts,
        workload={},
        joined_by=(),
    )


def check_overrides(overrides: Overrides, version: Version) -> None:
    """Values that Kafka would refuse or that nothing here reads are mistakes, not settings."""
    from ..accept import Rejected, would_accept

    for component, given in overrides.settings.items():
        if component not in _READ:
            read = ", ".join(_READ)
            raise UsageError(f"--set {component}.{next(iter(given))}: simulate reads {read} and fact")
        config = {key: setting.value for key, setting in given.items()}
        verdict = would_accept(component, version, config)
        for reason in verdict.reasons if isinstance(verdict, Rejected) else ():
            if reason.needs is None and reason.kind != "required" and reason.keys[0] in given:
                raise UsageError(f"{component}: Kafka {version.asked} refuses it: {reason.detail}")
    for fact in overrides.facts:
        _check_fact(fact, version)


def _check_fact(fact: Fact, version: Version) -> None:
    if fact.name == "cluster.elr":
        if fact.value not in ("on", "off", "unknown"):
            raise UsageError(f"fact.elr={fact.value}: must be on, off or unknown")
        if fact.value == "on" and version.number < (4, 0):
            raise UsageError(f"fact.elr=on: Kafka {version.asked} has none; it came with 4.0 (KIP-966)")


def completed(deployment: Deployment) -> Deployment:
    """The deployment with whatever is not in sight taken from the reference deployment."""
    version = resolve_version(deployment.version)
    facts = {fact.name: fact for fact in deployment.facts}

    def assume(name: str, value: str, note: str) -> None:
        facts[name] = Fact(name, value, Origin("assumed", None, note))

    factor = _number(facts.get("topic.replication_factor"))
    brokers = _number(facts.get("cluster.brokers"))
    if factor is None and not _made_by_the_cluster(deployment):
        factor = min(3, brokers or 3)
        assume("topic.replication_factor", str(factor), "the reference deployment")
    if brokers is None:
        assume("cluster.brokers", str(max(3, factor or 1)), "the reference deployment")
    elif factor is not None and factor > brokers:
        raise UsageError(f"replication factor {factor} needs as many brokers; there are {brokers}")
    if version.number >= (4, 0) and "cluster.elr" not in facts:
        since = version.number >= (4, 1)
        note = "on where the cluster was formatted at 4.1 or later" if since else "off by default in 4.0"
        assume("cluster.elr", "on" if since else "off", note)
    return deployment._replace(
        producer=deployment.producer or _empty("producer"),
        topic=deployment.topic or _empty("topic"),
        cluster=deployment.cluster or (_empty("broker"),),
        facts=tuple(facts[name] for name in sorted(facts)),
    )


def _number(fact: Fact | None) -> int | None:
    return None if fact is None else fact_count(fact.name, fact.value)


def _made_by_the_cluster(deployment: Deployment) -> bool:
    """A topic that names no factor takes the cluster's default, if the cluster is there to ask."""
    stated = any(s.key == "default.replication.factor" for d in deployment.cluster for s in d.settings)
    return stated or (deployment.topic is not None and bool(deployment.cluster))


def _empty(component: str) -> Document:
    return Document(_ASSUMED, "assumed", component, component, ())


def settings_of(
    deployment: Deployment, decoded: Decoded, guarantees: Iterable[str]
) -> list[tuple[str, Setting]]:
    """What decided the behaviour that is asked about, each with its origin."""
    names = set(guarantees)
    if names <= set(TRANSACTION_GUARANTEES):
        return _transaction_settings(deployment)
    names -= set(TRANSACTION_GUARANTEES)
    knobs: list[Knob] = []
    if not names <= set(PRODUCER_GUARANTEES):
        knobs += decoded.knobs.values()
    if names & set(PRODUCER_GUARANTEES):
        knobs += (decoded.producer or {}).values()
    shown: dict[tuple[str, str], Setting] = {}
    for knob in knobs:
        for component, setting in knob.decided_by:
            shown[component, setting.key] = _assumed(deployment, component, setting)
            if knob.field == "idempotence" and setting.key != knob.label:
                because = Origin("default", None, f"off, as {setting.key}={setting.value}")
                shown[component, knob.label] = Setting(knob.label, "false", because)
    brokers = [fact for fact in deployment.facts if fact.name == "cluster.brokers"]
    if brokers and not names <= set(PRODUCER_GUARANTEES):
        shown["broker", "brokers"] = Setting("brokers", brokers[0].value, brokers[0].origin)
    return [(component, setting) for (component, _), setting in shown.items()]


def _assumed(deployment: Deployment, component: str, setting: Setting) -> Setting:
    """A default of something that nobody has shown is an assumption."""
    if setting.origin.kind != "default":
        return setting
    unseen = {"producer": deployment.producer, "topic": deployment.topic, "broker": None}[component]
    cluster = component != "producer" and all(document.file == _ASSUMED for document in deployment.cluster)
    if cluster or (unseen is not None and unseen.file == _ASSUMED):
        return setting._replace(origin=setting.origin._replace(kind="assumed"))
    return setting


def written_by_groups(deployment: Deployment) -> Deployment:
    """The topic that consumer groups commit to, in the place of the deployment's own: its replication factor
    is the brokers' offsets.topic.replication.factor, and a commit waits for all in-sync replicas."""
    key = "offsets.topic.replication.factor"
    factor, _ = Reader(deployment).in_force("broker", key)
    kept = [fact for fact in deployment.facts if fact.name != "topic.replication_factor"]
    if factor is not None:
        kept.append(Fact("topic.replication_factor", str(factor.value), factor.origin._replace(note=key)))
    acks = Setting("acks", "all", Origin("assumed", None, "as group coordinators commit"))
    return deployment._replace(
        producer=_empty("producer")._replace(name="group coordinator", settings=(acks,)),
        topic=_empty("topic")._replace(name="__consumer_offsets"),
        facts=tuple(kept),
    )


def simulate(deployment: Deployment, asked: Iterable[Question], verdicts: Verdicts) -> list[Simulated]:
    """The questions asked of a completed deployment."""
    decoded = decode(deployment)
    found = []
    for one in asked:
        if one.guarantee in TRANSACTION_GUARANTEES:
            found.append(_of_transactions(deployment, one, verdicts))
            continue
        of_groups = one.guarantee == "group-available"
        found.append(answered(decode(written_by_groups(deployment)) if of_groups else decoded, one, verdicts))
    return found


# -- transactions ------------------------------------------------------------------------------------------


def with_reader(deployment: Deployment) -> Deployment:
    """A reader with the defaults of the version where none is in sight."""
    if any(group.component == "consumer" for group in deployment.groups):
        return deployment
    return deployment._replace(groups=(*deployment.groups, _empty("consumer")))


def has_transactions(deployment: Deployment) -> bool:
    return "transactional.id" in Reader(deployment).layers.get("producer", {})


def _seen_transactions(deployment: Deployment) -> TransactionsSeen:
    from ..ask.answers.transactions.reads import readers, seen

    deployment = with_reader(deployment)
    reader = readers(deployment)[0]
    return seen(Reader(deployment, group=reader), reader)


def _transaction_settings(deployment: Deployment) -> list[tuple[str, Setting]]:
    """Who takes part in transactions; a default of something that nobody has shown is an assumption."""
    shown = []
    found = list(_seen_transactions(deployment).settings)
    if has_transactions(deployment):
        from ..ask.answers.transactions.times import TIMEOUT, check_of

        look = Reader(deployment)
        timeout, check = look.number("producer", TIMEOUT)[1], check_of(look)[1]
        found += [(name, one) for name, one in (("producer", timeout), ("broker", check)) if one is not None]
    for component, setting in found:
        unseen = component == "consumer" and not deployment.groups
        unseen |= component == "broker" and all(one.file == _ASSUMED for one in deployment.cluster)
        if unseen and setting.origin.kind == "default":
            setting = setting._replace(origin=setting.origin._replace(kind="assumed"))
        shown.append((component, setting))
    return shown


def _of_transactions(deployment: Deployment, asked: Question, verdicts: Verdicts) -> Simulated:
    from ..ask.answers.transactions.reads import search

    found = _seen_transactions(deployment)
    environment, faults = counted(asked.environment), counted(asked.faults[0] if asked.faults else {})
    answer = search(asked.guarantee, found, environment, faults, verdicts.ask)
    outcome = Outcome(answer.verdict, answer.drawn, environment, faults, answer.depends_on, answer.reason)
    return Simulated(asked, outcome)
