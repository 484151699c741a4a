"""From deployments to the few that behave differently: resolve, project, and write the text that is judged.

Everything here is done once for each distinct combination of configurations, not for each row.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from ..catalog import NEWEST, Version, resolution_table, resolve_version
from .canonical import BETWEEN, ENTRY
from .resolving import resolved
from .worker import SECTION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

VERSION_KEY = "@fact:kafka.version"


def subjects(
    combinations: DataFrame,
    documents: DataFrame,
    clusters: DataFrame | None,
    read: Set[str],
    stated: str | None,
) -> DataFrame:
    """behaviour -> mark (sha-256 of the resolved values), text. `combinations` has behaviour, producer_fp,
    topic_fp, cluster_fp and group_fps, each once; `documents` fp and canon; `clusters` cluster_fp,
    members."""
    from pyspark.sql import functions as F

    canon = documents.select("fp", "canon")
    frame = combinations
    for side in ("producer", "topic"):
        text = canon.select(F.col("fp").alias(f"{side}_fp"), F.col("canon").alias(side))
        frame = frame.join(F.broadcast(text), f"{side}_fp", "left")
    if clusters is None:
        frame = frame.withColumn("brokers", F.lit(None).cast("array<string>"))
    else:
        frame = frame.join(
            F.broadcast(_texts(clusters, "cluster_fp", "members", canon, "brokers")), "cluster_fp", "left"
        )
    groups = combinations.select("behaviour", "group_fps").where(F.size("group_fps") > 0)
    frame = frame.join(_texts(groups, "behaviour", "group_fps", canon, "groups"), "behaviour", "left")
    frame = frame.withColumn("brokers", F.coalesce("brokers", F.array().cast("array<string>")))
    frame = frame.withColumn("broker", _first_wins(F.col("brokers")))
    version = F.coalesce(F.lit(stated), F.col("broker")[VERSION_KEY], F.lit(NEWEST))
    frame = frame.withColumn("version", version)
    asked = [row["version"] for row in frame.select("version").distinct().collect()]
    made = [_of_version(frame.where(F.col("version") == name), name, read) for name in sorted(asked)]
    whole = made[0]
    for other in made[1:]:
        whole = whole.unionByName(other)
    return whole.select("behaviour", F.sha2("text", 256).alias("mark"), "text")


def _texts(frame: DataFrame, key: str, marks: str, canon: DataFrame, name: str) -> DataFrame:
    """The canonical texts behind an array of marks, in its order."""
    from pyspark.sql import functions as F

    spread = frame.select(key, F.posexplode(marks).alias("number", "fp")).dropDuplicates([key, "number"])
    joined = spread.join(F.broadcast(canon), "fp")
    pairs = F.sort_array(F.collect_list(F.struct("number", "canon")))
    return joined.groupBy(key).agg(F.transform(pairs, lambda pair: pair["canon"]).alias(name))


def _first_wins(texts: Column) -> Column:
    """The settings of several brokers as one map; of equal keys the first broker's counts, as in an audit."""
    from pyspark.sql import functions as F

    def merged(all_: Column, text: Column) -> Column:
        one = F.str_to_map(text, F.lit(ENTRY), F.lit(BETWEEN))
        return F.map_concat(all_, F.map_filter(one, lambda key, _: ~F.array_contains(F.map_keys(all_), key)))

    return F.aggregate(texts, F.create_map().cast("map<string,string>"), merged)


def _of_version(frame: DataFrame, name: str, read: Set[str]) -> DataFrame:
    from pyspark.sql import functions as F

    version = _version(name)
    topic_keys = [
        (component, key)
        for component, key in sorted(resolution_table(version))
        if component == "topic" and key in read
    ]
    topic = F.str_to_map(F.coalesce("topic", F.lit("")), F.lit(ENTRY), F.lit(BETWEEN))
    in_force = resolved(topic_keys, version, {"topic": topic, "broker": F.col("broker")})
    # A broker's value that speaks for the topic counts; one that the topic overrides does not.
    spoke = F.transform(
        F.filter(in_force, lambda found: found["source"] == "broker"), lambda found: found["source_key"]
    )
    wanted = F.split(F.lit(ENTRY.join(sorted(read))), ENTRY)
    kept = F.array_union(wanted, spoke)
    sections = F.flatten(
        F.array(
            F.array(_section(F.lit("producer"), F.col("producer"), wanted)),
            F.array(_section(F.lit("topic"), F.col("topic"), wanted)),
            _numbered("broker", F.col("brokers"), kept),
            _numbered("group", F.coalesce("groups", F.array().cast("array<string>")), wanted),
        )
    )
    return frame.withColumn("text", F.array_join(F.array_compact(sections), SECTION))


def _version(name: str) -> Version:
    try:
        return resolve_version(name)
    except ValueError:
        return resolve_version(NEWEST)


def _section(slot: Column, text: Column, kept: Column) -> Column:
    from pyspark.sql import functions as F

    def wanted(entry: Column) -> Column:
        return entry.startswith("@") | F.array_contains(kept, F.substring_index(entry, BETWEEN, 1))

    entries = F.filter(F.split(text, ENTRY), wanted)
    return F.concat(slot, F.lit("="), F.array_join(entries, ENTRY))


def _numbered(slot: str, texts: Column, kept: Column) -> Column:
    from pyspark.sql import functions as F

    return F.transform(
        texts, lambda text, number: _section(F.concat(F.lit(slot), number.cast("string")), text, kept)
    )
