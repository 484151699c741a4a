"""Random cases for Kafka's classes: how one is drawn, and how one is made smaller."""

from __future__ import annotations

import copy
import random
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any

from advisor.catalog import keys, resolve_version

Case = dict[str, Any]
_VERSION = "4.3.1"


# Keys and groups.


def partitioner(dice: random.Random, last: Case | None) -> Case:
    return {"input": {"key_hex": dice.randbytes(dice.choice([0, 1, 3, 4, 5, 8, 17, 40])).hex()}}


def coordinator(dice: random.Random, last: Case | None) -> Case:
    letters = "abcXYZ019-_.üß漢🍑"
    return {"input": {"group_id": "".join(dice.choice(letters) for _ in range(dice.randint(0, 40)))}}


# Members and partitions: a draw goes on from the one before, as a group does from rebalance to rebalance.


def assignors(dice: random.Random, last: Case | None) -> Case:
    if last is not None and dice.random() < 0.6:
        return {"input": _next_rebalance(dice, last)}
    name = dice.choice(["range", "roundrobin", "sticky", "cooperative-sticky"])
    topics = {f"t{number}": dice.randint(0 if number else 1, 12) for number in range(dice.randint(1, 4))}
    racks = dice.random() < 0.3
    brokers = {str(number): f"r{number % 3}" for number in range(1, 7)} if racks else {}
    replicas = {
        f"{topic}-{number}": dice.sample(sorted(int(one) for one in brokers), 3)
        for topic, count in topics.items()
        for number in range(count)
        if racks
    }
    equal = dice.random() < 0.6
    members = []
    for number in range(dice.randint(1, 7)):
        read = sorted(topics) if equal else sorted(dice.sample(sorted(topics), dice.randint(1, len(topics))))
        members.append(_member(dice, number, read, racks))
    return {
        "input": {
            "assignor": name,
            "partitions": topics,
            "brokers": brokers,
            "replicas": replicas,
            "members": members,
        }
    }


def _member(dice: random.Random, number: int, topics: list[str], racks: bool) -> dict[str, Any]:
    return {
        "id": f"m{number}-{dice.randrange(10_000)}",
        "instance_id": f"i{number}" if dice.random() < 0.3 else None,
        "topics": topics,
        "rack": dice.choice(["r0", "r1", "r2", None]) if racks else None,
        "owned": [],
        "generation": -1,
    }


def _next_rebalance(dice: random.Random, last: Case) -> dict[str, Any]:
    """Each has what it was given; somebody comes or goes, or a topic grows."""
    given = copy.deepcopy(last["input"])
    generation = 1 + max(one["generation"] for one in given["members"])
    for member in given["members"]:
        member["owned"] = last["output"]["assignment"].get(member["id"], [])
        member["generation"] = max(generation, 1)
    members = given["members"]
    what = dice.choice(["comes", "goes", "grows", "nothing"])
    if what == "goes" and len(members) > 1:
        members.pop(dice.randrange(len(members)))
    elif what == "comes":
        number = len(members) + dice.randrange(50)
        members.append(_member(dice, number, dice.choice(members)["topics"], bool(given["brokers"])))
    elif what == "grows" and not given["brokers"]:
        given["partitions"][dice.choice(sorted(given["partitions"]))] += dice.randint(1, 4)
    return given


def fewer_members(case: Case) -> Iterator[Case]:
    for place in range(len(case["input"]["members"])):
        made = copy.deepcopy(case)
        made["input"]["members"].pop(place)
        if made["input"]["members"]:
            yield made
    held = "owned" if "assignor" in case["input"] and "topic_ids" not in case["input"] else "current"
    for topic, count in case["input"]["partitions"].items():
        if count > 0:
            made = copy.deepcopy(case)
            made["input"]["partitions"][topic] = count - 1
            for member in made["input"]["members"]:
                member[held] = [one for one in member[held] if one != f"{topic}-{count - 1}"]
            yield made


def server_assignors(dice: random.Random, last: Case | None) -> Case:
    if last is not None and dice.random() < 0.6:
        given = copy.deepcopy(last["input"])
        for member in given["members"]:
            member["current"] = last["output"]["assignment"].get(member["id"], [])
        if dice.random() < 0.5 and len(given["members"]) > 1:
            given["members"].pop(dice.randrange(len(given["members"])))
        else:
            given["members"].append(_server_member(dice, dice.choice(given["members"])["topics"]))
        return {"input": given}
    topics = {f"t{number}": dice.randint(1, 12) for number in range(dice.randint(1, 4))}
    equal = dice.random() < 0.6
    members = [
        _server_member(
            dice,
            sorted(topics) if equal else sorted(dice.sample(sorted(topics), dice.randint(1, len(topics)))),
        )
        for _ in range(dice.randint(1, 7))
    ]
    ids = {topic: _uuid(100 + int(topic[1:])) for topic in topics}
    return {
        "input": {
            "assignor": dice.choice(["uniform", "range"]),
            "partitions": topics,
            "topic_ids": ids,
            "members": members,
        }
    }


