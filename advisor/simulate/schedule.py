"""A schedule: a TOML file that says what happens to a cluster and when, step by step, on a clock.

The steps are words of an operator's day (send, kill9, start, sleep, ...). What they leave open, where in a
heartbeat a broker dies or how long a fetch takes, is tried over the timeline's grid of phases: a schedule is
answered by the set of its outcomes, and one run is shown event by event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ask.answers.producer.setup import MILLISECOND, REPLICAS_PLAYED, Timed, timed
from ..ask.policies import decode
from ..model import Deployment, Fact, Location, Origin, UsageError
from ..packs.vocabulary import RECORDED_STEPS, STEPS
from ..schemas.explain import did_you_mean
from ..sim.clock.clock import TooManyEvents
from ..sim.clock.grid import GRID, Phase
from ..sim.clock.record import Record, record
from ..sim.clock.timeline import Outcome, Run, Setup, Step
from ..syntax.numbers import INT, integer
from ..tuples import NamedTuple

_OF_ONE = ("sigstop", "sigcont", "kill9", "term", "start", "wipe")
_WAITS = ("wait_leader", "wait_isr", "wait_nodes")
_SIMULATED = {word: name for name, word in RECORDED_STEPS.items()}
_CUTS = ("brokers", "minority", "controller-only", "replication-only")
# What a schedule may change of a topic, as fields of the policies.
FIELDS = {
    "min.insync.replicas": "min_isr",
    "unclean.leader.election.enable": "unclean",
    "max.message.bytes": "max_message_bytes",
}
RECORDS_MAX, SECONDS_MAX, WAIT_SECONDS = 100_000, 3_600, 60
# Of one run, and of the runs under all phases: some seconds. Ten thousand records, each a request of its own,
# are within them; stretches in which nothing is wrong hardly count.
EVENTS_MAX, ALL_EVENTS_MAX = 40_000, 350_000
_COMPONENTS = ("producer", "topic", "broker")
COUNTS = ("sent", "acked", "acked_lost", "failed", "failed_but_readable", "duplicates", "descents")


class Schedule(NamedTuple):
    """What a file states; each step with its line."""

    file: str
    title: str
    story: str
    kafka_version: str | None
    client: str
    replicas: tuple[int, ...] | None
    steps: tuple[tuple[tuple[Any, ...], int], ...]
    expect: Mapping[str, Any]
    sets: tuple[tuple[str, int], ...]  # as --set would have them, with the line of each


class Played(NamedTuple):
    """What a schedule came to: one outcome a phase, in the order of the grid, and one run told in full."""

    timed: Timed
    replicas: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    phase: int
    record: Record
    unmet: tuple[str, ...]


# -- the file ----------------------------------------------------------------------------------------------


def read_schedule(file: str, data: bytes) -> Schedule:
    from ..schemas import load_schema
    from ..schemas.explain import complaints
    from ..schemas.tomltext import read_toml

    value, lines = read_toml(file, data)
    found = complaints(file, value, lines, load_schema("schedule"), _name)
    if found:
        raise UsageError("\n".join(found))
    steps = tuple((tuple(step), lines.of(("schedule", n))) for n, step in enumerate(value["schedule"]))
    sets = tuple(
        (f"{'fact' if table == 'facts' else table}.{key}={text_of(given)}", lines.of((table, key)))
        for table in (*_COMPONENTS, "facts")
        for key, given in value.get(table, {}).items()
    )
    replicas = value.get("replicas")
    return Schedule(
        file,
        value["title"],
        value.get("story", "").strip(),
        value.get("kafka_version"),
        value.get("client", "java"),
        None if replicas is None else tuple(replicas),
        steps,
        value.get("expect", {}),
        sets,
    )


def _name(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part) for part in path) or "the schedule"


def text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- its steps ---------------------------------------------------------------------------------------------


def steps_of(schedule: Schedule, replicas: Sequence[int]) -> list[Step]:
    """The steps for the simulator; a mistake is told with its line."""
    found = []
    for step, line in schedule.steps:
        try:
            found.append(step_of(step, replicas))
        except UsageError as error:
            raise UsageError(f"{schedule.file}:{line}: {error}") from None
    return found


def step_of(step: Sequence[Any], replicas: Sequence[int]) -> Step:
    """One step, brokers as places in the assignment."""
    word, *arguments = step
    if not isinstance(word, str) or not (word in STEPS or word in RECORDED_STEPS):
        raise UsageError(f"no step is called {word!r}{did_you_mean(word, STEPS)}")
    name = _SIMULATED.get(word, word)
    made = Step(name)
    if name in _OF_ONE:
        return made._replace(value=_place(_one(name, arguments, int), replicas))
    if name in _WAITS:
        return _waiting(made, arguments, replicas)
    match name:
        case "send":
            return _sending(made, arguments)
        case "await" | "sleep":
            return made._replace(timeout=_microseconds(name, _one(name, arguments, int | float)))
        case "topic_config":
            return made._replace(value=_changes(_one(name, arguments, dict)))
        case "isolate":
            kind = _one(name, arguments, str)
            if kind not in _CUTS:
                raise UsageError(f"nothing is cut by {kind!r}{did_you_mean(kind, _CUTS)}")
            return made._replace(value=kind)
    # Kafka's tool calls this election PREFERRED; no other can be asked for here.
    if arguments and (name, arguments) != ("elect", ["PREFERRED"]):
        raise _wrong(name)
    return made


def _wrong(name: str) -> UsageError:
    word = RECORDED_STEPS.get(name, name)
    return UsageError(f"{word}: write {STEPS[word][0]}")


def _one(name: str, arguments: Sequence[Any], kind: Any) -> Any:
    if len(arguments) != 1 or not isinstance(arguments[0], kind) or isinstance(arguments[0], bool):
        raise _wrong(name)
    return arguments[0]


def _place(broker: int, replicas: Sequence[int]) -> int:
    if broker not in replicas:
        listed = ", ".join(map(str, replicas))
        raise UsageError(f"broker {broker} holds no replica of the partition; {listed} do")
    return list(replicas).index(broker)


def _microseconds(name: str, seconds: float) -> int:
    if not 0 <= seconds <= SECONDS_MAX:
        raise UsageError(f"{name} {seconds}: seconds, from 0 to {SECONDS_MAX}")
    return int(seconds * 1000) * MILLISECOND


def _sending(made: Step, arguments: Sequence[Any]) -> Step:
    options = arguments[1] if len(arguments) == 2 else {}
    if not 1 <= len(arguments) <= 2 or not isinstance(options, dict):
        raise _wrong("send")
    values = {"records": arguments[0], "size": 100, "gap_us": 0, **options}
    most = {"size": INT[1], "gap_us": SECONDS_MAX * 1_000_000}
    for name, value in values.items():
        if name not in ("records", "size", "gap_us"):
            raise UsageError(f"send: unknown option {name!r}{did_you_mean(name, ('size', 'gap_us'))}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise UsageError(f"send: {name} is {value!r}, must be a whole number, 0 or more")
        if name in most and value > most[name]:
            raise UsageError(f"send: {name} is {value}, must be at most {most[name]}")
    if not 1 <= values["records"] <= RECORDS_MAX:
        raise UsageError(f"send {values['records']}: records, from 1 to {RECORDS_MAX}")
    if values["records"] * values["gap_us"] > SECONDS_MAX * 1_000_000:
        raise UsageError(f"send: takes longer than {SECONDS_MAX} seconds")
    return made._replace(value=values["records"], size=values["size"], gap=values["gap_us"])


def _waiting(made: Step, arguments: Sequence[Any], replicas: Sequence[int]) -> Step:
    brokers, limit = [*arguments, WAIT_SECONDS][:2] if arguments else (None, None)
    if not isinstance(brokers, list) or len(arguments) > 2 or not isinstance(limit, int | float):
        raise _wrong(made.name)
    places = [_place(broker, replicas) for broker in brokers]
    return made._replace(value=places, timeout=_microseconds(made.name, limit))


def _changes(given: Mapping[str, Any]) -> dict[str, int | bool]:
    found: dict[str, int | bool] = {}
    for key in sorted(given):
        if key not in FIELDS:
            raise UsageError(f"topic_config: {key} does not change a run{did_you_mean(key, FIELDS)}")
        text = text_of(given[key])
        if key.startswith("unclean"):
            if text not in ("true", "false"):
                raise UsageError(f"topic_config: {key} is {text}, must be true or false")
            found[FIELDS[key]] = text == "true"
        else:
            least = 1 if key == "min.insync.replicas" else 0
            value = integer(text, (least, INT[1]))
            if value is None:
                raise UsageError(
                    f"topic_config: {key} is {text}, must be a whole number from {least} to {INT[1]}"
                )
            found[FIELDS[key]] = value
    return found


# -- played ------------------------------------------------------------------------------------------------


def replicas_of(schedule: Schedule, deployment: Deployment) -> tuple[int, ...]:
    """The brokers of the partition: as the file has them, else 1, 2, 3 up to the replication factor."""
    factor = decode(deployment).knobs["replicas"]
    if factor.values[0] > REPLICAS_PLAYED:
        raise UsageError(
            f"{schedule.file}: a schedule is played with up to {REPLICAS_PLAYED} replicas; the replication "
            f"factor here is {factor.values[0]}"
        )
    if schedule.replicas is None:
        return tuple(range(1, factor.values[0] + 1))
    if factor.seen and factor.values[0] != len(schedule.replicas):
        raise UsageError(
            f"{schedule.file}: names {len(schedule.replicas)} replicas; "
            f"the replication factor here is {factor.values[0]}"
        )
    return schedule.replicas


def with_replicas(schedule: Schedule, deployment: Deployment) -> Deployment:
    """A schedule that names the replicas says how many there are, where nothing else does."""
    factor = decode(deployment).knobs["replicas"]
    written = any(setting.origin.kind != "default" for _, setting in factor.decided_by)
    if schedule.replicas is None or (factor.seen and written):
        return deployment
    origin = Origin("file", Location(schedule.file), "replicas")
    fact = Fact("topic.replication_factor", str(len(schedule.replicas)), origin)
    kept = tuple(one for one in deployment.facts if one.name != fact.name)
    return deployment._replace(facts=(*kept, fact))


def play(schedule: Schedule, deployment: Deployment, phase: int | None = None) -> Played:
    """A completed deployment under every phase. Without `phase` the run told is that of the commonest
    outcome."""
    if phase is not None and not 1 <= phase <= len(GRID):
        raise UsageError(f"--phase {phase}: there are {len(GRID)} phases")
    replicas = replicas_of(schedule, deployment)
    steps = steps_of(schedule, replicas)
    on_clock = timed(deployment, compressible=True)
    if on_clock is None:
        raise UsageError("the producer does not start with these settings; `kafka-advisor audit` says why")
    try:
        outcomes = tuple(_outcomes(on_clock.setup, steps))
        shown = outcomes.index(max(outcomes, key=outcomes.count)) if phase is None else phase - 1
        told = _told(on_clock.setup, steps, GRID[shown], replicas)
    except TooManyEvents:
        raise UsageError(
            f"{schedule.file}: too long to play: more than {EVENTS_MAX:,} events of brokers and producer "
            f"in one run, or {ALL_EVENTS_MAX:,} in all {len(GRID)}; send fewer records, or wait for less"
        ) from None
    return Played(on_clock, replicas, outcomes, shown + 1, told, _unmet(schedule.expect, outcomes))


def _outcomes(setup: Setup, steps: Sequence[Step]) -> Iterator[Outcome]:
    left = ALL_EVENTS_MAX
    for phase in GRID:
        run = Run(setup, phase, events_max=min(EVENTS_MAX, left))
        yield run.play(steps)
        left -= run.clock.events


def _told(setup: Setup, steps: Sequence[Step], phase: Phase, replicas: Sequence[int]) -> Record:
    """Record by record, unless that is too much to play and to read."""
    try:
        return record(setup, steps, phase, replicas, strides=False, events_max=EVENTS_MAX)
    except TooManyEvents:
        return record(setup, steps, phase, replicas, events_max=EVENTS_MAX)


def failed(outcome: Outcome) -> int:
    return outcome.sent - outcome.acked


def _unmet(expect: Mapping[str, Any], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    unmet = []
    for name, wanted in expect.items():
        if name == "errors":
            seen = sorted({error for outcome in outcomes for error in outcome.errors})
            if seen != sorted(wanted):
                unmet.append(f"expected errors: {_listed(wanted)}, found: {_listed(seen)}")

            continue
        least, most = wanted if isinstance(wanted, list) else (wanted, wanted)
        values = [failed(one) if name == "failed" else getattr(one, name) for one in outcomes]
        if min(values) < least or max(values) > most:
            found = str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"
            asked = str(least) if least == most else f"{least} to {most}"
            unmet.append(f"expected {name} {asked}, found {found}")
    return tuple(unmet)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"
