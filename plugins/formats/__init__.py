"""Input formats: one module each, imported when a file asks for it."""

from advisor.api import FormatSpec, hookimpl

_YAML = (".yml", ".yaml")


@hookimpl
def advisor_formats() -> list[FormatSpec]:
    return [
        FormatSpec(
            "compose",
            _YAML,
            ("services:", "services :", '"services"'),
            f"{__name__}.compose:claim",
            f"{__name__}.compose:load",
            "docker-compose files: the brokers and Connect workers among the containers",
            whole=False,
            edit=f"{__name__}.edit_compose:edit",
        ),
        FormatSpec(
            "envfile",
            (".env",),
            ("KAFKA_", "CONNECT_"),
            f"{__name__}.envfile:claim",
            f"{__name__}.envfile:load",
            "environment files of broker and Connect containers",
            whole=False,
            edit=f"{__name__}.edit_env:edit",
        ),
        FormatSpec(
            "kubernetes",
            _YAML,
            ("kind",),
            f"{__name__}.kubernetes:claim",
            f"{__name__}.kubernetes:load",
            "Kubernetes workloads: pods, their names and their SPRING_KAFKA_ variables",
            whole=False,
            edit=f"{__name__}.edit_kubernetes:edit",
        ),
        FormatSpec(
            "properties",
            (".properties", ".props", ".delta", ".config", ".conf"),
            (),
            f"{__name__}.properties:claim",
            f"{__name__}.properties:load",
            "Java .properties of brokers, topics, clients, Connect and MirrorMaker 2",
            fallback_encoding="iso-8859-1",
            edit=f"{__name__}.edit_properties:edit",
        ),
        FormatSpec(
            "spring",
            (*_YAML, ".properties"),
            ("spring", "SPRING", "bootstrap-servers"),
            f"{__name__}.spring:claim",
            f"{__name__}.spring:load",
            "Spring Boot application files, with profiles",
            edit=f"{__name__}.edit_spring:edit",
        ),
        FormatSpec(
            "strimzi",
            _YAML,
            ("kafka.strimzi.io",),
            f"{__name__}.strimzi:claim",
            f"{__name__}.strimzi:load",
            "Strimzi resources: Kafka, KafkaNodePool, KafkaTopic, KafkaConnect, ...",
            whole=False,
            edit=f"{__name__}.edit_strimzi:edit",
        ),
    ]
