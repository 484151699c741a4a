"""A scenario of kind log or group: a rule about the log of one partition or about a consumer group, asked of
stated settings and a workload.

What the file does not state is Kafka's default: the broker is in sight and says nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ask.models import Models
from ..catalog import Version
from ..context import Context, Judgement
from ..memo.cache import Cache
from ..model import Deployment, Document, Origin, Setting, UsageError
from ..packs.pack import Rule
from ..tuples import NamedTuple
from .by_hand import completed, of_settings
from .guarantees import scenario_schema
from .scenario import check_stated, stated, stated_sets


class LogScenario(NamedTuple):
    """What a file states."""

    file: str
    title: str
    story: str
    kafka_version: str | None
    guarantee: str
    rule: str
    expect: str | None
    witnesses: tuple[str, ...]
    sets: tuple[tuple[str, int], ...]
    workload: Mapping[str, Any]


class PlayedLog(NamedTuple):
    """What it came to; `unmet` says in what it is not as the file expects."""

    scenario: LogScenario
    deployment: Deployment
    rule: Rule
    judgement: Judgement
    unmet: tuple[str, ...]


def is_log_scenario(data: bytes) -> bool:
    """Without a word about mistakes: the reader of the file tells them."""
    import tomllib

    try:
        return "kind" in tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return False


def read_log_scenario(file: str, data: bytes) -> LogScenario:
    from ..schemas.explain import complaints
    from ..schemas.tomltext import read_toml

    value, lines = read_toml(file, data)
    found = complaints(file, value, lines, scenario_schema(), lambda path: ".".join(map(str, path)))
    if found:
        raise UsageError("\n".join(found))
    for other in ("events", "faults", "environment", "policy", "bounds", "client", "time"):
        if other in value:
            place, kind = f"{file}:{lines.of((other,))}", value["kind"]
            raise UsageError(f"{place}: {other} does not belong to a scenario of a {kind}")
    return LogScenario(
        file,
        value["title"],
        value["story"].strip(),
        value.get("kafka_version"),
        value["guarantee"],
        value["rule"],
        value.get("expect"),
        tuple(value.get("witnesses", ())),
        stated_sets(value, lines),
        _workload(file, value.get("workload", {}), lines),
    )


def _workload(file: str, given: Mapping[str, Any], lines: Any) -> Mapping[str, Any]:
    from pydantic import ValidationError

    from ..read.project_schema import Workload

    try:
        return Workload.model_validate(dict(given)).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        place = f"{file}:{lines.of(('workload', name))}"
        raise UsageError(f"{place}: workload.{name}: {first['msg']}") from None


def play_log(scenario: LogScenario, version: Version, sets: Sequence[str], cache: Cache) -> PlayedLog:
    """`sets` are values of the command line, which win over the file's."""
    from ..memo.answers import Remembered
    from ..packs.pack import load_packs
    from ..packs.questions import question_of
    from ..registry import function, load_registry

    registry = load_registry()
    rules = load_packs(registry.packs, (), cache)
    rule = next((one for one in rules if scenario.rule in (one.code, one.name)), None)
    if rule is None or rule.guarantee != scenario.guarantee:
        known = ", ".join(one.name for one in rules if one.guarantee == scenario.guarantee)
        raise UsageError(
            f"{scenario.file}: no rule {scenario.rule!r} asks {scenario.guarantee}; there is {known}"
        )
    overrides = stated(scenario.file, scenario.sets, version, sets)
    check_stated(scenario.file, overrides, version)
    try:
        deployment = completed(of_settings(overrides, version))
    except UsageError as error:
        raise UsageError(f"{scenario.file}: {error}") from None
    deployment = deployment._replace(
        workload=scenario.workload, cluster=tuple(map(_in_sight, deployment.cluster))
    )
    context = Context(
        registry.clients,
        {spec.name: spec for spec in registry.formats},
        lambda document: version,
        lambda document: (deployment,),
        Remembered(cache, lambda: registry.digest),
        registry.assignors,
        registry.partitioners,
        function,
    )
    found = Models(registry.models).judge(question_of(rule, {}), deployment, context)
    nothing = Judgement("unknown", reason="nothing in these settings points to it")
    judgement = found[0] if found else nothing
    return PlayedLog(scenario, deployment, rule, judgement, _unmet(scenario, judgement))


def _in_sight(broker: Document) -> Document:
    """A broker of which nothing is stated has Kafka's defaults, which a document without a line would not
    say."""
    if broker.settings:
        return broker
    return broker._replace(settings=(Setting("node.id", "1", Origin("assumed", None, "the broker")),))


def _unmet(scenario: LogScenario, judgement: Judgement) -> tuple[str, ...]:
    unmet = []
    if scenario.expect is not None and judgement.verdict != scenario.expect:
        unmet.append(f"expected {scenario.expect}, found {judgement.verdict}")
    told = [text for step in judgement.trace for text in (step["event"]["text"], *step["effects"])]
    for witness in scenario.witnesses:
        if not any(text.startswith(witness) for text in told):
            unmet.append(f"expected to see: {witness}")
    return tuple(unmet)
