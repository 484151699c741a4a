"""Rows joined into deployments: as arrays, and one by one. No Spark is needed."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

from advisor.fleet.rows.join import GROUPS_MAX, READERS, REPEATED, TAKEN, cluster_of, join_rows

KINDS = {"line": pa.int32(), "partitions": pa.int32(), "lines": pa.map_(pa.string(), pa.int32())}
SCHEMA = pa.schema([(name, KINDS.get(name, pa.string())) for name in TAKEN])


def drawn(seed: int, count: int) -> list[dict[str, object]]:
    chance = random.Random(seed)
    made = []
    for number in range(count):
        component = chance.choice(["producer", "topic", "consumer", "streams", "admin"])
        made.append(
            {
                "row_id": f"row-{number:03}",
                "component": component,
                "name": f"{component}-{chance.randrange(6)}",
                "cluster": chance.choice(["one", "two", None]),
                "topic": chance.choice(["a", "b", "c", None]),
                "owner": chance.choice(["x", "y"]),
                "file": chance.choice([None, "f.csv"]),
                "line": chance.choice([None, 3]),
                "lines": None,
                "partitions": chance.choice([None, 6]),
                "fp": f"fp-{chance.randrange(12):02}",
            }
        )
    return made


def one_by_one(
    rows: list[dict[str, object]], clusters: dict[str, dict[str, object]]
) -> list[tuple[object, ...]]:
    """Deployments as (row, producer, topic, cluster's mark, groups)."""

    def key(row: dict[str, object]) -> tuple[object, object]:
        """Of its own, if it names too little to be joined by."""
        namesakes = [one for one in rows if one["component"] == "topic" and one["topic"] == row["topic"]]
        several = sum(one["cluster"] is None for one in namesakes) > 1
        if row["topic"] is None or (row["cluster"] is None and several):
            return "alone", row["row_id"]
        return row["cluster"] or "", row["topic"]

    def groups(place: tuple[object, object]) -> list[tuple[object, object]] | None:
        read = [row for row in rows if row["component"] in READERS and row["topic"] and key(row) == place]
        first: dict[object, tuple[object, ...]] = {}
        for row in read:
            told = row["name"], row["file"] or "", row["line"] or 0
            first[row["fp"]] = min(first.get(row["fp"], told), told)
        return [(fp, first[fp][0]) for fp in sorted(first)][:GROUPS_MAX] or None

    made = []
    topics = [row for row in rows if row["component"] == "topic"]
    producers = [row for row in rows if row["component"] == "producer"]
    for row in producers:
        others = [topic for topic in topics if key(topic) == key(row)]
        made += [(row, row, topic, groups(key(topic))) for topic in others] or [(row, row, None, None)]
    made += [(t, None, t, groups(key(t))) for t in topics if not any(key(p) == key(t) for p in producers)]
    for row in rows:
        if row["component"] not in ("producer", "topic") and not any(key(t) == key(row) for t in topics):
            made.append((row, None, None, [(row["fp"], row["name"])]))
    return sorted(
        (
            row["row_id"],
            producer and producer["fp"],
            topic and topic["fp"],
            clusters.get(row["cluster"] or "", {}).get("fp"),
            read,
        )
        for row, producer, topic, read in made
    )


def joined(rows, link=True, clusters=None):
    asked = json.dumps({"link": link, "clusters": clusters or {}})
    batches = pa.Table.from_pylist(rows, SCHEMA).to_batches(max_chunksize=7)
    return [row for batch in join_rows(batches, asked) for row in batch.to_pylist()]


@pytest.mark.parametrize("seed", range(12))
def test_arrays_are_joined_as_rows_would_be(seed):
    clusters = {"one": cluster_of(["b1", "b2"], [{"file": "b", "line": 1}, {"file": None, "line": None}])}
    rows = drawn(seed, (3, 12, 60)[seed % 3])
    found = joined(rows, clusters=clusters)
    told = [
        (
            row["row_id"],
            row["producer_fp"],
            row["topic_fp"],
            row["cluster_fp"],
            row["groups"] and [(group["fp"], group["name"]) for group in row["groups"]],
        )
        for row in found
    ]
    assert sorted(told, key=str) == sorted(one_by_one(rows, clusters), key=str)
    alike: dict[object, set[str]] = {}
    for place, row in zip(told, found, strict=True):
        sides = place[1:4], str([fp for fp, _ in place[4] or ()])
        alike.setdefault(sides, set()).add(row["behaviour"])
    assert all(len(marks) == 1 for marks in alike.values())
    assert len(set().union(*alike.values())) == len(alike)
    for row in found:
        lone = row["groups"][0]["name"] if row["producer"] is None and row["topic"] is None else None
        names = [row["producer"], row["topic"], row["cluster"], lone]
        assert row["deployment"] == " -> ".join(name for name in names if name)
        assert (row["producer_at"] is None) == (row["producer"] is None)
        assert (row["cluster_at"] is None) == (row["cluster_fp"] is None)


def test_rows_that_name_nothing_stay_alone():
    """However many there are, and whatever their ids: each is a deployment."""
    (row,) = drawn(1, 1)
    rows = [
        {
            **row,
            "component": component,
            "cluster": None,
            "topic": topic,
            "name": f"{component}-{n}",
            "row_id": "same",
        }
        for topic in (None, "events")
        for component in ("producer", "topic", "consumer")
        for n in range(300)
    ]
    found = joined(rows)
    assert len(found) == len(rows)
    assert len(joined(rows, link=False)) == len(rows)
    sides = [(one["producer_fp"], one["topic_fp"], one["groups"]) for one in found]
    assert all(sum(side is not None for side in three) == 1 for three in sides)


def test_a_topic_without_a_cluster_is_found_by_its_name_where_there_is_one():
    (row,) = drawn(1, 1)
    rows = [
        {**row, "component": component, "cluster": None, "topic": "orders", "row_id": component}
        for component in ("producer", "topic")
    ]
    (one,) = joined(rows)
    assert one["producer_fp"]
    assert one["topic_fp"]


@pytest.mark.parametrize("link", [True, False])
def test_a_repeated_row_is_told_and_joined_once(link):
    rows = drawn(3, 40)
    other = [{**row, "owner": "z"} for row in rows[:2]]
    found = joined([*rows, *other, *rows[:5], *rows[:3]], link=link)
    again = [row for row in found if row["behaviour"] == REPEATED]
    assert sorted(row["row_id"] for row in again) == sorted(row["row_id"] for row in rows[:5] + rows[:3])
    rest = [row for row in found if row["behaviour"] != REPEATED]
    assert sorted(map(str, rest)) == sorted(map(str, joined([*rows, *other], link=link)))


def test_without_link_each_row_is_alone():
    rows = [*drawn(1, 20), {**drawn(2, 1)[0], "component": "broker", "row_id": "b", "file": "b.csv"}]
    found = joined(rows, link=False)
    assert sorted(row["row_id"] for row in found) == sorted(row["row_id"] for row in rows)
    for row in found:
        sides = [row["producer_fp"], row["topic_fp"], row["cluster_fp"], row["groups"]]
        assert sum(side is not None for side in sides) == 1
    (broker,) = (row for row in found if row["row_id"] == "b")
    assert broker["cluster_at"] == [{"file": "b.csv", "line": rows[-1]["line"]}]


def test_nothing_is_joined_of_nothing():
    assert joined([]) == []