def _uuid(low: int) -> str:
    return urlsafe_b64encode(low.to_bytes(16, "big")).decode().rstrip("=")


def _server_member(dice: random.Random, topics: list[str]) -> dict[str, Any]:
    name = urlsafe_b64encode(dice.randbytes(16)).decode().rstrip("=")
    instance = f"i{dice.randrange(100)}" if dice.random() < 0.3 else None
    return {"id": name, "instance_id": instance, "rack": None, "topics": topics, "current": []}


# Where replicas go.


def placement(dice: random.Random, last: Case | None) -> Case:
    racks = dice.choice([0, 2, 3])
    brokers = [
        {
            "id": number,
            "rack": f"r{dice.randrange(racks)}" if racks else None,
            "fenced": dice.random() < 0.15,
        }
        for number in sorted(dice.sample(range(12), dice.randint(1, 8)))
    ]
    return {
        "input": {
            "algorithm": "striped",
            "brokers": brokers,
            "start_partition": dice.choice([0, 0, 5]),
            "partitions": dice.randint(1, 20),
            "replication_factor": dice.randint(1, 4),
            "random_mode": dice.choice(["zero", "max", "java", "java"]),
            "random_seed": dice.randrange(2**31),
        }
    }


def fewer_brokers(case: Case) -> Iterator[Case]:
    for place in range(len(case["input"]["brokers"])):
        made = copy.deepcopy(case)
        made["input"]["brokers"].pop(place)
        if made["input"]["brokers"]:
            yield made
    if case["input"]["partitions"] > 1:
        made = copy.deepcopy(case)
        made["input"]["partitions"] -= 1
        yield made


# Would it start?

_BASES: dict[str, dict[str, str]] = {
    "producer": {
        "bootstrap.servers": "127.0.0.1:1",
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "value.serializer": "org.apache.kafka.common.serialization.StringSerializer",
    },
    "consumer": {
        "bootstrap.servers": "127.0.0.1:1",
        "group.id": "g",
        "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        "value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
    },
    "admin": {"bootstrap.servers": "127.0.0.1:1"},
    "broker": {
        "process.roles": "broker",
        "node.id": "1",
        "controller.quorum.voters": "9@127.0.0.1:9093",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:9092",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    },
    "topic": {},
}
# What reaches for files, classes or the network, or is only looked at later.
_LEFT_OUT = (
    "ssl.",
    "sasl.",
    "security.",
    "bootstrap.",
    "config.providers",
    "metric",
    "client.dns",
    "interceptor",
)
_NUMBERS = [
    "-2",
    "-1",
    "0",
    "1",
    "2",
    "5",
    "100",
    "1000",
    "65535",
    "1048576",
    "2147483647",
    "9223372036854775807",
]
_ODD = ["", " 5 ", "5s", "1_000", "1e3", "0x10", "+5", "1.5", "true", "TRUE", "no", "${X}", "٣", "10,20"]


def verdicts(dice: random.Random, last: Case | None) -> Case:
    component = dice.choice(["producer", "producer", "consumer", "consumer", "admin", "broker", "topic"])
    known = keys(component, resolve_version(_VERSION))
    names = [one for one, key in sorted(known.items()) if _may_be_drawn(one, key.type)]
    config = dict(_BASES[component])
    for name in dice.sample(names, dice.randint(1, 4)):
        config[name] = _value(dice, known[name])
    return {"component": component, "config": config}


def _may_be_drawn(name: str, kind: str) -> bool:
    return kind not in ("class", "password") and not name.startswith(_LEFT_OUT) and ".class" not in name


def _value(dice: random.Random, key: Any) -> str:
    if dice.random() < 0.12:
        return dice.choice(_ODD)
    if dice.random() < 0.3 and key.default is not None and not isinstance(key.default, list):
        return str(key.default).lower() if isinstance(key.default, bool) else str(key.default)
    if key.type == "boolean":
        return dice.choice(["true", "false", "True", " false "])
    if key.type in ("int", "long", "short"):
        return dice.choice(_NUMBERS)
    if key.type == "double":
        return dice.choice(["-1", "0", "0.5", "1", "1.5"])
    allowed = [str(one) for one in getattr(key, "allowed", None) or ()]
    return dice.choice([*allowed, "x", "none", "all", "delete", "a,b"])


def fewer_settings(case: Case) -> Iterator[Case]:
    for key in case["config"]:
        if key not in _BASES[case["component"]]:
            yield {**case, "config": {name: value for name, value in case["config"].items() if name != key}}


def not_smaller(case: Case) -> Iterator[Case]:
    return iter(())


Draw = Callable[[random.Random, Case | None], Case]
DRAWN: dict[str, tuple[Draw, Callable[[Case], Iterator[Case]]]] = {
    "partitioner": (partitioner, not_smaller),
    "coordinator": (coordinator, not_smaller),
    "assignors": (assignors, fewer_members),
    "server_assignors": (server_assignors, fewer_members),
    "placement": (placement, fewer_brokers),
    "verdicts": (verdicts, fewer_settings),
}
