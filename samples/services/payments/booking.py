"""Books payments: each is sent once, and waited for."""

from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": "kafka-1:9092,kafka-2:9092,kafka-3:9092",
        "acks": "all",
        "enable.idempotence": True,
    }
)


def book(payment_id: str, payment: bytes) -> None:
    producer.produce("payments", key=payment_id, value=payment)
    producer.flush()
