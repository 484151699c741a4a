"""A fleet of any size, the truth known of each row.

    python samples/fleet/generate.py table OUT.parquet --configs 1000000 --keys 40 --behaviours 500
    python samples/fleet/generate.py table OUT.csv --configs 200
    python samples/fleet/generate.py files OUT/ --services 300 --files 5000

The same seed gives the same bytes. Teams own services; services write topics of clusters; what a row does
wrong is
drawn from FAULTS and written beside it (`truth`, the codes it must be found for; columns that the audit
does not read). Rows that cannot be audited are made too, with --broken.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What is wrong with a row: the settings that make it so and the rule that must say so.
FAULTS: dict[str, list[tuple[dict[str, str], list[str]]]] = {
    "producer": [
        ({"acks": "1", "enable.idempotence": "false"}, ["KA101", "KA301", "KA302"]),
        ({"acks": "0", "enable.idempotence": "false"}, ["KA101"]),
        ({"acks": "1"}, ["KA010"]),
        ({"acks": "2"}, ["KA006"]),
        ({"retries": "5", "enable.idempotence": "false"}, ["KA301", "KA302"]),
    ],
    "topic": [
        ({"min.insync.replicas": "3"}, ["KA201"]),
        ({"unclean.leader.election.enable": "true"}, ["KA101"]),
        ({"cleanup.policy": "keep"}, ["KA006"]),
    ],
}
# A sane configuration, and what sane teams choose differently: each choice is another behaviour.
SANE: dict[str, dict[str, list[str]]] = {
    "producer": {
        "acks": ["all"],
        "enable.idempotence": ["true"],
        "linger.ms": ["0", "5", "20", "50", "100"],
        "batch.size": ["16384", "32768", "65536", "131072"],
        "compression.type": ["none", "lz4", "zstd", "snappy"],
        "buffer.memory": ["33554432", "67108864"],
        "delivery.timeout.ms": ["120000", "180000"],
        "request.timeout.ms": ["30000", "40000"],
        "max.block.ms": ["60000"],
        "key.serializer": ["org.apache.kafka.common.serialization.StringSerializer"],
        "value.serializer": ["org.apache.kafka.common.serialization.ByteArraySerializer"],
    },
    "topic": {
        "min.insync.replicas": ["2"],
        "unclean.leader.election.enable": ["false"],
        "cleanup.policy": ["delete", "compact"],
        "retention.ms": ["86400000", "259200000", "604800000", "1209600000"],
        "segment.bytes": ["1073741824", "536870912"],
        "max.message.bytes": ["1048588"],
        "compression.type": ["producer"],
        "replication.factor": ["3"],
        "partitions": ["6", "12"],
    },
    "consumer": {
        "enable.auto.commit": ["false"],
        "max.poll.records": ["50", "100", "250", "500"],
        "max.poll.interval.ms": ["300000"],
        "session.timeout.ms": ["45000"],
        "auto.offset.reset": ["earliest"],
    },
    "broker": {
        "unclean.leader.election.enable": ["false"],
        "default.replication.factor": ["3"],
        "min.insync.replicas": ["2"],
        "offsets.topic.replication.factor": ["3"],
        "transaction.state.log.replication.factor": ["3"],
        "transaction.state.log.min.isr": ["2"],
        "num.partitions": ["6"],
        "log.retention.hours": ["168"],
    },
}
# Harmless keys at their defaults, to fill a row up to a number of keys.
FILL: dict[str, dict[str, str]] = {
    "client": {
        "metadata.max.age.ms": "300000", "connections.max.idle.ms": "540000", "reconnect.backoff.ms": "50",
        "reconnect.backoff.max.ms": "1000", "retry.backoff.ms": "100", "send.buffer.bytes": "131072",
        "receive.buffer.bytes": "32768", "metrics.num.samples": "2", "metrics.sample.window.ms": "30000",
        "metrics.recording.level": "INFO", "client.dns.lookup": "use_all_dns_ips",
        "socket.connection.setup.timeout.ms": "10000", "socket.connection.setup.timeout.max.ms": "30000",
        "auto.include.jmx.reporter": "true", "security.protocol": "PLAINTEXT", "ssl.protocol": "TLSv1.3",
        "sasl.mechanism": "GSSAPI", "sasl.login.refresh.window.factor": "0.8",
        "sasl.login.refresh.window.jitter": "0.05", "sasl.login.refresh.min.period.seconds": "60",
        "sasl.login.refresh.buffer.seconds": "300", "sasl.kerberos.kinit.cmd": "/usr/bin/kinit",
        "sasl.kerberos.min.time.before.relogin": "60000", "sasl.kerberos.ticket.renew.jitter": "0.05",
        "sasl.kerberos.ticket.renew.window.factor": "0.8", "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
        "ssl.keymanager.algorithm": "SunX509", "ssl.keystore.type": "JKS", "ssl.truststore.type": "JKS",
        "ssl.endpoint.identification.algorithm": "https",
    },
    "producer": {
        "max.request.size": "1048576", "max.in.flight.requests.per.connection": "5",
        "metadata.max.idle.ms": "300000", "partitioner.ignore.keys": "false", "transaction.timeout.ms":
        "60000",
    },
    "topic": {
        "delete.retention.ms": "86400000", "file.delete.delay.ms": "60000", "flush.messages":
        "9223372036854775807",
        "index.interval.bytes": "4096", "max.compaction.lag.ms": "9223372036854775807",
        "message.timestamp.type": "CreateTime", "min.cleanable.dirty.ratio": "0.5",
        "min.compaction.lag.ms": "0",
        "preallocate": "false", "retention.bytes": "-1", "segment.index.bytes": "10485760",
        "segment.jitter.ms": "0", "segment.ms": "604800000", "flush.ms": "9223372036854775807",
    },
    "consumer": {}, "broker": {},
}  # fmt: skip


NUMBERS = frozenset(
    ("linger.ms", "batch.size", "buffer.memory", "delivery.timeout.ms", "request.timeout.ms", "max.block.ms",
     "retention.ms", "segment.bytes", "max.poll.records", "max.poll.interval.ms", "session.timeout.ms")
)  # fmt: skip


def behaviours(component: str, count: int, seed: int) -> list[tuple[dict[str, str], list[str]]]:
    """`count` different configurations of a component with the codes each must be found for; a quarter has
    a fault."""
    chance = random.Random(f"{seed}/{component}")
    found: dict[str, tuple[dict[str, str], list[str]]] = {}
    for _ in range(count * 200):
        if len(found) == count:
            break
        config = {key: chance.choice(values) for key, values in SANE[component].items()}
        codes: list[str] = []
        if component in FAULTS and chance.random() < 0.25:
            wrong, codes = chance.choice(FAULTS[component])
            config.update(wrong)
        found.setdefault(json.dumps(config, sort_keys=True), (config, codes))
    return list(found.values())


def rows(
    configs: int, keys: int = 40, different: int = 500, seed: int = 7, broken: int = 0, untidy: bool = False
) -> Iterator[dict[str, Any]]:
    """Half of the rows are producers, each with its topic; five clusters' brokers and some consumers
    besides. `untidy`: no two agree in their numbers, as where every team chose its own."""
    chance = random.Random(seed)
    choices = {
        "producer": behaviours("producer", max(1, different * 6 // 10), seed),
        "topic": behaviours("topic", max(1, min(64, different * 3 // 10)), seed),
        "consumer": behaviours("consumer", 4, seed),
        "broker": behaviours("broker", 1, seed),
    }
    clusters = [f"cluster-{letter}" for letter in "abcde"]
    for number, cluster in enumerate(clusters):
        for broker in range(3):
            if number * 3 + broker < configs:
                config, codes = choices["broker"][0]
                yield _row("broker", f"{cluster}-{broker}", cluster, None, "platform", config, codes, keys)
    made = min(configs, 15)
    number = 0
    while made < configs - broken:
        cluster, team = clusters[number % 5], f"team-{number % 40:02}"
        topic, service = f"topic-{number}", f"service-{number}"
        # Services of one template go with topics of one template, and are read or not, as in a real fleet:
        # so `different` is how many deployments differ.
        pick = chance.randrange(different)
        kinds = ["topic", "producer"] + (["consumer"] if pick % 8 == 0 else [])
        wrong_producer = bool(choices["producer"][pick % len(choices["producer"])][1])
        for kind in kinds[: configs - broken - made]:
            config, codes = choices[kind][pick % len(choices[kind])]
            if kind == "topic" and codes and wrong_producer:
                # One fault a service: a producer that does not start says nothing of its topic.
                config, codes = next(choice for choice in choices["topic"] if not choice[1])
            if untidy:
                config = _own_numbers(config, chance)
            name = topic if kind == "topic" else f"{service}-{kind}"
            yield _row(kind, name, cluster, topic, team, config, codes, keys)
            made += 1
        number += 1
    for bad in range(broken):
        row = _row("producer", f"broken-{bad}", clusters[0], None, "team-00", {"acks": "all"}, [], 0)
        yield {**row, **({"component": "gateway"} if bad % 2 else {"config": None}), "truth": ["quarantine"]}


def _own_numbers(config: dict[str, str], chance: random.Random) -> dict[str, str]:
    """Times and sizes up to half as much again: as sane as they were."""
    return {
        key: str(int(int(value) * chance.uniform(1.0, 1.5)) + chance.randrange(50))
        if key in NUMBERS
        else value
        for key, value in config.items()
    }


def _row(
    kind: str,
    name: str,
    cluster: str,
    topic: str | None,
    team: str,
    config: dict[str, str],
    codes: list[str],
    keys: int,
) -> dict[str, Any]:
    whole = dict(config)
    if kind in ("producer", "consumer"):
        whole["client.id"] = name
        whole["bootstrap.servers"] = f"{cluster}.example.com:9092"
    if kind == "consumer":
        whole["group.id"] = f"group-{name}"
    fill = FILL[kind] if kind == "topic" else {**FILL["client"], **FILL[kind]} if kind != "broker" else {}
    for key, value in fill.items():
        if len(whole) >= keys:
            break
        whole.setdefault(key, value)
    return {
        "id": f"{kind}/{name}",
        "component": kind,
        "cluster": cluster,
        "topic": topic,
        "client": name,
        "owner": team,
        "kafka_version": "3.9" if kind == "broker" else None,
        "config": whole,
        "truth": codes,
    }


def write_table(out: Path, made: Iterator[dict[str, Any]]) -> int:
    if out.suffix == ".parquet":
        return _parquet(out, made)
    count = 0
    import csv

    with out.open("w", encoding="utf-8", newline="") as file:
        writer = None
        for row in made:
            shown = {
                **row,
                "config": json.dumps(row["config"]) if row["config"] else "",
                "truth": " ".join(row["truth"]),
            }
            if out.suffix == ".csv":
                writer = writer or csv.DictWriter(file, list(shown))
                if not count:
                    writer.writeheader()
                writer.writerow(shown)
            else:
                file.write(json.dumps(row) + "\n")
            count += 1
    return count


def _parquet(out: Path, made: Iterator[dict[str, Any]]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    names = ("id", "component", "cluster", "topic", "client", "owner", "kafka_version")
    schema = pa.schema(
        [*((name, text) for name in names), ("config", pa.map_(text, text)), ("truth", pa.list_(text))]
    )
    out.mkdir(parents=True, exist_ok=True)
    count, part, batch = 0, 0, []

    def flush() -> None:
        table = pa.Table.from_pylist(batch, schema=schema)
        pq.write_table(table, out / f"part-{part:05}.parquet", row_group_size=50_000)

    for row in made:
        batch.append({**row, "config": list(row["config"].items()) if row["config"] is not None else None})
        count += 1
        if len(batch) == 125_000:
            flush()
            part, batch = part + 1, []
    if batch:
        flush()
    return count


def write_files(out: Path, services: int, files: int, seed: int = 7) -> int:
    """Each service a folder of its own, owned by its team; its share of the files are producers and
    topics."""
    made = 0
    for service in range(services):
        home = out / f"team-{service % 40:02}" / f"service-{service:04}"
        home.mkdir(parents=True, exist_ok=True)
        (home / "kafka-advisor.toml").write_text('kafka_version = "3.9"\nprofile = "prod"\n')
        share = files // services + (service < files % services)
        drawn = rows(share + 15, 12, 500, seed + service)
        for number, row in enumerate(list(drawn)[15:]):
            name = f"{row['component']}-{number:03}.properties"
            text = "".join(f"{key}={value}\n" for key, value in row["config"].items())
            (home / name).write_text(f"# {row['client']} of {row['owner']}\n{text}")
            made += 1
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("table", "files"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--configs", type=int, default=1000)
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--behaviours", type=int, default=500)
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("--untidy", action="store_true", help="no two configurations agree in their numbers")
    parser.add_argument("--services", type=int, default=300)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    if args.kind == "table":
        drawn = rows(args.configs, args.keys, args.behaviours, args.seed, args.broken, args.untidy)
        made = write_table(args.out, drawn)
    else:
        made = write_files(args.out, args.services, args.files, args.seed)
    print(f"{made} configurations in {args.out}")


if __name__ == "__main__":
    main()
