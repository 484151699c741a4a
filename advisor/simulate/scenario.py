"""A scenario: a TOML file that tells a story, states settings and faults, and says what they come to.

Either the search looks for a run that breaks the guarantee, or the file gives the run itself (`events`) and
it is driven step by step. Settings stand in Kafka's own keys; `policy` turns what no key can, in the
simulator's fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ask.judge import counts
from ..ask.policies import Decoded, decode, producer_policies, replication_policies
from ..ask.verdicts import SECONDS_MAX, Verdicts
from ..catalog import Version
from ..join.link import Overrides
from ..model import Fact, Location, Origin, Setting, UsageError
from ..packs.faults import known_faults
from ..packs.vocabulary import PRODUCER_GUARANTEES, TRANSACTION_GUARANTEES
from ..syntax.numbers import INT, integer
from .by_hand import check_overrides, completed, of_settings, written_by_groups
from .guarantees import asked_by_hand, scenario_schema
from .scenario_values import Played, Scenario

_COMPONENTS = ("producer", "topic", "broker", "consumer")
# Each is a column of the run.
REPLICAS_PLAYED_MAX = 64


def read_scenario(file: str, data: bytes) -> Scenario:
    from ..schemas.explain import complaints
    from ..schemas.tomltext import read_toml

    value, lines = read_toml(file, data)
    found = complaints(file, value, lines, scenario_schema(), _name)
    if found:
        raise UsageError("\n".join(found))
    scenario = Scenario(
        file,
        value["title"],
        value["story"].strip(),
        value.get("kafka_version"),
        value.get("guarantee"),
        value.get("expect"),
        tuple(value.get("witnesses", ())),
        tuple(value.get("events", ())),
        value.get("environment", {}),
        value.get("faults", {}),
        value.get("client", "java"),
        stated_sets(value, lines),
        value.get("policy", {}),
        value.get("bounds"),
        value.get("time"),
    )
    if scenario.guarantee is not None and scenario.guarantee not in asked_by_hand():
        kind = "log" if scenario.guarantee == "storage-bounded" else "group"
        raise UsageError(f'{file}: {scenario.guarantee} is asked with kind = "{kind}" and a rule')
    for table in ("environment", "faults"):
        _at(f"{file}:{lines.of((table,))}: ", known_faults, scenario.guarantee or "", value.get(table, {}))
    return scenario


def stated_sets(value: Mapping[str, Any], lines: Any) -> tuple[tuple[str, int], ...]:
    """The tables of settings and facts as --set would have them, each with its line."""
    return tuple(
        (f"{'fact' if table == 'facts' else table}.{key}={_text(given)}", lines.of((table, key)))
        for table in (*_COMPONENTS, "facts")
        for key, given in value.get(table, {}).items()
    )


def _name(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in path) or "the scenario"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _at(place: str, function: Callable[..., Any], *words: Any) -> Any:
    """A mistake in a scenario is told with its place."""
    try:
        return function(*words)
    except (UsageError, ValueError) as error:
        raise UsageError(place + str(error).removeprefix("--set ")) from None


# -- from a file to a policy -------------------------------------------------------------------------------


def play(scenario: Scenario, version: Version, sets: Sequence[str], verdicts: Verdicts) -> Played:
    """`sets` are values of the command line, which win over the file's."""
    overrides = stated(scenario.file, scenario.sets, version, sets)
    check_stated(scenario.file, overrides, version)
    deployment = _at(f"{scenario.file}: ", completed, of_settings(overrides, version, scenario.client))
    if scenario.guarantee == "group-available":
        deployment = written_by_groups(deployment)
    decoded = decode(deployment)
    if scenario.guarantee in TRANSACTION_GUARANTEES:
        from .transaction_scenario import played

        return played(scenario, deployment, decoded, verdicts, _unmet)
    if scenario.time is not None:
        raise UsageError(f"{scenario.file}: time: only transactions are run on a clock by a scenario")
    policy = _policy(scenario, decoded)
    environment, faults = counts(scenario.environment, policy), counts(scenario.faults, policy)
    if scenario.events:
        verdict, trace, faults = _driven(scenario, policy, environment, faults)
    else:
        verdict = _searched(scenario, policy, environment, faults, verdicts)
        trace = tuple(getattr(verdict, "trace", ()))
    unmet = _unmet(scenario, verdict, trace)
    return Played(scenario, deployment, decoded, policy, environment, faults, verdict, trace, unmet)


