"""Tables that are large in one way alone: what README.md states of them is tried here. No Spark is needed."""

from __future__ import annotations

import json

import pyarrow as pa

from advisor.fleet.canonical import Canonical
from advisor.fleet.rows.join import cluster_of, join_rows
from advisor.fleet.rows.narrow import FED, Narrowing
from advisor.fleet.worker import Job, Judge, judge_documents

from .test_joining import SCHEMA

MANY, KEYS = 100_000, 10_000


def test_one_cluster_of_a_hundred_thousand_topics_and_producers():
    """Each producer meets its own topic, in one task."""
    numbers = range(MANY)
    columns = {name: [None] * 2 * MANY for name in SCHEMA.names} | {
        "row_id": [f"{component}/{n}" for component in ("producer", "topic") for n in numbers],
        "component": ["producer"] * MANY + ["topic"] * MANY,
        "name": [f"{component}-{n}" for component in ("producer", "topic") for n in numbers],
        "cluster": ["main"] * 2 * MANY,
        "topic": [f"topic-{n}" for n in numbers] * 2,
        "owner": ["team"] * 2 * MANY,
        "fp": [f"{n % 7}" for n in range(2 * MANY)],
    }
    rows = pa.table(columns, SCHEMA)
    asked = json.dumps(
        {"link": True, "clusters": {"main": cluster_of(["b"], [{"file": None, "line": None}])}}
    )
    made = pa.Table.from_batches(list(join_rows(rows.to_batches(), asked)))
    assert len(made) == MANY
    pairs = set(zip(made["producer"].to_pylist(), made["topic"].to_pylist(), strict=True))
    assert pairs == {(f"producer-{n}", f"topic-{n}") for n in numbers}


def test_a_row_of_thousands_of_keys():
    """It is one configuration, and its order makes no difference; what it costs grows with the keys."""
    text = pa.string()
    schema = pa.schema(
        [(name, pa.map_(text, text) if name == "config" else text) for name in (*FED, "config")]
    )
    keys = [(f"own.key.{n}", str(n)) for n in range(KEYS)]
    rows = [{**dict.fromkeys(FED), "component": "producer", "config": one} for one in (keys, keys[::-1])]
    made = Narrowing((), {}).narrow(pa.RecordBatch.from_pylist(rows, schema))
    assert made["reason"].null_count == 2
    assert made["fp"][0] == made["fp"][1]
    assert len(Canonical.read(made["text"][0].as_py()).entries) == KEYS


def test_keys_of_a_row_are_judged_each_once():
    """Ten times the keys are ten times the questions, not a hundred times."""
    judge = Judge(Job(None, None, (), (), (), (), "2027-01-01", True, {}))

    def asked(count):
        entries = tuple(sorted((f"linger.m{n}", "1") for n in range(count)))
        return json.loads(judge_documents(judge, [Canonical({"component": "producer"}, entries).text()])[0])

    few, many = (len(asked(count)["findings"]) for count in (100, 1000))
    assert few <= 100
    assert many <= 1000
