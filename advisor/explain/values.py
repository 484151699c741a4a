"""What each value of a setting costs and gains, by runs: an audit of a small deployment with each of them.

`settings.toml` names the values to try and the deployment to try them in. Nothing is written down about how
it ends: the simulator is asked now, at the version in question and at those where Kafka changed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from ..catalog import NEWEST, Version
from ..testing import audit_settings
from ..tuples import NamedTuple

Configs = Mapping[str, Mapping[str, str]]

_SERIALIZER = "org.apache.kafka.common.serialization.String"
_ADDRESS = {"bootstrap.servers": "kafka-1:9092,kafka-2:9092,kafka-3:9092"}
_TOPIC = {
    "partitions": "3",
    "replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}
_PRODUCER = {**_ADDRESS, "acks": "all", "key.serializer": f"{_SERIALIZER}Serializer",
             "value.serializer": f"{_SERIALIZER}Serializer"}  # fmt: skip
_CONSUMER = {**_ADDRESS, "group.id": "billing", "key.deserializer": f"{_SERIALIZER}Deserializer",
             "value.deserializer": f"{_SERIALIZER}Deserializer", "enable.auto.commit": "false"}  # fmt: skip
_BROKER = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "unclean.leader.election.enable": "false",
}
_FACT = {"brokers": "3"}

# The deployments in which values are tried, and how a reader would call them.
BASES: Mapping[str, tuple[str, Configs]] = {
    "writing": (
        "a producer with acks=all, a topic of 3 replicas with min.insync.replicas=2, 3 brokers",
        {"producer": _PRODUCER, "topic": _TOPIC, "fact": _FACT},
    ),
    "brokers": ("3 brokers, everything replicated 3 times", {"broker": _BROKER, "fact": _FACT}),
    "reading": (
        "a consumer that commits after its work, a topic of 3 replicas",
        {"consumer": _CONSUMER, "topic": _TOPIC, "fact": _FACT},
    ),
    "transactions": (
        "a producer that writes in transactions, a consumer, a topic of 3 replicas",
        {
            "producer": {**_PRODUCER, "transactional.id": "orders-1"},
            "topic": _TOPIC,
            "consumer": _CONSUMER,
            "fact": _FACT,
        },
    ),
}
# Where Kafka's behaviour or its defaults changed: between two of these a value does the same.
VERSIONS = ("2.0", "2.8", "3.0", "3.6", "3.7", "3.9", "4.0", "4.1")


class Try(NamedTuple):
    """Values to try: where they are set, and what is set beside them."""

    component: str
    base: str
    values: tuple[str, ...]
    beside: Configs
    versions: bool


class Tried(NamedTuple):
    """What came of one value: the two numbers, and the findings that not every value has."""

    value: str
    headline: Mapping[str, int | None]
    findings: tuple[Mapping[str, Any], ...]

    @property
    def mark(self) -> tuple[Any, ...]:
        """What makes it the same in another version."""
        return tuple(self.headline.items()), tuple(one["code"] for one in self.findings)


class Tested(NamedTuple):
    """The values of a setting, tried; `spans` are versions between which all values do the same."""

    about: str
    beside: tuple[str, ...]
    tried: tuple[Tried, ...]
    spans: tuple[tuple[str, str, tuple[Tried, ...]], ...]


@cache
def setting_words() -> Mapping[str, Mapping[str, Any]]:
    text = (files(__package__) / "settings.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def says(name: str) -> str:
    told: str = setting_words().get(name, {}).get("says", "")
    return told


def try_of(name: str) -> Try | None:
    given = setting_words().get(name, {}).get("try")
    if given is None:
        return None
    return Try(
        given["component"],
        given["base"],
        tuple(given["values"]),
        given.get("with", {}),
        given.get("versions", True),
    )


def tried_values(name: str, version: Version) -> Tested | None:
    """None for a setting whose values are not tried by themselves."""
    asked = try_of(name)
    if asked is None:
        return None
    about, _ = BASES[asked.base]
    beside = tuple(f"{key}={value}" for table in asked.beside.values() for key, value in table.items())
    versions = (*VERSIONS, NEWEST.rpartition(".")[0]) if asked.versions else ()
    by_version = [(one, _tried(name, asked, one)) for one in dict.fromkeys(versions)]
    spans = []
    for _, group in groupby(by_version, key=lambda pair: tuple(one.mark for one in pair[1])):
        same = list(group)
        spans.append((same[0][0], same[-1][0], same[-1][1]))
    return Tested(about, beside, _tried(name, asked, version.asked), tuple(spans))


def _tried(name: str, asked_for: Try, version: str) -> tuple[Tried, ...]:
    found = []
    for value in asked_for.values:
        report = audit_settings(
            _configs(name, asked_for, value), kafka_version=version, profile="prod", cache=True
        )
        findings = [one for one in report["findings"] if one["severity"] != "note"]
        headlines = [one["headline"] for one in report["deployments"]]
        headline = headlines[0] if headlines else {"survives_lost": None, "writes_with_away": None}
        found.append(Tried(value, headline, tuple(findings)))
    # What every value has says nothing about this setting.
    common = set.intersection(*({one["code"] for one in tried.findings} for tried in found))
    return tuple(
        tried._replace(findings=tuple(one for one in tried.findings if one["code"] not in common))
        for tried in found
    )


def _configs(name: str, asked_for: Try, value: str) -> dict[str, dict[str, str]]:
    _, base = BASES[asked_for.base]
    made = {table: dict(settings) for table, settings in base.items()}
    for table, settings in asked_for.beside.items():
        made.setdefault(table, {}).update(settings)
    made.setdefault(asked_for.component, {})[name] = value
    return made
