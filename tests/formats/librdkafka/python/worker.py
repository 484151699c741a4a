"""Sends orders and reads payments."""
import os
import socket

from confluent_kafka import Consumer, Producer

BROKERS = "kafka-1:9092,kafka-2:9092"
TOPIC = "orders"

producer = Producer({
    "bootstrap.servers": BROKERS,
    "client.id": socket.gethostname(),
    "acks": "all",
    'linger.ms': 5,  # a little
    "enable.idempotence": True,
    "sasl.password": "hunter2",
    "on_delivery": print,
    "default.topic.config": {"request.timeout.ms": 3000},
})

consumer_conf = dict({
    "bootstrap.servers": os.environ["KAFKA"],
    "group.id": "billing",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
})
consumer = Consumer(consumer_conf)
consumer.subscribe(["payments", "refunds"])


def send(order):
    producer.produce(TOPIC, value=order)
