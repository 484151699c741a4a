"""Recipes: configurations that hold every guarantee of a profile, and for each line the run that needs it.

`files` is what `init --recipe` writes; `needs` takes a line out (or puts in its place what it guards
against) and audits the rest as any user's files are audited: what is found then is why the line is there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..model import UsageError
from ..tuples import NamedTuple

SERIALIZER = "org.apache.kafka.common.serialization.String"


class Line(NamedTuple):
    """One line of a recipe. `instead` is what stands there otherwise, None: nothing, the line is taken out;
    `whose` says whose value that is. `code` is the rule that finds it then, "" for a line that every such
    file has. `also_out` are lines that Kafka would not take beside `instead`; `told` is said in that trial's
    project file, by table."""

    component: str
    key: str
    value: str
    because: str = ""
    code: str = ""
    instead: str | None = None
    whose: str = ""
    also_out: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    since: tuple[int, int] = (0, 0)
    until: tuple[int, int] = (99, 0)  # not in this release any more


FILES = {
    "producer": "producer.properties",
    "topic": "topic-orders.properties",
    "broker": "server.properties",
    "consumer": "consumer.properties",
}

# How a broker finds its controllers depends on the release: KRaft with and without a fixed quorum, ZooKeeper.
_VOTERS = "1@controller-1:9093,2@controller-2:9093,3@controller-3:9093"
_MODE = (
    Line("broker", "process.roles", "broker", since=(3, 3)),
    Line("broker", "node.id", "11", since=(3, 3)),
    Line("broker", "broker.id", "11", until=(3, 3)),
    Line("broker", "zookeeper.connect", "zookeeper-1:2181,zookeeper-2:2181,zookeeper-3:2181", until=(3, 3)),
    Line("broker", "controller.quorum.voters", _VOTERS, since=(3, 3), until=(3, 9)),
    Line(
        "broker",
        "controller.quorum.bootstrap.servers",
        "controller-1:9093,controller-2:9093,controller-3:9093",
        since=(3, 9),
    ),
    Line("broker", "controller.listener.names", "CONTROLLER", since=(3, 3)),
    Line(
        "broker", "listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT", since=(3, 3)
    ),
)

NO_LOSS: tuple[Line, ...] = (
    Line("producer", "bootstrap.servers", "kafka-1:9092,kafka-2:9092,kafka-3:9092"),
    Line("producer", "key.serializer", f"{SERIALIZER}Serializer"),
    Line("producer", "value.serializer", f"{SERIALIZER}Serializer"),
    Line(
        "producer",
        "acks",
        "all",
        "an acknowledged record is on every in-sync replica",
        "KA101",
        "1",
        "the default before 3.0, which switches idempotence off as well",
        also_out=("enable.idempotence",),
    ),
    Line(
        "producer",
        "enable.idempotence",
        "true",
        "a retry is neither stored twice nor out of order, with up to five requests in flight",
        "KA301",
        "false",
        "the default before 3.0",
    ),
    Line(
        "producer",
        "max.in.flight.requests.per.connection",
        "5",
        "as many as the broker can put in order; more are refused together with idempotence",
        "KA010",
        "6",
        "a value above five",
    ),
    Line(
        "producer",
        "retries",
        "2147483647",
        "a send is tried again until delivery.timeout.ms is over, so an election is outlasted",
        "KA320",
        "0",
        "a limit that an election uses up",
        also_out=("enable.idempotence", "max.in.flight.requests.per.connection"),
    ),
    Line(
        "producer",
        "max.block.ms",
        "60000",
        "send() waits for room in the buffer and for metadata instead of giving the record up",
        "KA326",
        "0",
        "no patience at all",
    ),
    Line("topic", "partitions", "6"),
    Line(
        "topic",
        "replication.factor",
        "3",
        "one broker may be away, and one more may be lost, without a record being gone",
        "KA201",
        "2",
        "two copies, of which min.insync.replicas=2 needs both",
    ),
    Line(
        "topic",
        "min.insync.replicas",
        "2",
        "acks=all means at least two copies, however few replicas are in sync",
        "KA102",
        "1",
        "Kafka's default",
    ),
    Line(
        "topic",
        "unclean.leader.election.enable",
        "false",
        "a replica that lacks acknowledged records is never made leader",
        "KA101",
        "true",
        "availability before durability, on a cluster without eligible leader replicas",
        told=(("facts", 'elr = "off"'),),
    ),
    *_MODE,
    Line("broker", "listeners", "PLAINTEXT://:9092"),
    Line("broker", "advertised.listeners", "PLAINTEXT://kafka-1:9092"),
    Line(
        "broker",
        "log.dirs",
        "/var/lib/kafka",
        "logs are where a reboot leaves them",
        "KA107",
        "/tmp/kafka-logs",
        "Kafka's default",
    ),
    Line("broker", "default.replication.factor", "3"),
    Line("broker", "min.insync.replicas", "2"),
    Line(
        "broker",
        "offsets.topic.replication.factor",
        "3",
        "groups keep their coordinator and offsets when a broker is away",
        "KA204",
        "1",
        "as in the configuration Kafka ships for trying it out",
    ),
    Line(
        "broker",
        "transaction.state.log.replication.factor",
        "3",
        "transactions go on when a broker is away",
        "KA205",
        "1",
        "as in the configuration Kafka ships for trying it out",
    ),
    Line("broker", "transaction.state.log.min.isr", "2"),
    Line("consumer", "bootstrap.servers", "kafka-1:9092,kafka-2:9092,kafka-3:9092"),
    Line("consumer", "group.id", "billing"),
    Line("consumer", "key.deserializer", f"{SERIALIZER}Deserializer"),
    Line("consumer", "value.deserializer", f"{SERIALIZER}Deserializer"),
    Line(
        "consumer",
        "enable.auto.commit",
        "false",
        "the application commits what it has done, when it has done it",
        "KA401",
        "true",
        "Kafka's default, beside workers that are still busy",
        told=(("workload", 'processing = "workers"'),),
    ),
    Line(
        "consumer",
        "auto.offset.reset",
        "earliest",
        "what has no committed offset yet, such as an added partition, is read from its start",
        "KA404",
        "latest",
        "Kafka's default",
    ),
)

RECIPES: Mapping[str, tuple[Line, ...]] = {"no-loss": NO_LOSS}
ABOUT = {
    "no-loss": "No acknowledged record is lost, stored twice or reordered, and no group skips one, with one "
    "broker away or lost and one member of a group dead."
}
# What no file can say: it is the application's code.
BESIDES = {
    "no-loss": (
        "send with a callback: a send that fails after all retries is told there and nowhere else",
        "on such a failure stop at once, close(0), if the order of records matters",
        "commit after the work: poll, process, then commitSync()",
    )
}


def told(name: str, version: str) -> Iterator[str]:
    """`explain no-loss`: every line, and the run that needs it."""
    from ..output.terminal import terminal
    from .run import run_lines, run_of

    lines = recipe(name, version)
    yield f"{name}: {ABOUT[name]}"
    yield f"(Kafka {version}; `kafka-advisor init --recipe {name} FOLDER` writes the files)"
    component = ""
    for line, finding in needs(lines, version):
        if line.component != component:
            component = line.component
            yield f"\n{FILES[component]}"
        yield f"\n  {line.key}={line.value}"
        yield f"    {line.because}"
        there = f"{line.key}={line.instead}" if line.instead is not None else "nothing in its place"
        if finding is None:
            yield f"    instead of {there} ({line.whose})"
            continue
        yield f"    with {there} ({line.whose}): {finding['severity']} {finding['code']} {finding['name']}"
        yield f"    {finding['message']}"
        evidence = finding["evidence"]
        if evidence["trace"]:
            run = run_of(evidence["trace"], evidence["guarantee"])
            yield from run_lines(run, terminal().width, brief=True, indent="      ", all_rows=False)
    yield "\nwhat no file can say:"
    yield from (f"  - {step}" for step in BESIDES[name])


class Need(NamedTuple):
    """Why a line is there: what an audit finds without it (None: nothing)."""

    line: Line
    finding: Mapping[str, Any] | None


def recipe(name: str, version: str) -> tuple[Line, ...]:
    """The lines for this release."""
    if name not in RECIPES:
        raise UsageError(f"no recipe is called {name!r}; there is {', '.join(RECIPES)}")
    release = tuple(int(part) for part in version.split(".")[:2])
    return tuple(line for line in RECIPES[name] if line.since <= release < line.until)


def files(lines: Iterable[Line], version: str, profile: str = "prod") -> dict[str, str]:
    """The recipe as files, each line under its reason; the project file states the cluster."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        text = texts.setdefault(FILES[line.component], [])
        if line.because:
            text.append(f"# {line.because}")
        text.append(f"{line.key}={line.value}")
    project = [f'kafka_version = "{version}"', f'profile = "{profile}"', "", "[facts]", "brokers = 3"]
    return {name: "\n".join(text) + "\n" for name, text in {**texts, "kafka-advisor.toml": project}.items()}


