"""Generated roots: clusters, topics, producers and groups that share files, of any release. For laws."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from advisor.catalog import RELEASES

ADDRESS = "kafka-1:9092"


def one_of(*values: str | None) -> st.SearchStrategy[str | None]:
    """None: the file does not say it."""
    return st.sampled_from(values)


TOPIC = st.fixed_dictionaries(
    {
        "replication.factor": one_of("1", "2", "3", "3"),
        "min.insync.replicas": one_of(None, None, "1", "2", "3"),
        "unclean.leader.election.enable": one_of(None, "true", "false"),
        "cleanup.policy": one_of(None, None, "compact"),
        "retention.ms": one_of(None, None, "3600000"),
        "segment.bytes": one_of(None, None, "1048576"),
    }
)
PRODUCER = st.fixed_dictionaries(
    {
        "acks": one_of(None, "0", "1", "all"),
        "enable.idempotence": one_of(None, None, "true", "false"),
        "retries": one_of(None, None, "0", "3"),
        "max.in.flight.requests.per.connection": one_of(None, None, "1", "10"),
        "transactional.id": one_of(None, None, None, "import"),
        "transaction.timeout.ms": one_of(None, None, "900000", "3600000"),
        "delivery.timeout.ms": one_of(None, None, "5000", "600000"),
        "linger.ms": one_of(None, None, "10000"),
    }
)
CONSUMER = st.fixed_dictionaries(
    {
        "enable.auto.commit": one_of(None, "true", "false"),
        "auto.offset.reset": one_of(None, "earliest", "latest"),
        "session.timeout.ms": one_of(None, "3000", "300000"),
        "heartbeat.interval.ms": one_of(None, "2000", "9000"),
        "max.poll.interval.ms": one_of(None, "1800000"),
        "isolation.level": one_of(None, "read_committed"),
    }
)
BROKERS = st.fixed_dictionaries(
    {
        "default.replication.factor": one_of(None, "1", "3"),
        "min.insync.replicas": one_of(None, "1", "2", "3"),
        "unclean.leader.election.enable": one_of(None, "true", "false"),
        "offsets.topic.replication.factor": one_of(None, "1", "3"),
        "transaction.state.log.min.isr": one_of(None, "1", "3"),
        "replica.lag.time.max.ms": one_of(None, None, "5000"),
    }
)
WORKLOAD = st.fixed_dictionaries(
    {
        "processing_ms": one_of(None, "200", "1000"),
        "longest_pause_ms": one_of(None, "20000"),
        "records_per_second": one_of(None, None, "1000"),
        "transaction_ms": one_of(None, None, "120000"),
    }
)


@st.composite
def roots(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A release, and files by their names."""
    files: dict[str, str] = {}
    topics = [f"topic{number}" for number in range(draw(st.integers(1, 3)))]
    for name in topics:
        files[f"topic-{name}.properties"] = _text(draw(TOPIC), {"partitions": "3"})
    if draw(st.booleans()):
        inherited = draw(BROKERS)
        for number in (1, 2, 3):
            files[f"server-{number}.properties"] = _text(inherited, _broker(number))
    who: list[str] = []
    for number in range(draw(st.integers(0, 2))):
        file = f"producer{number}/producer.properties"
        files[file] = _text(draw(PRODUCER), {"bootstrap.servers": ADDRESS})
        written = draw(st.lists(st.sampled_from(topics), min_size=1, max_size=2, unique=True))
        who += [f'[[deployment]]\nproducer = "{file}"\ntopic = "{topic}"\n' for topic in sorted(written)]
    if draw(st.booleans()):
        files["consumer.properties"] = _text(
            draw(CONSUMER), {"bootstrap.servers": ADDRESS, "group.id": "readers"}
        )
    stated = {name: value for name, value in draw(WORKLOAD).items() if value is not None}
    workload = "".join(f"{name} = {value}\n" for name, value in stated.items())
    files["kafka-advisor.toml"] = f'profile = "prod"\n{"[workload]" if stated else ""}\n{workload}' + "".join(
        who
    )
    return draw(st.sampled_from(RELEASES)), files


def _text(settings: dict[str, str | None], besides: dict[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in {**besides, **settings}.items() if value is not None)


def _broker(number: int) -> dict[str, str]:
    return {
        "node.id": str(number),
        "process.roles": "broker,controller",
        "controller.quorum.voters": "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093",
        "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://kafka-{number}:9092",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": "/var/lib/kafka",
    }


def write(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
