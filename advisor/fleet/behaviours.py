"""From deployments to the few that behave differently: resolve, project, and write the text that is judged.

Everything here is done once for each distinct configuration, pair of topic and cluster, or combination, not
for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from ..catalog import NEWEST, Version, resolution_table, resolve_version
from .canonical import BETWEEN, ENTRY
from .resolving import quoted, resolved_sql
from .worker import SECTION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

VERSION_KEY = "@fact:kafka.version"


def subjects(
    combinations: DataFrame,
    documents: DataFrame,
    clusters: DataFrame | None,
    read: Set[str],
    versions: Iterable[str],
    stated: str | None,
) -> DataFrame:
    """behaviour -> mark (sha-256 of the resolved values), text. `combinations` has behaviour, producer_fp,
    topic_fp, cluster_fp and group_fps, each once; `documents` fp and canon; `clusters` cluster_fp and
    members; `versions` are those that the brokers of the documents have."""
    wanted = f"in ({', '.join(quoted(key) for key in sorted(read))})"
    known = documents.selectExpr(
        "fp", f"{_entries('canon', f'{_KEY} {wanted}')} as kept", f"{_map('canon')} as given", "canon"
    )
    frame = combinations
    for side in ("producer", "topic"):
        said = known.selectExpr(f"fp as {side}_fp", f"concat('{side}=', kept) as {side}_text")
        frame = frame.join(said, f"{side}_fp", "left")
    groups = combinations.select("behaviour", "group_fps").where("size(group_fps) > 0")
    read_by = _texts(groups, "behaviour", "group_fps", known.selectExpr("fp", "kept as text"), "group_texts")
    frame = frame.join(read_by, "behaviour", "left")
    if clusters is None:
        frame = frame.selectExpr("*", "cast(null as array<string>) as brokers", "array() as spoke")
    else:
        texts = _texts(clusters, "cluster_fp", "members", known.selectExpr("fp", "canon as text"), "brokers")
        ruled = _spoken(combinations, known, texts, read, {stated} if stated else {NEWEST, *versions}, stated)
        frame = frame.join(texts, "cluster_fp", "left").join(ruled, ["topic_fp", "cluster_fp"], "left")
    # A broker's value that speaks for the topic counts; one that the topic overrides does not.
    counts = f"{_KEY} {wanted} or array_contains(spoke, {_KEY})"
    broker = f"transform(brokers, (text, n) -> concat('broker', n, '=', {_entries('text', counts)}))"
    group = "transform(group_texts, (text, n) -> concat('group', n, '=', text))"
    text = f"concat_ws({quoted(SECTION)}, producer_text, topic_text, {broker}, {group})"
    return frame.selectExpr("behaviour", f"{text} as text").selectExpr(
        "behaviour", "sha2(text, 256) as mark", "text"
    )


_KEY = f"substring_index(entry, {quoted(BETWEEN)}, 1)"


def _entries(text: str, counts: str) -> str:
    """The entries of a text that count, and what is no key."""
    kept = f"filter(split({text}, {quoted(ENTRY)}), entry -> startswith(entry, '@') or {counts})"
    return f"array_join({kept}, {quoted(ENTRY)})"


def _map(text: str) -> str:
    return f"str_to_map({text}, {quoted(ENTRY)}, {quoted(BETWEEN)})"


def _texts(frame: DataFrame, key: str, marks: str, texts: DataFrame, name: str) -> DataFrame:
    """The texts behind an array of marks, in its order."""
    spread = frame.selectExpr(key, f"posexplode({marks}) as (number, fp)").dropDuplicates([key, "number"])
    joined = spread.join(texts, "fp").groupBy(key)
    from pyspark.sql import functions as F

    return joined.agg(
        F.expr("transform(sort_array(collect_list(struct(number, text))), one -> one.text)").alias(name)
    )


def _spoken(
    combinations: DataFrame,
    known: DataFrame,
    clusters: DataFrame,
    read: Set[str],
    versions: Iterable[str],
    stated: str | None,
) -> DataFrame:
    """Of each topic in each cluster the broker's keys that speak for it: topic_fp, cluster_fp, spoke."""
    # Of equal keys the first broker's counts, as in an audit.
    merged = (
        "aggregate(brokers, cast(map() as map<string,string>), (all, text) -> map_concat(all, "
        f"map_filter({_map('text')}, (key, value) -> not map_contains_key(all, key))))"
    )
    brokers = clusters.selectExpr("cluster_fp", f"{merged} as broker")
    pairs = combinations.where("cluster_fp is not null").select("topic_fp", "cluster_fp").distinct()
    topics = known.selectExpr("fp as topic_fp", "given as topic")
    both = pairs.join(brokers, "cluster_fp").join(topics, "topic_fp", "left")
    version = quoted(stated) if stated else f"coalesce(broker[{quoted(VERSION_KEY)}], {quoted(NEWEST)})"
    alike: dict[str, list[str]] = {}
    for name in sorted(versions):
        alike.setdefault(_resolved(_version(name), read), []).append(name)
    cases = " ".join(
        f"when {version} in ({', '.join(map(quoted, names))}) then {in_force}"
        for in_force, names in alike.items()
    )
    spoke = f"transform(filter(case {cases} end, one -> one.source = 'broker'), one -> one.source_key)"
    return both.selectExpr("topic_fp", "cluster_fp", f"coalesce({spoke}, array()) as spoke")


def _resolved(version: Version, read: Set[str]) -> str:
    keys = [place for place in sorted(resolution_table(version)) if place[0] == "topic" and place[1] in read]
    return resolved_sql(keys, version, {"topic": "topic", "broker": "broker"})


def _version(name: str) -> Version:
    try:
        return resolve_version(name)
    except ValueError:
        return resolve_version(NEWEST)