def stated(
    file: str, given_sets: Sequence[tuple[str, int]], version: Version, sets: Sequence[str]
) -> Overrides:
    """The settings of a file, each with its line, and those of the command line, which win."""
    from ..join.overrides import parse_overrides

    settings: dict[str, dict[str, Setting]] = {}
    facts: dict[str, Fact] = {}
    of_file = [(text, Origin("file", Location(file, line))) for text, line in given_sets]
    for text, origin in [*of_file, *((text, None) for text in sets)]:
        place = "" if origin is None else f"{origin}: "
        parsed: Overrides = (
            _at(place, parse_overrides, [text], version) if place else parse_overrides([text], version)
        )
        for component, changed in parsed.settings.items():
            for key, setting in changed.items():
                settings.setdefault(component, {})[key] = setting._replace(origin=origin or setting.origin)
        for fact in parsed.facts:
            facts[fact.name] = fact._replace(origin=origin or fact.origin)
    return Overrides(settings, tuple(facts.values()))


def check_stated(file: str, overrides: Overrides, version: Version) -> None:
    _at(f"{file}: ", check_overrides, overrides, version)


def _policy(scenario: Scenario, decoded: Decoded) -> Any:
    of_producer = scenario.guarantee in PRODUCER_GUARANTEES
    found = producer_policies(decoded) if of_producer else replication_policies(decoded, own_protocol=True)
    if not found:
        raise UsageError(f"{scenario.file}: the producer does not start with these settings")
    policy = found[0].policy
    given = dict(scenario.policy)
    if "racks" in given:
        given["racks"] = tuple(given["racks"])
    for name in given:
        if name not in policy._fields:
            other = "producer" if of_producer else "replication"
            raise UsageError(f"{scenario.file}: policy.{name}: the {other} model has no such field")
    if of_producer:
        return _at(f"{scenario.file}: policy: ", lambda: type(policy)(**{**policy._asdict(), **given}))
    policy = policy._replace(**given)
    wanted = bool(policy.racks) or "rack_lost" in scenario.faults or "rack_lost" in scenario.environment
    if wanted and len(policy.racks) != policy.replicas:
        raise UsageError(f"{scenario.file}: policy.racks: one for each of the {policy.replicas} replicas")
    return policy


# -- searched or driven ------------------------------------------------------------------------------------


def _searched(
    scenario: Scenario,
    policy: Any,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    verdicts: Verdicts,
) -> Any:
    guarantee = scenario.guarantee or ""
    if scenario.bounds is None:
        return verdicts.ask(guarantee, policy, environment, faults)
    from time import process_time

    from ..sim.questions import ask

    # Who says how many states to look at is ready to wait for them.
    deadline = process_time() + (4 if "states" in scenario.bounds else 1) * SECONDS_MAX
    bounds = _bounds(scenario, policy)
    return ask(guarantee, policy, environment, faults, bounds, lambda: process_time() > deadline)


def _bounds(scenario: Scenario, policy: Any, **usual: Any) -> Any:
    from ..sim.producer.questions import BOUNDS
    from ..sim.search.verdict import Bounds

    of_producer = scenario.guarantee in PRODUCER_GUARANTEES
    base = BOUNDS if of_producer else Bounds(policy.replicas, records=1, elections=2)
    return base._replace(**{**usual, **(scenario.bounds or {})})


