"""What is written to a running cluster: records a second by the ends of logs, and the last records' size."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_CALL_SECONDS = 15.0
# The last records of a topic, whose lengths are counted; nothing else of them is looked at.
_SAMPLE = 200
_SAMPLE_SECONDS = 5.0


def measured(
    settings: Mapping[str, str],
    topics: Sequence[tuple[str, int]],
    seconds: float,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """`[workload]` of the topic with most bytes, and a note for each other one: the table is one for all."""
    from confluent_kafka import Consumer

    # It joins no group and commits nothing; a group.id must be there all the same.
    consumer = Consumer(
        {**settings, "group.id": "kafka-advisor-traffic", "enable.auto.commit": False, "log_level": 0}
    )
    try:
        progress(f"watching the ends of {len(topics)} topics for {seconds:g} s")
        before, begun = _ends(consumer, topics), time.monotonic()
        time.sleep(seconds)
        after = _ends(consumer, topics)
        passed = time.monotonic() - begun
        found = {}
        for topic, _ in topics:
            written = sum(
                max(0, after[place] - before[place])
                for place in before
                if place[0] == topic and place in after
            )
            size = _size(
                consumer, topic, [(place[1], end) for place, end in after.items() if place[0] == topic]
            )
            if written:
                found[topic] = (written / passed, size)
    finally:
        consumer.close()
    if not found:
        return {"values": {}, "notes": [f"nothing was written in {seconds:g} s"]}
    busiest = max(found, key=lambda topic: (found[topic][0] * (found[topic][1] or 1), topic))
    notes = [f"of topic {busiest}, measured for {seconds:g} s"]
    notes += [
        f"topic {topic}: records_per_second = {rate:.4g}" + (f", record_bytes = {size}" if size else "")
        for topic, (rate, size) in sorted(found.items())
        if topic != busiest
    ][:20]
    rate, size = found[busiest]
    values: dict[str, Any] = {"records_per_second": round(rate, 2)}
    if size:
        values["record_bytes"] = size
    return {"values": values, "notes": notes}


def workload_text(workload: Mapping[str, Any]) -> str:
    lines = ["[workload]", *(f"# {note}" for note in workload["notes"])]
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in workload["values"].items())]) + "\n"


def _ends(consumer: Any, topics: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
    from confluent_kafka import KafkaException, TopicPartition

    found = {}
    for topic, partitions in topics:
        for partition in range(partitions):
            place = TopicPartition(topic, partition)
            try:
                found[topic, partition] = consumer.get_watermark_offsets(place, timeout=_CALL_SECONDS)[1]
            except KafkaException:
                continue  # nobody leads it, or it may not be read
    return found


def _size(consumer: Any, topic: str, ends: Sequence[tuple[int, int]]) -> int | None:
    """The mean length of key and value of the last records; None where there are none."""
    from confluent_kafka import TopicPartition

    each = max(1, _SAMPLE // max(1, len(ends)))
    places = [TopicPartition(topic, partition, max(0, end - each)) for partition, end in ends if end > 0]
    if not places:
        return None
    consumer.assign(places)
    lengths: list[int] = []
    until = time.monotonic() + _SAMPLE_SECONDS
    while len(lengths) < each * len(places) and time.monotonic() < until:
        for message in consumer.consume(_SAMPLE, timeout=0.5):
            if message.error() is None:
                lengths.append(len(message.value() or b"") + len(message.key() or b""))
    consumer.unassign()
    return round(sum(lengths) / len(lengths)) if lengths else None
