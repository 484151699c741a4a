"""A folder as companies have them: a cluster, and services with a topic, an application and a consumer each.

Every file has something to mend, and what is best for one topic alone would stop the writes of another:
fixes must be planned together.
"""

from __future__ import annotations

from pathlib import Path

BROKERS = 3

_BROKER = """\
node.id={number}
process.roles=broker,controller
controller.quorum.voters=1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://kafka-{number}:9092
controller.listener.names=CONTROLLER
log.dirs=/var/lib/kafka
default.replication.factor=3
min.insync.replicas=1
unclean.leader.election.enable=true
offsets.topic.replication.factor=1
auto.create.topics.enable=true
"""

_TOPIC = """\
partitions={partitions}
replication.factor={replicas}
retention.ms=604800000
"""

_APPLICATION = """\
# {name}
spring:
  kafka:
    bootstrap-servers: kafka-1:9092
    template:
      default-topic: {name}
    producer:
      acks: {acks}
      retries: {retries}
      properties:
        enable.idempotence: false
        delivery.timeout.ms: 120000
    consumer:
      group-id: {name}-readers
      enable-auto-commit: {commit}
      auto-offset-reset: latest
      properties:
        session.timeout.ms: {session}
        heartbeat.interval.ms: 9000
{stray}"""

# Moved to where it counts, it must count in milliseconds.
_STRAY = """\
      max:
        poll:
          interval:
            ms: 5m
"""

_CONSUMER = """\
# reads {name}
bootstrap.servers=kafka-1:9092
group.id={name}-archive
enable.auto.commit=true
auto.offset.reset=latest
session.timeout.ms={session}
heartbeat.interval.ms=3000
max.poll.interval.ms=300000
max.poll.records=500
"""


def write_estate(folder: Path, services: int) -> int:
    """Files below `folder`; gives how many there are."""
    texts = {
        f"cluster/server-{number}.properties": _BROKER.format(number=number)
        for number in range(1, BROKERS + 1)
    }
    for number in range(services):
        name = f"service{number}"
        texts[f"{name}/topic-{name}.properties"] = _TOPIC.format(
            name=name, partitions=(6, 12, 24)[number % 3], replicas=(3, 2, 3)[number % 3]
        )
        texts[f"{name}/application.yml"] = _APPLICATION.format(
            name=name,
            acks=("1", "0", "all")[number % 3],
            retries=(0, 5, 2147483647)[number % 3],
            commit=("true", "false")[number % 2],
            session=(10000, 3000)[number % 2],
            stray=_STRAY if number % 4 == 0 else "",
        )
        texts[f"{name}/consumer.properties"] = _CONSUMER.format(name=name, session=(45000, 3000)[number % 2])
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return len(texts)
