"""Client families and vendors: names, defaults and checks that differ from Kafka's own Java clients."""

from advisor.api import ClientSpec, hookimpl

# Set by Spring Boot or the listener container before the Kafka client sees its configuration.
_SPRING_DEFAULTS = {
    "bootstrap.servers": "localhost:9092",
    "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
    "value.serializer": "org.apache.kafka.common.serialization.StringSerializer",
    "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
    "value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
    "enable.auto.commit": "false",
    "isolation.level": "read_uncommitted",
}


@hookimpl
def advisor_clients() -> list[ClientSpec]:
    return [
        ClientSpec("confluent", keys=("confluent.*", "schema.registry.*", "basic.auth.*", "bearer.auth.*")),
        ClientSpec("java"),
        ClientSpec("librdkafka", refused="advisor.accept:would_accept_librdkafka", replaces=True),
        ClientSpec("redpanda", keys=("redpanda.*",)),
        ClientSpec("spring", keys=("spring.*",), defaults=_SPRING_DEFAULTS),
    ]
