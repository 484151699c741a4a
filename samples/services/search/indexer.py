"""Keeps the search index up to date with the orders."""

from confluent_kafka import Consumer
from search.index import put

consumer = Consumer(
    {
        "bootstrap.servers": "kafka-1:9092,kafka-2:9092,kafka-3:9092",
        "group.id": "search-indexer",
        "auto.offset.reset": "earliest",
        "enable.auto.offset.store": False,
        "session.timeout.ms": 45000,
        # Meant to give up on a slow index soon.
        "max.poll.interval.ms": 30000,
    }
)
consumer.subscribe(["orders"])

while True:
    message = consumer.poll(1.0)
    if message is not None and message.error() is None:
        put(message.key(), message.value())
        consumer.store_offsets(message)
