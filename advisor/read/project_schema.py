"""The shape of kafka-advisor.toml as pydantic models: imported only when the file's bytes are new.

python -m advisor.read.project_schema     writes schemas/project.schema.json, which editors can use
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from ..packs.conditions import BYTES, MS, quantity
from ..syntax.numbers import INT, LONG, SHORT

_VERSION = r"^[0-9]+(\.[0-9]+){1,3}$"


def _one_or_more(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _amount(units: dict[str, int], example: str, most: int) -> Any:
    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            amount: int | float | None = value
        elif isinstance(value, str) and value.strip().lstrip("0123456789.") in units:
            amount = quantity(value)
        else:
            amount = None
        if amount is None or amount < 0 or amount != int(amount):
            raise ValueError(f"must be a whole number or {example} (units: {', '.join(units)})")
        if amount > most:
            raise ValueError(f"must be at most {most}")
        return int(amount)

    return read


def _version(value: object) -> object:
    # 4.10 without quotes is the number 4.1.
    if isinstance(value, int | float):
        raise ValueError(f'must be in quotes: "{value}"')
    return value


def _plugin(value: str) -> str:
    if value.endswith(".py"):
        parts = value.replace("\\", "/").split("/")
        if value.startswith(("/", "\\", "~")) or ":" in parts[0] or ".." in parts:
            raise ValueError(
                f"{value!r} leaves the folder of this file; "
                "plugins elsewhere are named by --plugin FILE on the command line"
            )
    elif "/" in value or "\\" in value or value.startswith("."):
        raise ValueError(
            f"{value!r} is neither the name of an installed plugin nor a Python file of this folder (name.py)"
        )
    return value


def _inside(value: str) -> str:
    parts = value.replace("\\", "/").split("/")
    if value.startswith(("/", "\\", "~")) or ":" in parts[0] or ".." in parts:
        raise ValueError(
            f"{value!r} leaves the folder of this file; "
            "packs elsewhere are named by --rules PACK on the command line"
        )
    return value


def _date(value: object) -> str:
    # TOML has dates of its own, without quotes; one with a time of day is more than is asked for.
    try:
        return date.fromisoformat(value if isinstance(value, str) else str(value)).isoformat()
    except ValueError:
        raise ValueError(f"{str(value)!r} is no date; write one like 2027-01-31") from None


def _param(value: object) -> object:
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int | float):
            raise ValueError("must be text, a number, a boolean, or a list of these")
    return value


Text = Annotated[str, Field(min_length=1)]
Names = Annotated[
    list[Text],
    Field(min_length=1),
    BeforeValidator(_one_or_more),
    WithJsonSchema(
        {
            "type": ["string", "array"],
            "items": {"type": "string", "minLength": 1},
            "minLength": 1,
            "minItems": 1,
        }
    ),
]
Milliseconds = Annotated[
    int,
    PlainValidator(_amount(MS, 'a duration such as "30s"', LONG[1])),
    WithJsonSchema({"type": ["integer", "string"], "minimum": 0, "pattern": r"^\s*[0-9.]+(ms|s|m|h|d)$"}),
]
Bytes = Annotated[
    int,
    PlainValidator(_amount(BYTES, 'a size such as "1KiB"', INT[1])),
    WithJsonSchema(
        {"type": ["integer", "string"], "minimum": 0, "pattern": r"^\s*[0-9.]+([kKMGT]?B|[KMGT]iB)$"}
    ),
]
Day = Annotated[Text, PlainValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]
# As many as Kafka's own protocol can carry: int32, and int16 for a replication factor.
Count = Annotated[int, Field(ge=1, le=INT[1])]
Factor = Annotated[int, Field(ge=1, le=SHORT[1])]
_PLAIN = ["string", "number", "boolean"]
Param = Annotated[
    Any,
    PlainValidator(_param),
    WithJsonSchema({"type": [*_PLAIN, "array"], "items": {"type": _PLAIN}}),
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Suppress(_Table):
    """A finding that is accepted, with the reason."""

    rule: Text = Field(description="code or name of the rule", examples=["KA101"])
    path: Text | None = Field(None, description="only in files that match this glob", examples=["legacy/**"])
    resource: Text | None = Field(
        None, description="only for this topic, group or client", examples=["metrics"]
    )
    reason: Text = Field(
        description="why it is accepted; shown in the report", examples=["metrics may be lost"]
    )
    expires: Day | None = Field(
        None, description="the last day on which it is accepted", examples=["2027-01-31"]
    )


class Deployment(_Table):
    """Who writes where, for what the files themselves do not show; by file or by resource name."""

    name: Text | None = Field(None, description="what the report calls it", examples=["orders"])
    producer: Names | None = Field(None, description="the producer", examples=["services/shop.properties"])
    topic: Names | None = Field(None, description="the topic it writes to", examples=["orders"])
    cluster: Text | None = Field(
        None, description="the cluster, or the file of one broker", examples=["main"]
    )
    groups: Names | None = Field(None, description="the groups that read the topic", examples=[["billing"]])


class Client(_Table):
    """Which client library reads some files, and how."""

    path: Text = Field(description="files that match this glob", examples=["python/**"])
    family: Text | None = Field(
        None,
        description="java, librdkafka, spring, connect, streams, or one that a plugin gives",
        examples=["librdkafka"],
    )
    version: Annotated[str, Field(pattern=_VERSION), BeforeValidator(_version)] | None = Field(
        None,
        description="version of the library: of Kafka for Java clients, of librdkafka for its own",
        examples=["3.9"],
    )
    subscription: Literal["subscribe", "assign"] | None = Field(
        None,
        description="whether this consumer subscribes or assigns its partitions itself",
        examples=["assign"],
    )


class Facts(_Table):
    """What is true of the cluster and in no configuration file."""

    brokers: Count | None = Field(None, description="brokers of the cluster", examples=[3])
    replication_factor: Factor | None = Field(None, description="replicas of each partition", examples=[3])
    partitions: Count | None = Field(None, description="partitions of each topic", examples=[12])
    racks: Count | None = Field(None, description="racks or zones the brokers are spread over", examples=[3])
    mode: Literal["kraft", "zk"] | None = Field(
        None, description="kraft or zk (ZooKeeper)", examples=["kraft"]
    )
    elr: Literal["on", "off", "unknown"] | None = Field(
        None, description="eligible leader replicas (KIP-966): on, off or unknown", examples=["unknown"]
    )
    storage: Literal["persistent", "ephemeral"] | None = Field(
        None, description="whether a broker that restarts finds its log", examples=["persistent"]
    )
    members: Count | None = Field(None, description="members of each consumer group", examples=[3])


class Workload(_Table):
    """How the applications behave."""

    record_bytes: Bytes | None = Field(None, description="size of a record", examples=[1024])
    records_per_second: float | None = Field(
        None, gt=0, le=1e9, description="records sent a second", examples=[100]
    )
    distinct_keys: Annotated[int, Field(ge=1, le=LONG[1])] | None = Field(
        None, description="different keys that a compacted topic holds", examples=[1000000]
    )
    processing: Literal["loop", "workers", "before", "transaction", "external"] | None = Field(
        None,
        description="records are processed in the poll loop, by workers, after their commit, in a "
        "transaction with their output and offsets, or with offsets kept in a store of the application's own",
        examples=["loop"],
    )
    workers_commit: Literal["first-unfinished", "as-finished", "polled"] | None = Field(
        None,
        description="what is committed beside workers: up to the first record that is not done, each record "
        "as its worker finishes, or all that was polled",
        examples=["first-unfinished"],
    )
    offset_store: Literal["with-output", "before-output", "after-output"] | None = Field(
        None,
        description="when an offset is stored outside of Kafka: in one transaction with the output, before "
        "or after it",
        examples=["with-output"],
    )
    offset_seek: bool | None = Field(
        None, description="whether a new owner seeks to the stored offset", examples=[True]
    )
    offset_fenced: bool | None = Field(
        None,
        description="whether that store refuses a write that does not begin at the offset it holds",
        examples=[True],
    )
    subscription: Literal["subscribe", "assign"] | None = Field(
        None,
        description="whether consumers subscribe or assign their partitions themselves",
        examples=["subscribe"],
    )
    processing_ms: Milliseconds | None = Field(None, description="time that one record takes", examples=[20])
    listener_ms: Milliseconds | None = Field(
        None, description="time that a rebalance listener takes when partitions are revoked", examples=["2s"]
    )
    longest_pause_ms: Milliseconds | None = Field(
        None, description="longest stop of a process, such as a garbage collection", examples=[2000]
    )
    longest_outage: Milliseconds | None = Field(
        None,
        description="longest outage of brokers that sends must outlast, or of a group that comes back",
        examples=["30s"],
    )
    longest_catch_up: Milliseconds | None = Field(
        None, description="longest time that a reader is away, or behind, on a topic", examples=["2d"]
    )
    transaction_ms: Milliseconds | None = Field(
        None,
        description="longest time from the begin of a transaction to its commit, such as a checkpoint's",
        examples=["30s"],
    )
    longest_idle: Milliseconds | None = Field(
        None,
        description="longest time in which a transactional producer writes nothing, or nobody to a partition",
        examples=["8h"],
    )
    on_send_error: Literal["ignore", "stop"] | None = Field(
        None, description="what the producer does when a send fails: ignore or stop", examples=["stop"]
    )
    exactly_once: bool | None = Field(
        None, description="whether processing a record twice is a fault", examples=[False]
    )
    members: Count | None = Field(None, description="members of each consumer group", examples=[3])


class ProjectFile(_Table):
    """What kafka-advisor cannot read from the configuration files themselves. Everything is optional."""

    kafka_version: Annotated[str, Field(pattern=_VERSION), BeforeValidator(_version)] | None = Field(
        None, description="the Kafka version of the brokers, in quotes", examples=["4.1"]
    )
    profile: Literal["dev", "prod"] | None = Field(
        None,
        description="what is asked: prod asks for every guarantee, dev only for what can never work",
        examples=["prod"],
    )
    fail_on: Literal["error", "warning", "note", "unknown", "never"] | None = Field(
        None,
        description="the least severity that makes the exit code 1; unknown: warnings, errors and guarantees "
        "that depend on what is not in sight",
        examples=["error"],
    )
    rules: (
        list[Annotated[Text, BeforeValidator(lambda v: _inside(v) if isinstance(v, str) else v)]] | None
    ) = Field(
        None, description="rule packs of your own, relative to this file", examples=[["rules/platform.toml"]]
    )
    plugins: (
        list[Annotated[Text, BeforeValidator(lambda v: _plugin(v) if isinstance(v, str) else v)]] | None
    ) = Field(
        None,
        description="plugins: names of installed ones that must be there, and Python files of this folder, "
        "which run only with --trust-plugins",
        examples=[["kafka-advisor-acme"]],
    )
    severity: dict[Text, Literal["error", "warning", "note", "off"]] | None = Field(
        None,
        description="severity of rules, by code or name: error, warning, note or off",
        examples=[{"acked-record-loss": "error"}],
    )
    params: dict[Text, dict[Text, Param]] | None = Field(
        None, description="limits of rules, by code or name", examples=[{"KA101": {"limit_ms": 1000}}]
    )
    facts: Facts | None = Field(None, description="what is true of the cluster and in no configuration file")
    workload: Workload | None = Field(None, description="how the applications behave")
    deployment: list[Deployment] | None = Field(None, description="who writes where, if no file shows it")
    client: list[Client] | None = Field(None, description="which client library reads some files")
    suppress: list[Suppress] | None = Field(
        None, description="findings that are accepted, each with the reason"
    )


def schema() -> dict[str, Any]:
    """The JSON Schema for editors. TOML has no null, so pydantic's way to say "absent" is left out."""
    made: dict[str, Any] = _tidy(ProjectFile.model_json_schema())
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:kafka-advisor:schema:project:1",
        "title": "kafka-advisor.toml",
    }
    return head | made


def _tidy(node: Any, names: bool = False) -> Any:
    """Without pydantic's titles, null alternatives and null defaults. `names`: the keys are field names."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {
        key: _tidy(value, key in ("properties", "$defs"))
        for key, value in node.items()
        if names or (key != "title" and not (key == "default" and value is None))
    }
    options = tidy.get("anyOf")
    if not names and options and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del tidy["anyOf"]
        tidy = (rest[0] if len(rest) == 1 else {"anyOf": rest}) | tidy
    return tidy


def schema_text() -> str:
    import json

    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import os

    from ..output.files import write_file

    write_file(os.path.join(os.path.dirname(__file__), "..", "schemas", "project.schema.json"), schema_text())
