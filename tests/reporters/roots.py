"""Folders to report on: a small one, one with hostile names and values, and one of sixty files."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.conftest import ROOT

HOSTILE = "a`b|c<img src=x onerror=alert(1)>%0A::error::x @admin #1 https://evil.example \x1b[31m\u202e"

CONSUMER = """\
bootstrap.servers=kafka-1:9092
group.id={team}
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
"""
PRODUCER = """\
bootstrap.servers=kafka-1:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
"""
SERVER = """\
process.roles=broker
node.id=11
controller.quorum.bootstrap.servers=controller-1:9093,controller-2:9093,controller-3:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
advertised.listeners=PLAINTEXT://kafka-1:9092
log.dirs=/var/lib/kafka
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor={offsets}
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def quickstart(folder: Path) -> Path:
    shutil.copytree(ROOT / "samples/quickstart", folder / "quickstart")
    return folder / "quickstart"


def hostile(folder: Path) -> Path:
    """What somebody else wrote: it must be shown, and do nothing."""
    escaped = HOSTILE.encode("unicode_escape").decode().replace("\\x1b", "\\u001b")
    return write(
        folder / "hostile",
        {
            "kafka-advisor.toml": 'kafka_version = "4.1"\nprofile = "prod"\n',
            "a,b:c%0A::warning::`x`<b>.properties": PRODUCER + f"acks={escaped}\n",
            "@admin.properties": PRODUCER
            + f"# kafka-advisor: ignore[KA301] {HOSTILE}\nacks=1\nlinger.ms={escaped}\n",
        },
    )


TEAMS = ("billing", "cart", "fraud", "ledger", "orders", "payments", "pricing", "search", "shipping", "users")


def many(folder: Path) -> Path:
    """A repository of a company: sixty files, one platform team, ten others with their own habits."""
    files = {
        "kafka-advisor.toml": 'kafka_version = "4.1"\nprofile = "prod"\n\n[facts]\nbrokers = 3\n',
        "CODEOWNERS": "* @platform\n" + "".join(f"/{team}/ @{team}-team\n" for team in TEAMS),
        "platform/server.properties": SERVER.format(offsets=1),
        "README.md": "# Everything\n",
    }
    for number, team in enumerate(TEAMS):
        acks = "1" if number % 2 == 0 else "all"
        minimum = {0: "2", 1: "1", 2: "3"}[number % 3]
        files |= {
            f"{team}/producer.properties": PRODUCER
            + f"acks={acks}\n"
            + ("retries=0\n" if number == 7 else ""),
            f"{team}/topic-{team}.properties": (
                f"partitions=6\nreplication.factor=3\nmin.insync.replicas={minimum}\n"
                + ("retention.ms=7d\n" if number in (2, 5) else "")
            ),
            f"{team}/consumer.properties": CONSUMER.format(team=team)
            + ("session.timeout.ms=1000\n" if number == 4 else "")
            + ("max.pol.records=100\n" if number % 4 == 1 else ""),
            f"{team}/app/settings.properties": "name=x\ncolour=blue\n",
            f"{team}/values.yaml": f"service:\n  name: {team}\n",
        }
    files |= {f"docs/page-{number}.md": "text\n" for number in range(6)}
    deployments = "".join(
        f'\n[[deployment]]\nproducer = "{team}/producer.properties"\n'
        f'topic = "{team}/topic-{team}.properties"\n'
        f'cluster = "platform/server.properties"\ngroups = ["{team}/consumer.properties"]\n'
        for team in TEAMS
    )
    files["kafka-advisor.toml"] += deployments
    return write(folder / "many", files)


ROOTS = {"quickstart": quickstart, "hostile": hostile, "many": many}
