"""Client families, and services that speak Kafka's protocol: what differs from Kafka and its Java clients."""

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


# Of Confluent's serializers, and of Confluent Server, which keeps some keys that Apache Kafka has dropped.
_CONFLUENT = (
    "confluent.*",
    "schema.registry.*",
    "basic.auth.*",
    "bearer.auth.*",
    "kafka.rest.*",
    "ldap.*",
    "password.encoder.*",
)


@hookimpl
def advisor_clients() -> list[ClientSpec]:
    return [
        ClientSpec("aiven", keys=("diskless.*", "inkless.*")),
        ClientSpec("automq", keys=("autobalancer.*", "automq.*", "elasticstream.*", "s3.*")),
        ClientSpec("confluent", keys=_CONFLUENT),
        ClientSpec(
            "confluent-cloud",
            keys=_CONFLUENT,
            refused=f"{__name__}.services:confluent_cloud",
            servers=(".confluent.cloud:",),
        ),
        ClientSpec(
            "event-hubs", refused=f"{__name__}.services:event_hubs", servers=(".servicebus.windows.net:",)
        ),
        ClientSpec("java"),
        ClientSpec("librdkafka", refused="advisor.accept:would_accept_librdkafka", replaces=True),
        ClientSpec(
            "msk-serverless", refused=f"{__name__}.services:msk_serverless", servers=(".kafka-serverless.",)
        ),
        ClientSpec(
            "redpanda",
            keys=("redpanda.*",),
            refused=f"{__name__}.services:redpanda",
            servers=(".cloud.redpanda.com:",),
        ),
        ClientSpec("spring", keys=("spring.*",), defaults=_SPRING_DEFAULTS),
        ClientSpec(
            "warpstream",
            keys=("warpstream.*",),
            refused=f"{__name__}.services:warpstream",
            servers=(".warpstream.com:",),
        ),
    ]
