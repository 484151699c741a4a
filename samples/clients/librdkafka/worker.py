from confluent_kafka import Producer

producer = Producer(
    {
        "bootstrap.servers": "kafka:9092",
        "enable.idempotence": True,
        "max.in.flight": 10,
        "compression.codec": "brotli",
    }
)
