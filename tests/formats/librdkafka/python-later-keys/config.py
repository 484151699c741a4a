from confluent_kafka import Consumer

base = {
    "bootstrap.servers": "kafka:9092",
    "security.protocol": "SSL",
}
conf = {**base, "group.id": "a", "session.timeout.ms": 6000}
conf["auto.offset.reset"] = "earliest"
conf["group.id"] = "b"
conf.update({"max.poll.interval.ms": 60_000})

c = Consumer(**conf)

# Made here, used elsewhere.
PRODUCER_CONFIG: dict[str, str] = {
    "bootstrap.servers": "kafka:9092",
    "message.timeout.ms": "5000",
    "request.required.acks": "1",
}
