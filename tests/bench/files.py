"""Many small files in one run: files per core-second against yamllint's on YAML files of the same size."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .measure import installed, medians

COUNT = 1000


def properties_text(number: int) -> str:
    """A small client or topic file as a fleet has them: names of its own, settings out of a few choices."""
    cluster = f"kafka-a.c{number % 5}.example.com:9092,kafka-b.c{number % 5}.example.com:9092"
    kind, choice = number % 3, number // 3 % 4
    if kind == 0:
        return (
            f"# producer of service {number}\n"
            f"bootstrap.servers={cluster}\n"
            f"client.id=service-{number}\n"
            "key.serializer=org.apache.kafka.common.serialization.StringSerializer\n"
            "value.serializer=org.apache.kafka.common.serialization.ByteArraySerializer\n"
            "acks=all\n"
            f"linger.ms={(0, 5, 20, 100)[choice]}\n"
            f"batch.size={(16384, 32768, 65536, 131072)[choice]}\n"
            "compression.type=lz4\n"
            "delivery.timeout.ms=120000\n"
        )
    if kind == 1:
        return (
            f"# consumer of service {number}\n"
            f"bootstrap.servers={cluster}\n"
            f"group.id=group-{number}\n"
            "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer\n"
            "value.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer\n"
            "enable.auto.commit=false\n"
            f"max.poll.records={(100, 200, 500, 1000)[choice]}\n"
            "max.poll.interval.ms=300000\n"
            "auto.offset.reset=earliest\n"
        )
    return (
        f"# topic of service {number}\n"
        f"partitions={(6, 12, 24, 48)[choice]}\n"
        "replication.factor=3\n"
        "min.insync.replicas=2\n"
        f"retention.ms={(86400000, 259200000, 604800000, 1209600000)[choice]}\n"
        "cleanup.policy=delete\n"
        "compression.type=producer\n"
        "segment.bytes=1073741824\n"
        "max.message.bytes=1048588\n"
        "unclean.leader.election.enable=false\n"
    )


def yaml_text(number: int) -> str:
    """The same settings, line for line, as a YAML mapping."""
    lines = [line.replace("=", ": ", 1) for line in properties_text(number).splitlines()]
    return "---\n" + "\n".join(lines) + "\n"


def run() -> dict[str, Any]:
    with installed("yamllint") as programs, tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        ours, theirs = here / "properties", here / "yaml"
        ours.mkdir()
        theirs.mkdir()
        names = ("producer", "consumer", "topic")
        sizes = [0, 0]
        for number in range(COUNT):
            text = properties_text(number)
            (ours / f"{names[number % 3]}-{number:04}.properties").write_text(text)
            twin = yaml_text(number)
            (theirs / f"service-{number:04}.yml").write_text(twin)
            sizes[0] += len(text)
            sizes[1] += len(twin)
        taken = medians(
            {
                "kafka-advisor": [programs / "kafka-advisor", "audit", "properties"],
                "yamllint": [programs / "yamllint", "yaml"],
            },
            here,
            rounds=5,
            env={"KAFKA_ADVISOR_CACHE": str(here / ".cache")},
        )
    per_second = {name: COUNT / seconds for name, seconds in taken.items()}
    return {
        "name": "files",
        "ratio": round(per_second["kafka-advisor"] / per_second["yamllint"], 2),
        "goal": "files per core-second at least 10x yamllint's",
        "others": {},
        "files_per_core_second": {name: round(value, 1) for name, value in per_second.items()},
        "mean_bytes": {"properties": sizes[0] // COUNT, "yaml": sizes[1] // COUNT},
    }
