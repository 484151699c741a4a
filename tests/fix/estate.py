"""A folder as a company has them: one cluster, and services that each have a topic, a producer and a consumer.

Every file has something to mend, and some fixes contradict each other, so that `fix` cannot make all at once.
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
name={name}
partitions={partitions}
replication.factor={replicas}
retention.ms=604800000
"""

_PRODUCER = """\
# writes {name}
bootstrap.servers=kafka-1:9092
client.id={name}-writer
topic={name}
acks={acks}
enable.idempotence=false
retries={retries}
delivery.timeout.ms={delivery}
linger.ms=5
request.timeout.ms=30000
"""

_CONSUMER = """\
# reads {name}
bootstrap.servers=kafka-1:9092
group.id={name}-readers
topic={name}
enable.auto.commit={commit}
auto.offset.reset=latest
session.timeout.ms={session}
heartbeat.interval.ms={heartbeat}
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
        texts[f"{name}/producer.properties"] = _PRODUCER.format(
            name=name,
            acks=("1", "0", "all")[number % 3],
            retries=(0, 5, 2147483647)[number % 3],
            delivery=(20000, 120000)[number % 2],
        )
        texts[f"{name}/consumer.properties"] = _CONSUMER.format(
            name=name,
            commit=("true", "false")[number % 2],
            session=(45000, 10000, 3000)[number % 3],
            heartbeat=(3000, 9000)[number % 2],
        )
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return len(texts)
