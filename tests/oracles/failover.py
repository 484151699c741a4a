"""failover: what real clusters made of a schedule of faults and sends is among the outcomes of ours.

As `determinism` says: `yes`, the observed numbers of acknowledged and lost records and the error classes are
in the set, the rest by zero or non-zero; otherwise everything by zero or non-zero. In F lanes the order of
records means nothing: their senders run in parallel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from advisor.sim.partition_state import Policy
from advisor.sim.timeline import Outcome, Setup, Step, outcomes
from advisor.sim.timeline_client import ClientPolicy
from advisor.sim.timeline_cluster import ClusterPolicy

MILLISECOND = 1_000
COUNTS = ("acked", "acked_lost", "failed_but_readable", "duplicates", "descents")
# What a schedule may change of a topic.
FIELDS = {
    "min.insync.replicas": "min_isr",
    "unclean.leader.election.enable": "unclean",
    "max.message.bytes": "max_message_bytes",
}
# Values are a number filled up with one letter.
COMPRESSED = 0.01


def setup(case: Mapping[str, Any]) -> Setup:
    given = case["input"]
    version = tuple(int(part) for part in case["version"].split("."))
    topic, producer, broker = given["topic"], given["producer"], given["broker"]
    acks = {"-1": "all"}.get(str(producer.get("acks", "all")), str(producer.get("acks", "all")))
    retries = producer.get("retries")
    in_flight = int(producer.get("max.in.flight.requests.per.connection", 5))
    able = acks == "all" and str(retries) != "0" and in_flight <= 5
    idempotence = str(producer.get("enable.idempotence", version >= (3,) and able)).lower() == "true"
    partition = Policy(
        replicas=len(topic["replicas"]),
        acks=acks,
        min_isr=int(topic.get("min.insync.replicas", broker.get("min.insync.replicas", 1))),
        unclean=str(topic.get("unclean.leader.election.enable", "false")).lower() == "true",
        elr=version >= (4, 1),
        min_isr_capped=version >= (3, 7),
        hw_waits_for_min_isr=version >= (3, 7),
    )
    session = broker.get("broker.session.timeout.ms", broker.get("zookeeper.session.timeout.ms", 9000))
    cluster = ClusterPolicy(
        session_timeout=int(session) * MILLISECOND,
        lag_time_max=int(broker.get("replica.lag.time.max.ms", 30_000)) * MILLISECOND,
        max_message_bytes=int(topic.get("max.message.bytes", broker.get("message.max.bytes", 1_048_588))),
    )
    backoff = int(producer.get("retry.backoff.ms", 100))
    most = int(producer.get("retry.backoff.max.ms", 1000)) if version >= (3, 7) else backoff
    defaults = ClientPolicy()

    def time(key: str, default: int) -> int:
        return int(producer[key]) * MILLISECOND if key in producer else default

    client = ClientPolicy(
        acks=acks,
        idempotence=idempotence,
        in_flight=in_flight,
        retries=None if retries is None else int(retries),
        batch_size=int(producer.get("batch.size", defaults.batch_size)),
        linger=time("linger.ms", 5 * MILLISECOND if version >= (4,) else 0),
        max_request_size=int(producer.get("max.request.size", defaults.max_request_size)),
        buffer_memory=int(producer.get("buffer.memory", defaults.buffer_memory)),
        max_block=time("max.block.ms", defaults.max_block),
        request_timeout=time("request.timeout.ms", defaults.request_timeout),
        delivery_timeout=time("delivery.timeout.ms", defaults.delivery_timeout),
        retry_backoff=backoff * MILLISECOND,
        retry_backoff_max=max(backoff, most) * MILLISECOND,
        backoff_grows=version >= (3, 7),
        metadata_max_age=time("metadata.max.age.ms", defaults.metadata_max_age),
        rebootstraps=version >= (4,),
        leader_in_answer=version >= (3, 7),
        compression_ratio=None if producer.get("compression.type", "none") == "none" else COMPRESSED,
    )
    return Setup(partition, cluster, client)


def schedules(case: Mapping[str, Any]) -> list[list[Step]]:
    """The schedule, once for every recorded run: its steps begin no earlier than they did there."""
    given = case["input"]
    runs = [run for run in given.get("times_ms") or [] if run] or [None]
    return [_schedule(given, run) for run in runs]


def _schedule(given: Mapping[str, Any], times: list[Any] | None) -> list[Step]:
    place = {broker: index for index, broker in enumerate(given["topic"]["replicas"])}
    steps = []
    for number, (name, *arguments) in enumerate(given["schedule"]):
        begun = times[number][0] if times and times[number] and times[number][0] is not None else 0
        step = Step(name, not_before=begun * MILLISECOND)
        match name:
            case "send":
                options = arguments[1] if len(arguments) > 1 else {}
                step = step._replace(
                    value=arguments[0], size=options.get("size", 100), gap=options.get("gap_us", 0)
                )
            case "await" | "sleep":
                step = step._replace(timeout=int(arguments[0] * 1000) * MILLISECOND)
            case "wait_leader" | "wait_isr" | "wait_nodes":
                value = [place[broker] for broker in arguments[0] if broker in place]
                limit = arguments[1] if len(arguments) > 1 else 60
                step = step._replace(value=value, timeout=int(limit * 1000) * MILLISECOND)
            case "sigstop" | "sigcont" | "kill9" | "term" | "start" | "wipe":
                if arguments[0] not in place:
                    continue
                step = step._replace(value=place[arguments[0]])
            case "topic_config":
                changed = next(argument for argument in arguments if isinstance(argument, dict))
                step = step._replace(value={FIELDS[key]: _value(changed[key]) for key in sorted(changed)})
            case "isolate":
                step = step._replace(value=arguments[0])
        steps.append(step)
    return steps


def _value(text: Any) -> int | bool:
    return {"true": True, "false": False}.get(str(text).lower(), 0) if not str(text).isdigit() else int(text)


def answer(case: Mapping[str, Any]) -> set[Outcome]:
    return _answer(json.dumps([case["version"], case["input"]], sort_keys=True))


@lru_cache(maxsize=1024)
def _answer(text: str) -> set[Outcome]:
    version, given = json.loads(text)
    case = {"version": version, "input": given}
    return outcomes(setup(case), schedules(case))


Key = tuple[Any, ...]


def judged(case: Mapping[str, Any], counts: Mapping[str, int], errors: tuple[str, ...]) -> Key:
    """What of an outcome is compared."""
    exact = ("acked", "acked_lost") if case["output"]["determinism"] == "yes" else ()
    names = [name for name in COUNTS if not (name == "descents" and case["id"].startswith("F"))]
    return (*(counts[name] if name in exact else counts[name] > 0 for name in names), errors)


def observed(case: Mapping[str, Any]) -> list[Key]:
    """One for every run: a list instead of a number is one value a run."""
    output = case["output"]
    runs = max((len(output[name]) for name in COUNTS if isinstance(output[name], list)), default=1)
    errors = tuple(sorted(output["errors"]))
    return [
        judged(
            case,
            {n: output[n][run] if isinstance(output[n], list) else output[n] for n in COUNTS},
            errors,
        )
        for run in range(runs)
    ]


def keys(case: Mapping[str, Any]) -> set[Key]:
    return {judged(case, outcome._asdict(), outcome.errors) for outcome in answer(case)}


def compare(case: dict[str, Any]) -> str | None:
    """None if every observed run is among our outcomes."""
    ours = keys(case)
    missing = [key for key in observed(case) if key not in ours]
    if not missing:
        return None
    return f"{missing[0]} is not among {sorted(ours, key=repr)}"


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """How large the sets are, as they are compared: "everything is possible" would show here."""
    sizes: dict[str, list[int]] = {}
    for case in cases:
        for family in ("all", case["id"][0]):
            sizes.setdefault(family, []).append(len(keys(case)))
    means = ", ".join(f"{family} {sum(of) / len(of):.2f}" for family, of in sizes.items())
    return [f"mean size of the outcome sets: {means}"]
