"""Wide rows to narrow ones: what is done to many at once comes to what is done to one. No Spark is needed."""

from __future__ import annotations

import hashlib
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from advisor.fleet.canonical import ABSENT, BETWEEN, ENTRY, Canonical, masked
from advisor.fleet.keys import NAMES
from advisor.fleet.rows.narrow import TORN, Narrowing, narrow_rows
from advisor.fleet.rows.parquet_here import read_split, splits
from advisor.fleet.rows.sources import named_columns

APART = sorted(NAMES)
TEXT = pa.string()
SCHEMA = pa.schema(
    [*((name, TEXT) for name in ("id", "component", "cluster", "topic", "client", "file", "kafka_version")),
     ("partitions", pa.int64()), ("config", pa.map_(TEXT, TEXT))]
)  # fmt: skip
VALUES = {
    "acks": ["all", "1", "0"],
    "linger.ms": ["0", "5", None],
    "client.id": ["svc", "svc-2", "not plain", "${ID}", ""],
    "bootstrap.servers": ["a:9092", "a:9092, b:9092", "password:9092", "SASL://a:9092"],
    "ssl.keystore.location": ["/etc/a.jks", "a.jks"],
    "ssl.key.password": ["hunter2", "", None],
    "x.url": ["https://user:hunter2@host/", "https://host/"],
    "partitions": ["6", "x"],
    "own.key": ["é", "a\u0001b", "\u0003", "\u0004"],
}


def drawn(count: int) -> list[dict[str, object]]:
    chance = random.Random(3)
    made = []
    for number in range(count):
        keys = chance.sample(sorted(VALUES), chance.randint(0, 5))
        config = [(key, chance.choice(VALUES[key])) for key in keys]
        if chance.random() < 0.05 and config:
            config.append(config[0])
        made.append(
            {
                "id": f"row-{number}",
                "component": chance.choice(["producer", " Topic ", "broker", "gateway", None]),
                "cluster": chance.choice(["one", None]),
                "topic": chance.choice(["orders", None]),
                "client": chance.choice(["svc", None]),
                "file": chance.choice(["x/dev/a.properties", "x/prod/a.properties", None]),
                "kafka_version": chance.choice(["3.9", None]),
                "partitions": chance.choice([None, 12]),
                "config": None if chance.random() < 0.05 else config,
            }
        )
    return made


def one_by_one(row: dict[str, object]) -> tuple[str | None, str | None]:
    """The sha-256 of a row, or why it has none."""
    component, config = row["component"], row["config"]
    if component is None:
        return None, "no component"
    component = component.strip().lower()
    if component == "gateway":
        return None, "no component is called gateway"
    if config is None:
        return None, "the config is missing, or is no JSON object"
    if not config:
        return None, "the config is empty"
    if len(dict(config)) < len(config) or any(
        set(value or "") & set("\u0001\u0003\u0004") for _, value in config
    ):
        return None, TORN
    about = {"component": component, "fact:kafka.version": row["kafka_version"]}
    about["fact:topic.partitions"] = row["partitions"]
    about["dev"] = "1" if "dev" in (row["file"] or "") else None
    parts = [f"@{name}{BETWEEN}{value}" for name, value in about.items() if value is not None]
    entries = [
        f"{key}{BETWEEN}{ABSENT if value is None else masked(key, value, APART)}" for key, value in config
    ]
    return hashlib.sha256(ENTRY.join([*parts, *sorted(entries)]).encode()).hexdigest(), None


def test_many_at_once_are_as_one_by_one():
    rows = drawn(4000)
    batches = pa.Table.from_pylist(rows, SCHEMA).to_batches(max_chunksize=700)
    found = [
        row for batch in narrow_rows(batches, json.dumps({"kept_apart": APART})) for row in batch.to_pylist()
    ]
    assert [row["row_id"] for row in found] == [row["id"] for row in rows]
    assert [(row["fp"], row["reason"]) for row in found] == [one_by_one(row) for row in rows]
    # The text of each is there once, and is what the sha-256 is of.
    texts = {row["fp"]: row["text"] for row in found if row["text"] is not None}
    assert len(texts) == sum(row["text"] is not None for row in found)
    assert set(texts) == {row["fp"] for row in found if row["fp"] is not None}
    assert all(hashlib.sha256(text.encode()).hexdigest() == fp for fp, text in texts.items())
    assert not any("hunter2" in str(row) for row in found)
    for row, given in zip(found, rows, strict=True):
        said = dict(given["config"] or ()).get("partitions")
        topic = row["component"] == "topic" and row["reason"] is None
        assert row["partitions"] == (given["partitions"] or (int(said) if topic and said == "6" else None))


def test_the_order_of_entries_makes_no_difference_and_what_they_say_does():
    def marks(*configs):
        rows = [{"component": "producer", "config": list(config.items())} for config in configs]
        batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
        return [row["fp"] for row in Narrowing(APART).narrow(batch).to_pylist()]

    one, turned, swapped = marks(
        {"retries": "1", "linger.ms": "2"},
        {"linger.ms": "2", "retries": "1"},
        {"retries": "2", "linger.ms": "1"},
    )
    assert one == turned != swapped


@pytest.mark.parametrize("group", [100, 10_000])
def test_parquet_files_are_read_as_any_rows(tmp_path, group):
    table = pa.Table.from_pylist(drawn(900), SCHEMA)
    (tmp_path / "t.parquet").mkdir()
    for number, part in enumerate((table.slice(0, 400), table.slice(400))):
        pq.write_table(part, tmp_path / f"t.parquet/{number}.parquet", row_group_size=group)
    (tmp_path / "t.parquet/_SUCCESS").write_text("")
    found = splits(str(tmp_path / "t.parquet"), lambda names: named_columns(names, {}))
    assert found is not None
    narrowing = Narrowing(APART)
    batches = (batch for part in found.parts for batch in read_split(part, found.columns))
    read = [row for batch in batches for row in narrowing.narrow(batch).to_pylist()]
    assert found.rows == len(read)
    direct = [
        row
        for batch in narrow_rows(table.to_batches(), json.dumps({"kept_apart": APART}))
        for row in batch.to_pylist()
    ]
    assert read == direct
    assert Canonical.read(next(row["text"] for row in read if row["text"])).about["component"]


def test_what_is_not_plain_parquet_is_left_to_spark(tmp_path):
    def found(name):
        return splits(str(tmp_path / name), lambda names: named_columns(names, {}))

    plain = pa.Table.from_pylist(drawn(5), SCHEMA)
    (tmp_path / "deep.parquet/part=1").mkdir(parents=True)
    pq.write_table(plain, tmp_path / "deep.parquet/part=1/a.parquet")
    assert found("deep.parquet") is None
    (tmp_path / "two.parquet").mkdir()
    pq.write_table(plain, tmp_path / "two.parquet/a.parquet")
    pq.write_table(plain.drop(["topic"]), tmp_path / "two.parquet/b.parquet")
    assert found("two.parquet") is None
    timed = plain.append_column("line", pa.array([1.5] * 5))
    pq.write_table(timed, tmp_path / "odd.parquet")
    assert found("odd.parquet") is None
    (tmp_path / "text.parquet").write_text("hello")
    assert found("text.parquet") is None
    assert found("nowhere.parquet") is None
    pq.write_table(plain, tmp_path / "plain.parquet")
    assert found("plain.parquet") is not None
