"""From deployments to the few that behave differently: resolve, project, and write the text that is judged.

Everything here is done once for each distinct configuration, pair of topic and cluster, or combination, not
for each row. The driver holds these few; what the broker says for a topic is resolved by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from hashlib import sha256
from typing import TYPE_CHECKING

from ...catalog import NEWEST, Version, resolution_table, resolve_version
from ...spark.session import INTERPRETED, settings
from ...tuples import NamedTuple
from ..canonical import BETWEEN, ENTRY
from ..worker import SECTION
from .resolution import spoken_sql
from .versions import VERSION_KEY

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Entries = dict[str, str]


class Combination(NamedTuple):
    """The sides of a behaviour, by sha-256."""

    behaviour: str
    producer_fp: str | None
    topic_fp: str | None
    cluster_fp: str | None
    group_fps: tuple[str, ...]


class Subject(NamedTuple):
    """What is judged for the behaviours that name it: sections (slot, configuration), and their sha-256."""

    mark: str
    text: str


def subjects(
    spark: SparkSession,
    combinations: Iterable[Combination],
    texts: Mapping[str, str],
    members: Mapping[str, Sequence[str]],
    read: Set[str],
    stated: str | None,
) -> dict[str, Subject]:
    """By behaviour. `texts` are configurations by their sha-256, `members` the brokers of each cluster."""
    combinations = list(combinations)
    given = {fp: _entries(text) for fp, text in texts.items()}
    kept = {fp: _joined(entries, read) for fp, entries in given.items()}
    pairs = sorted({(c.topic_fp, c.cluster_fp) for c in combinations if c.cluster_fp is not None}, key=str)
    spoke = _spoken(spark, pairs, given, members, read, stated)
    brokers = {
        (topic, cluster): [_joined(given[fp], {*read, *said}) for fp in members[cluster]]
        for (topic, cluster), said in zip(pairs, spoke, strict=True)
    }
    made = {}
    for one in combinations:
        sections = [
            f"{side}={kept[fp]}"
            for side, fp in (("producer", one.producer_fp), ("topic", one.topic_fp))
            if fp is not None
        ]
        of_cluster = brokers[one.topic_fp, one.cluster_fp] if one.cluster_fp is not None else ()
        sections += [f"broker{number}={text}" for number, text in enumerate(of_cluster)]
        sections += [f"group{number}={kept[fp]}" for number, fp in enumerate(one.group_fps)]
        text = SECTION.join(sections)
        made[one.behaviour] = Subject(sha256(text.encode()).hexdigest(), text)
    return made


def _entries(text: str) -> Entries:
    return {key: value for key, _, value in (entry.partition(BETWEEN) for entry in text.split(ENTRY))}


def keys_of(texts: Iterable[str]) -> frozenset[str]:
    """Every key that some configuration has."""
    return frozenset(entry.partition(BETWEEN)[0] for text in texts for entry in text.split(ENTRY))


def _joined(entries: Entries, wanted: Set[str]) -> str:
    """The entries that count, and what is no key. Of a configuration that has none of them the first stays:
    a document without any setting says nothing, not even that defaults are in force."""
    if not any(key in wanted for key in entries):
        wanted = set(sorted(key for key in entries if key[:1] != "@")[:1])
    return ENTRY.join(
        f"{key}{BETWEEN}{value}" for key, value in entries.items() if key[:1] == "@" or key in wanted
    )


def _spoken(
    spark: SparkSession,
    pairs: Sequence[tuple[str | None, str]],
    given: Mapping[str, Entries],
    members: Mapping[str, Sequence[str]],
    read: Set[str],
    stated: str | None,
) -> list[set[str]]:
    """Of each topic in each cluster the broker's keys that speak for it. A value of the broker that speaks
    for the topic counts; one that the topic overrides does not."""
    asked: dict[Version, list[tuple[int, Entries, Entries]]] = {}
    for number, (topic, cluster) in enumerate(pairs):
        merged: Entries = {}
        for fp in reversed(members[cluster]):  # of equal keys the first broker's counts, as in an audit
            merged |= given[fp]
        version = _version(stated or merged.get(VERSION_KEY, NEWEST))
        asked.setdefault(version, []).append((number, given[topic] if topic else {}, merged))
    found: list[set[str]] = [set() for _ in pairs]
    columns = "number int, topic map<string,string>, broker map<string,string>"
    with settings(spark, INTERPRETED):
        for version, rows in asked.items():
            keys = [key for home, key in sorted(resolution_table(version)) if home == "topic" and key in read]
            spoke = spoken_sql(keys, version, "topic", "broker")
            frame = spark.createDataFrame(rows, columns).selectExpr("number", f"{spoke} as spoke")
            for row in frame.collect():
                found[row["number"]] = set(row["spoke"])
    return found


def _version(name: str) -> Version:
    try:
        return resolve_version(name)
    except ValueError:
        return resolve_version(NEWEST)


def combinations_of(cells: pa.Table) -> list[Combination]:
    """Each behaviour once, of rows of kept_here.CELLS."""
    coded = cells["behaviour"].combine_chunks().dictionary_encode()
    first = dict(zip(reversed(coded.indices.to_pylist()), reversed(range(len(coded))), strict=True))
    few = cells.select(list(Combination._fields)).take(sorted(first.values())).to_pylist()
    found = [Combination(**{**row, "group_fps": tuple(row["group_fps"])}) for row in few]
    return sorted(found, key=lambda one: one.behaviour)
