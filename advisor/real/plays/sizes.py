"""A run of sizes: each value is sent by a real producer and meets the limits that it meets."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Finding
from ..audited import Audited
from ..stage import Outcome, Plan, Stage, Step

_ID = "producer"
_ANSWER = 30.0
# How KafkaProducer.ensureValidRecordSize words its own refusal; a broker's has other words.
_BY_PRODUCER = "when serialized"


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    return Plan(tuple(range(audited.replicas)), seconds=10)


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    driver = stage.producer()
    settings = stage.at(stage.audited.producer.settings)
    # What is measured is a record as it is stored.
    driver.tell("producer", id=_ID, settings={"compression.type": "none", **settings})
    steps, refused, passed = [], [], []
    for number, step in enumerate(trace):
        size = step["event"]["value_bytes"]
        stage.progress(step["event"]["text"])
        driver.tell("send", id=_ID, topic=stage.topic, partition=0, values=[f"r{number}"], size=size)
        name = f"r{number}"
        driver.wait_for(lambda events, name=name: any(one.get("record") == name for one in events), _ANSWER)  # type: ignore[misc]
        told = next((one for one in driver.told("acked", "failed") if one["record"] == name), None)
        if told is None:
            words = "no answer"
        elif told["event"] == "acked":
            words = "passed"
            passed.append(size)
        else:
            by = "producer" if _BY_PRODUCER in told["message"] else "topic"
            words = f"refused by the {by}"
            if by == "topic":
                refused.append(size)
        error = "" if told is None or told["event"] == "acked" else told["error"]
        steps.append(
            {
                "step": step["step"],
                "event": dict(step["event"]),
                "effects": [words],
                "state": {"kind": "size-chain", "cells": {"the producer is told": error or "stored"}},
            }
        )
    facts = (
        ("stored", ", ".join(f"{one:,} bytes" for one in passed) or "nothing"),
        ("refused by the brokers", ", ".join(f"{one:,} bytes" for one in refused) or "nothing"),
    )
    words = (
        f"values of {min(refused):,} bytes pass the producer and are refused by the topic"
        if refused
        else "what passes the producer is stored"
    )
    return Outcome(tuple(steps), bool(refused), words, facts)
