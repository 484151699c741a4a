"""The report's schema takes a full report and refuses one that strays from it."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest

from advisor.schemas import load_schema

STATE = {
    "leader": None,
    "epoch": 1,
    "isr": [0],
    "elr": [],
    "hw": 0,
    "replicas": [{"id": 0, "alive": False, "leo": 1, "hw": 0, "log": ["r0"]}],
    "remote_leo": {"1": 0},
    "clients": {},
}
FINDING = {
    "fingerprint": "0123456789abcdef",
    "code": "KA101",
    "name": "acked-record-loss",
    "severity": "error",
    "message": "lost",
    "deployment": "orders",
    "deployments": ["orders"],
    "assuming": ["acks=all, the default since 3.0"],
    "locations": [{"file": "shop.properties", "line": 3, "key": "acks"}],
    "settings": [
        {
            "component": "producer",
            "key": "acks",
            "value": "1",
            "origin": {"kind": "file", "file": "shop.properties", "line": 3},
        }
    ],
    "evidence": {
        "class": "trace",
        "guarantee": "acked-records-survive",
        "environment": {"slow_follower": "rf-1"},
        "faults": {"broker_crash": 1},
        "bounds": "3 replicas",
        "states": 40,
        "numbers": {},
        "trace": [
            {"step": 1, "event": {"name": "crash", "broker": 0}, "effects": ["acked r0"], "state": STATE}
        ],
    },
    "fixes": [
        {
            "changes": [
                {
                    "component": "producer",
                    "key": "acks",
                    "from": "1",
                    "to": "all",
                    "file": "shop.properties",
                    "line": 3,
                    "action": "set",
                }
            ],
            "verified": ["acked-records-survive"],
            "price": None,
            "smallest": True,
            "condition": None,
        }
    ],
    "advice": ["run kafka-features.sh upgrade --feature eligible.leader.replicas.version=1"],
    "covers": ["KA102"],
    "suppressed": None,
}
REPORT: dict[str, Any] = {
    "schema_version": 1,
    "tool": {"name": "kafka-advisor", "version": "0.1.0"},
    "kafka_version": None,
    "profile": {"name": "prod", "why": "default"},
    "root": ".",
    "files": [
        {
            "file": "shop.properties",
            "format": "properties",
            "roles": ["producer"],
            "client": "java",
            "status": "audited",
            "reason": None,
        }
    ],
    "deployments": [
        {
            "id": "orders",
            "version": "4.1",
            "producer": "shop.properties#shop",
            "topic": None,
            "cluster": [],
            "groups": [],
            "joined_by": [],
            "headline": {"survives_lost": None, "writes_with_away": 2},
            "guarantees": [
                {
                    "name": "acked-records-survive",
                    "verdict": "broken",
                    "tolerance": [
                        {"fault": "broker_crash", "survives": 0, "broken_by": 1, "exhausted": False}
                    ],
                    "bounds": None,
                    "states": 40,
                    "depends_on": [],
                    "reason": None,
                }
            ],
        }
    ],
    "findings": [FINDING],
    "rules": [],
    "summary": dict.fromkeys(
        ("files", "deployments", "errors", "warnings", "notes", "unknown", "ignored"), 1
    ),
}


@pytest.mark.parametrize("name", ["pack", "project", "report"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(load_schema(name))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("time",), "now"),
        (("findings", 0, "evidence", "trace"), []),
        (("findings", 0, "evidence", "trace", 0, "state", "clock"), 1),
        (("findings", 0, "locations"), []),
        (("findings", 0, "locations", 0, "file"), "/home/me/shop.properties"),
        (("findings", 0, "severity"), "unknown"),
        (("findings", 0, "fingerprint"), "xyz"),
        (("findings", 0, "settings", 0, "origin", "kind"), "guess"),
        (("findings", 0, "suppressed"), {"reason": "r"}),
        (("deployments", 0, "headline", "survives_lost"), "2+"),
        (("deployments", 0, "guarantees", 0, "verdict"), "proved"),
        (("files", 0, "status"), "ok"),
        (("summary", "errors"), -1),
    ],
)
def test_a_report_keeps_to_its_schema(path: tuple[str | int, ...], value: object) -> None:
    validator = jsonschema.Draft202012Validator(load_schema("report"))
    validator.validate(REPORT)
    changed: Any = copy.deepcopy(REPORT)
    node = changed
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    assert not validator.is_valid(changed)
