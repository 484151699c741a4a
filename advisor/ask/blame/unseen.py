"""A deployment with what is not in sight filled in: brokers, topic and producer as Kafka has them by default.

The questions of the clock, the log and the groups are asked of it where the unseen decides, to tell a
statement that is to blame (`searched.py`) from a deployment of which nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...catalog import resolve_version
from ...context import Judgement
from ...join.effective import shows_brokers
from ...model import Deployment, Document, Fact, Origin, Setting, members_of
from ...sim.log.amounts import duration
from ...tuples import NamedTuple
from .statements import Pair, stated, without

# Brokers, replicas: what a cluster has that nobody describes.
_SEVERAL = "3"
_ASSUMED = Origin("assumed", None, "not in sight")
# Of a rule's params: what a figure of the workload is taken for that nobody states.
_USUAL = "usual_"
# More of them are not told with their values.
_NAMED_MAX = 2
_WORDS = {"broker": "the brokers'", "topic": "the topic's", "producer": "the producer's"}


class BlamedJudgement(NamedTuple):
    """What is broken with the unseen filled in, and what is to blame. `holds` asks it of the deployment with
    something changed."""

    judgement: Judgement
    settings: tuple[Pair, ...]
    assuming: tuple[str, ...]
    holds: Callable[[Deployment], bool]


def completed(deployment: Deployment) -> Deployment:
    """The same object where everything is in sight."""
    facts = {fact.name for fact in deployment.facts}
    more: list[Fact] = []
    cluster, topic, producer = deployment.cluster, deployment.topic, deployment.producer
    if not shows_brokers(deployment):
        cluster = (*cluster, _assumed("broker"))
        if "cluster.brokers" not in facts:
            more.append(Fact("cluster.brokers", _SEVERAL, _ASSUMED))
    if topic is None:
        topic = _assumed("topic")
        if "topic.replication_factor" not in facts:
            more.append(Fact("topic.replication_factor", _SEVERAL, _ASSUMED))
    if producer is None:
        acks = (Setting("acks", "all", _ASSUMED),) if _is_before_3(deployment) else ()
        producer = _assumed("producer", acks)
    whole = [document.partial for document in members_of(deployment)]
    if cluster is deployment.cluster and topic is deployment.topic and not any(whole):
        return deployment
    return deployment._replace(
        producer=_whole(producer),
        topic=_whole(topic),
        cluster=tuple(map(_whole, cluster)),
        groups=tuple(map(_whole, deployment.groups)),
        facts=(*deployment.facts, *more),
    )


def _whole(document: Document) -> Document:
    return document._replace(partial=False) if document.partial else document


def _assumed(component: str, settings: tuple[Setting, ...] = ()) -> Document:
    return Document("", "assumed", component, component, settings)


def _is_before_3(deployment: Deployment) -> bool:
    return resolve_version(deployment.version).number < (3, 0)


def blame_judgement(
    deployment: Deployment,
    judge: Callable[[Deployment], Sequence[Judgement]],
    params: Mapping[str, Any],
) -> BlamedJudgement | None:
    """`judge` asks the question of a deployment; `params` of the rule may say what is usual of a workload
    that nobody states."""
    usual = {
        name.removeprefix(_USUAL).removesuffix("_ms"): value
        for name, value in params.items()
        if name.startswith(_USUAL)
    }

    def fill_in(one: Deployment) -> Deployment:
        filled = completed(one)
        return filled._replace(workload={**usual, **filled.workload}) if usual else filled

    filled = fill_in(deployment)
    if filled is deployment:
        return None
    broken = next((one for one in judge(filled) if one.verdict == "broken"), None)
    if broken is None or broken.hit is None:
        return None

    def holds(changed: Deployment) -> bool:
        return all(one.verdict == "holds" for one in judge(fill_in(changed)))

    guilty = tuple(one for one in stated(broken.hit.settings) if holds(without(deployment, [one])))
    if not guilty:
        return None
    workload = tuple(
        f"[workload] {name} = {duration(value)}"
        for name, value in usual.items()
        if name not in deployment.workload
    )
    return BlamedJudgement(broken, guilty, workload or _assumptions(broken, deployment), holds)


def _assumptions(judgement: Judgement, deployment: Deployment) -> tuple[str, ...]:
    """The defaults that count in it of whoever is not in sight."""
    hit = judgement.hit
    assert hit is not None, "what is broken is broken somewhere"
    # A topic's defaults are its brokers'.
    hidden = () if shows_brokers(deployment) else ("broker", "topic")
    whole = {document.component for document in members_of(deployment) if not document.partial}
    unseen = [
        (component, setting)
        for component, setting in hit.settings
        if setting.origin.at is None and setting.origin.kind == "default"
        if component in hidden or component not in whole
    ]
    # Those that its message is about, if it names any.
    told_of = [hit.fields.values(), hit.keys]
    named = ([pair for pair in unseen if pair[1].key in " ".join(words)] for words in told_of)
    deciding = next((pairs for pairs in named if pairs), unseen)
    if len(deciding) > _NAMED_MAX:
        return (f"Kafka's defaults of {', '.join(setting.key for _, setting in deciding)}",)
    told = tuple(
        f"{setting.key}={setting.value}, {_WORDS.get(component, 'its')} default"
        for component, setting in deciding
    )
    return told or ("Kafka's defaults where no file says anything",)