def _driven(
    scenario: Scenario, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
) -> tuple[Any, tuple[Any, ...], dict[str, int]]:
    """The given run, and the first step at which the guarantee is broken. Faults that the file does not count
    may happen as often as its events say."""
    place = f"{scenario.file}: "
    if scenario.guarantee in PRODUCER_GUARANTEES:
        return _driven_producer(scenario, policy, faults, place)
    if policy.replicas > REPLICAS_PLAYED_MAX:
        most = REPLICAS_PLAYED_MAX
        raise UsageError(f"{place}{policy.replicas} replicas: events are played with at most {most}")
    from ..sim.partition import guarantees
    from ..sim.partition.state import FAULT_OF, parse, start
    from ..sim.partition.step import run
    from ..sim.search.verdict import Broken, Holds, Step

    events = [_at(place, parse, text) for text in scenario.events]
    spent: dict[str, int] = {}
    for event in events:
        fault = FAULT_OF.get(event.name)
        if fault is not None:
            spent[fault] = spent.get(fault, 0) + 1
    written = sum(event.name == "produce" for event in events)
    bounds = _bounds(
        scenario, policy, records=max(1, written), elections=len(events), fetch="rounds", follower_hw=True
    )
    model, state = start(policy, bounds, {**spent, **environment, **faults})
    predicate = (
        getattr(guarantees, scenario.guarantee.replace("-", "_")) if scenario.guarantee is not None else None
    )
    trace: list[Any] = []
    reason: str | None = None
    for number, event in enumerate(events, 1):
        try:
            (one,), state = run(model, state, [event])
        except ValueError as error:
            why = str(error).partition(": ")[2] or str(error)
            raise UsageError(f"{place}events, step {number}: {why}") from None
        trace.append(Step(number, one.event, one.effects, one.state))
        if predicate is not None and reason is None:
            why_broken = predicate(model, state)
            reason = None if why_broken is None else f"at step {number}, {why_broken}"
    if predicate is None:
        return None, tuple(trace), spent
    if reason is not None:
        verdict: Any = Broken(scenario.guarantee or "", tuple(trace), spent, len(trace), bounds, reason)
    else:
        verdict = Holds(bounds._replace(note="this one run"), len(trace), ())
    return verdict, tuple(trace), spent


def _driven_producer(
    scenario: Scenario, policy: Any, faults: Mapping[str, int], place: str
) -> tuple[Any, tuple[Any, ...], dict[str, int]]:
    from ..sim.producer.questions import reordered, replay, stored_twice, trace_of
    from ..sim.producer.state import FAULTS, NO_BATCH, Event, initial
    from ..sim.search.verdict import Broken, Holds

    events = []
    for text in scenario.events:
        name, _, record = text.partition(" ")
        number = integer(record[1:], (0, INT[1])) if record[:1] == "r" else None
        if record and number is None:
            raise UsageError(f"{place}events: {text[:60]!r}: write a verb and a record, such as send r0")
        events.append(Event(name, NO_BATCH if number is None else number))
    spent = {name: sum(event.name == name for event in events) for name in FAULTS}
    spent = {name: count for name, count in spent.items() if count}
    bounds = _bounds(scenario, policy)
    first = initial(policy, {**spent, **faults}, bounds.records)
    broken = stored_twice if scenario.guarantee == "records-stored-once" else reordered
    states = _at(f"{place}events: ", replay, policy, first, events)
    trace = trace_of(policy, first, events)
    for number, (_, _, state) in enumerate(states, 1):
        reason = broken(state)
        if reason is not None:
            why = f"at step {number}, {reason}"
            return Broken(scenario.guarantee or "", trace, spent, len(trace), bounds, why), trace, spent
    return Holds(bounds._replace(note="this one run"), len(trace), ()), trace, spent


def _unmet(scenario: Scenario, verdict: Any, trace: Sequence[Any]) -> tuple[str, ...]:
    unmet = []
    if scenario.expect is not None and verdict is not None and verdict.verdict != scenario.expect:
        unmet.append(f"expected {scenario.expect}, found {verdict.verdict}")
    seen = set(getattr(verdict, "witnesses", ()))
    told = [text for step in trace for text in (step.event["text"], *step.effects)]
    for witness in scenario.witnesses:
        # Of a search: the name of a witness. Of a run: an event or an effect, or how it begins.
        if witness not in seen and not any(text.startswith(witness) for text in told):
            unmet.append(f"expected to see: {witness}")
    return tuple(unmet)