def needs(lines: tuple[Line, ...], version: str, cache: bool = True) -> Iterator[Need]:
    """Every line that has a reason, with the finding of an audit in which it is not there."""
    for line in lines:
        if line.code:
            yield Need(line, _without(lines, line, version, cache))


def _without(lines: tuple[Line, ...], out: Line, version: str, cache: bool) -> Mapping[str, Any] | None:
    trial = [
        line
        for line in lines
        if line is not out
        and (line.component, line.key) not in {(out.component, key) for key in out.also_out}
    ]
    if out.instead is not None:
        trial.append(out._replace(value=out.instead, because=""))
    texts = files(trial, version)
    for table, text in out.told:
        if table == "facts":
            texts["kafka-advisor.toml"] += f"{text}\n"
        else:
            texts["kafka-advisor.toml"] += f"\n[{table}]\n{text}\n"
    found: list[Mapping[str, Any]] = audited(texts, cache=cache)["findings"]
    return next((finding for finding in found if finding["code"] == out.code), None)


def audited(texts: Mapping[str, str], cache: bool = True) -> dict[str, Any]:
    """The report on these files."""
    from ..engine import Options, audit
    from ..output.files import write_file
    from .report import build_report

    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            write_file(os.path.join(folder, name), text)
        return build_report(audit(Options(paths=(folder,), cache=cache)), False)
