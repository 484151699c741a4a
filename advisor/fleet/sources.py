"""Tables of configurations, from whatever Spark reads, to rows that are alike.

A table has a column `component`, and either `config` (a map, a struct, or JSON text) or `key` and `value`;
it may
have id, cluster, topic, client, owner, family, kafka_version, profile, file, line, lines (key to line),
brokers, partitions, replication_factor. `columns` renames. A row that cannot be audited keeps the reason why.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..catalog import COMPONENTS, RELEASES, keys
from ..model import UsageError
from ..reading import SECRET_PATTERNS, is_secret_key
from .canonical import ABSENT, BETWEEN, ENTRY, HIDDEN, NAMED
from .keys import NAMES, SHAPES
from .options import FleetOptions
from .resolving import quoted
from .session import spark_words

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FORMATS = ("parquet", "json", "csv", "orc", "avro", "delta", "jdbc", "table", "files")
_ALIASES = {
    "config": ("config", "settings", "configuration", "properties"),
    "component": ("component", "kind", "role"),
    "client": ("client", "service", "client_name"),
    "owner": ("owner", "team"),
    "cluster": ("cluster", "cluster_name"),
    "topic": ("topic", "topic_name"),
}
_PLAIN = (
    "id", "component", "config", "key", "value", "cluster", "topic", "client", "owner", "family",
    "kafka_version", "profile", "file", "line", "lines", "brokers", "partitions", "replication_factor",
)  # fmt: skip
_FACTS = {
    "kafka_version": "kafka.version",
    "brokers": "cluster.brokers",
    "partitions": "topic.partitions",
    "replication_factor": "topic.replication_factor",
}
_CORRUPT = "_corrupt_record"
_ENDINGS = {"jsonl": "json", "ndjson": "json"} | {
    kind: kind for kind in ("parquet", "json", "csv", "orc", "avro", "delta")
}
_COMPONENTS = (*COMPONENTS, "mm2", "connector", "user")
_DEV_WORD = r"(?i)(?<![a-z0-9])(dev|test|local|docker-compose)(?![a-z0-9])"


def guess_format(source: str) -> str:
    """From the name: a Spark reader must be chosen before anything is read."""
    name = source.rstrip("/").lower()
    if os.path.isfile(source) and name.endswith(".delta"):
        return "files"  # a properties file; a Delta table is a folder
    if name.startswith("jdbc:"):
        return "jdbc"
    if name.startswith("table:"):
        return "table"
    _, dot, ending = name.rpartition(".")
    return _ENDINGS.get(ending if dot else "", "files")


def read_table(spark: SparkSession, source: str, kind: str, options: FleetOptions) -> DataFrame:
    """Spark's reader; where it cannot, what it said and how to go on."""
    try:
        return _read(spark, source, kind, options)
    except UsageError:
        raise
    except Exception as error:
        said = spark_words(error)
        for mark, remedy in _REMEDIES.items():
            if mark in str(error):
                said = "; ".join(filter(None, (said, remedy.get(kind, remedy[""]))))
                break
        raise UsageError(f"{source} cannot be read as {kind}: {said}") from None


# What Spark says -> what to do, by the kind of source.
_JARS = "--conf spark.jars=FILE or --conf spark.jars.packages=GROUP:NAME:VERSION adds it"
_REMEDIES = {
    "Failed to find": {
        "": _JARS,
        "avro": "--conf spark.jars.packages=org.apache.spark:spark-avro_2.13:VERSION adds it",
        "delta": "--conf spark.jars.packages=io.delta:delta-spark_2.13:VERSION adds it",
    },
    "No suitable driver": {"": f"the database's driver is not there: {_JARS}"},
    "ClassNotFoundException": {"": _JARS},
    # Java's own registry of drivers does not see a jar that Spark has loaded.
    "connect": {"": "", "jdbc": "if its driver came by spark.jars, --source-option driver=CLASS names it"},
}


def _read(spark: SparkSession, source: str, kind: str, options: FleetOptions) -> DataFrame:
    reader = spark.read.options(**dict(options.source_options))
    if kind == "table":
        return spark.table(source.removeprefix("table:"))
    if kind == "jdbc":
        if not source.startswith("jdbc:"):
            raise UsageError(
                f"{source}: a jdbc source is named by its address, such as jdbc:postgresql://host/db"
            )
        if "dbtable" not in options.source_options and "query" not in options.source_options:
            raise UsageError("a jdbc source needs --source-option dbtable=NAME or query=SQL")
        return reader.format("jdbc").option("url", source).load()
    if kind == "csv":
        reader = reader.option("header", True).option("escape", '"').option("multiLine", True)
        found = reader.csv(source)
        if not found.columns:
            raise UsageError(f"{source} is empty: a CSV begins with the names of its columns")
        schema = found.schema.add(_CORRUPT, "string")
        return reader.schema(schema).option("columnNameOfCorruptRecord", _CORRUPT).csv(source)
    return reader.format(kind).load(source)


def named_columns(raw: DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    """Our names -> the table's, whatever the case: many databases write all names large."""
    have = {name.lower(): name for name in reversed(raw.columns) if name != _CORRUPT}
    told = ", ".join(name[:40] for name in raw.columns[:20] if name != _CORRUPT and name.isprintable())
    found: dict[str, str] = {}
    for ours, theirs in columns.items():
        if ours not in _PLAIN:
            raise UsageError(f"--column {ours}={theirs}: no such name here; there is {', '.join(_PLAIN)}")
        if theirs.lower() not in have:
            raise UsageError(f"--column {ours}={theirs}: the table has {told}")
        found[ours] = have[theirs.lower()]
    for ours in _PLAIN:
        for theirs in _ALIASES.get(ours, (ours,)):
            if ours not in found and theirs in have:
                found[ours] = have[theirs]
    if "component" not in found:
        raise UsageError(
            f"the table has no column that says what each row is (component); it has {told or 'no column'}"
        )
    if "config" not in found and not {"key", "value"} <= found.keys():
        raise UsageError(f"the table has neither config nor key and value; it has {told}")
    return found


def normalised(raw: DataFrame, options: FleetOptions, kept_apart: list[str]) -> DataFrame:
    """One row a configuration: row_id, component, name, cluster, topic, owner, file, line, lines, partitions,
    rows (how many of the table), canon, fp (its sha-256), reason (why it is not audited)."""
    from pyspark.sql import functions as F

    found = named_columns(raw, options.columns)
    corrupt = F.col(_CORRUPT) if _CORRUPT in raw.columns else F.lit(None).cast("string")
    picked = [F.col(f"`{theirs}`").alias(ours) for ours, theirs in found.items()]
    frame = raw.select(*picked, corrupt.alias("corrupt"))
    frame = _with_entries(frame, found)

    def text(name: str) -> Column:
        return F.col(name).cast("string") if name in frame.columns else F.lit(None).cast("string")

    component = F.lower(F.trim(text("component")))
    name = F.coalesce(
        text("client"), F.when(component == "topic", text("topic")), text("cluster"), text("file")
    )
    lines = F.col("lines") if "lines" in frame.columns else F.lit(None).cast("map<string,int>")
    partitions = text("partitions")
    shaped = frame.select(
        F.coalesce(
            text("id"), F.concat_ws("/", component, text("cluster"), text("topic"), text("client"))
        ).alias("row_id"),
        component.alias("component"),
        F.coalesce(name, component, F.lit("?")).alias("name"),
        text("cluster").alias("cluster"),
        text("topic").alias("topic"),
        F.coalesce(text("owner"), F.lit("(nobody)")).alias("owner"),
        text("file").alias("file"),
        text("line").try_cast("int").alias("line"),
        lines.cast("map<string,int>").alias("lines"),
        partitions.try_cast("int").alias("partitions"),
        F.col("rows"),
        _canon(_about(frame.columns, component, text, F.size("entries")), kept_apart).alias("canon"),
        _reason(component, text("component"), F.col("entries"), F.col("corrupt")).alias("reason"),
    )
    return shaped.withColumn("fp", F.sha2("canon", 256))


def torn() -> Column:
    """Whether a text would read back as another configuration: because a value holds our own separators or
    a key is missing (then it has not the marks that its entries make), or because a key is there twice and
    the order in which it was written is not known. Asked of distinct texts."""
    from pyspark.sql import functions as F

    about = F.size(F.split(F.substring_index("canon", ENTRY + ENTRY, 1), ENTRY))
    entries = F.regexp_extract("canon", f"@keys{BETWEEN}([0-9]+)", 1).try_cast("int")
    marks = F.length("canon") - F.length(F.translate("canon", BETWEEN + ENTRY, ""))
    body = F.split(F.element_at(F.split("canon", ENTRY + ENTRY, 2), 2), ENTRY)
    names = F.transform(body, lambda entry: F.substring_index(entry, BETWEEN, 1))
    twice = F.size(F.array_distinct(names)) != F.size(names)
    return F.coalesce((marks != 2 * (about + entries)) | twice, F.lit(True))


TORN = "a key is missing or there twice, or a key or value holds control characters"


def partitions_of(distinct: DataFrame) -> DataFrame:
    """Topics that say among their settings how many partitions they have: fp, counted."""
    from pyspark.sql import functions as F

    counted = F.regexp_extract("canon", f"{ENTRY}(?:num-)?partitions{BETWEEN}([0-9]{{1,9}})(?:{ENTRY}|$)", 1)
    found = distinct.where(F.col("canon").startswith(f"@component{BETWEEN}topic"))
    return found.select("fp", counted.try_cast("int").alias("counted"))


def _with_entries(frame: DataFrame, found: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import MapType, StringType, StructType

    if "config" not in found:
        about = [ours for ours in found if ours not in ("key", "value", "line")]
        grouped = frame.groupBy(*about, "corrupt")
        pair = F.struct(
            F.col("key").cast("string").alias("key"), F.col("value").cast("string").alias("value")
        )
        entries = F.collect_list(pair).alias("entries")
        made = [F.count(F.lit(1)).alias("rows"), entries]
        if "line" in found and "lines" not in found:
            place = F.struct(F.col("key").cast("string"), F.col("line").cast("int"))
            made.append(
                F.map_from_entries(F.collect_set(F.when(F.col("key").isNotNull(), place))).alias("lines")
            )
        return grouped.agg(*made)
    kind = frame.schema["config"].dataType
    config = F.col("config")
    if isinstance(kind, StringType):
        config = F.from_json(config, "map<string,string>")
    elif isinstance(kind, StructType):
        config = F.from_json(F.to_json(config), "map<string,string>")
    elif not isinstance(kind, MapType):
        raise UsageError(
            f"the column config is {kind.simpleString()}; it must be a map, a struct or JSON text"
        )
    elif not isinstance(kind.valueType, StringType):
        config = config.cast("map<string,string>")
    return (
        frame.withColumn("entries", F.map_entries(config))
        .withColumn("rows", F.lit(1).cast("long"))
        .drop("config")
    )


def _about(columns: list[str], component: Column, text: Any, keys: Column) -> Column:
    """What is no key, as entries that begin with @, closed by an empty one."""
    from pyspark.sql import functions as F

    parts = [
        F.concat(F.lit("@component" + BETWEEN), F.coalesce(component, F.lit(""))),
        F.concat(F.lit("@keys" + BETWEEN), keys.cast("string")),
    ]
    if "family" in columns:
        parts.append(F.when(text("family").isNotNull(), F.concat(F.lit("@family" + BETWEEN), text("family"))))
    for name, fact in _FACTS.items():
        if name in columns:
            entry = F.concat(F.lit(f"@fact:{fact}{BETWEEN}"), text(name))
            parts.append(F.when(text(name).isNotNull(), entry))
    dev = F.lit(False)
    if "file" in columns:
        dev = F.coalesce(text("file").rlike(_DEV_WORD), dev)
    if "profile" in columns:
        dev = F.coalesce(text("profile") == "dev", dev)
    if "file" in columns or "profile" in columns:
        parts.append(F.when(dev, F.lit("@dev" + BETWEEN + "1")))
    return F.concat(F.concat_ws(ENTRY, *parts), F.lit(ENTRY + ENTRY))


def _canon(about: Column, kept_apart: list[str]) -> Column:
    """The text of a row, of its column `entries`."""
    from pyspark.sql import functions as F

    entries = f"transform(entries, one -> concat(one.key, {quoted(BETWEEN)}, {_masked(kept_apart)}))"
    return F.concat(about, F.expr(f"array_join(sort_array({entries}), {quoted(ENTRY)})"))


def _masked(kept_apart: list[str]) -> str:
    """The value of an entry `one`, as SQL; what most entries are is asked first."""

    def among(names: Iterable[str]) -> str:
        return f"one.key in ({', '.join(map(quoted, sorted(names)))})"

    secret_key, not_secret, secret_value = (quoted(f"(?i){shape}") for shape in SECRET_PATTERNS)
    # What the pattern needs, looked for first: a million rows have forty values each.
    telling = "(contains(one.value, '@') or contains(lower(one.value), 'password'))"
    told = f"({telling} and one.value rlike {secret_value})"
    hidden = f"({among(secret_keys())} or (one.key rlike {secret_key} and not one.key rlike {not_secret}))"
    named = []
    for kind, shape in SHAPES.items():
        names = [name for name in kept_apart if NAMES[name] == kind]
        if names:
            named.append(f"when {among(names)} and one.value rlike {quoted(f'^(?:{shape})$')} then {_NAMED}")
    return (
        f"coalesce(case when {among(plain_keys())} then one.value {' '.join(named)} "
        f"when {among(text_keys())} then if({told}, {_HIDDEN}, one.value) "
        f"when ({hidden} and one.value != '') or {told} then {_HIDDEN} else one.value end, {quoted(ABSENT)})"
    )


_NAMED, _HIDDEN = quoted(NAMED), quoted(HIDDEN)


def _reason(component: Column, given: Column, entries: Column, corrupt: Column) -> Column:
    from pyspark.sql import functions as F

    return (
        F.when(corrupt.isNotNull(), F.lit("the record cannot be parsed"))
        .when(given.isNull(), F.lit("no component"))
        .when(
            ~component.isin(*_COMPONENTS),
            F.concat(F.lit("no component is called "), F.substring(given, 1, 80)),
        )
        .when(entries.isNull(), F.lit("the config is missing, or is no JSON object"))
        .when(F.size(entries) == 0, F.lit("the config is empty"))
    )


@cache
def plain_keys() -> list[str]:
    """Keys whose values can be no secret and no name, in any release: numbers, booleans, words of a list."""
    plain: dict[str, bool] = {}
    for release in RELEASES:
        for component in COMPONENTS:
            for name, key in keys(component, release).items():
                safe = key.type in ("boolean", "int", "short", "long", "double") or bool(key.valid)
                plain[name] = plain.get(name, True) and safe
    return sorted(name for name, safe in plain.items() if safe and name not in NAMES)


@cache
def text_keys() -> list[str]:
    """The other keys of the catalog that are neither secrets nor names."""
    names = {name for release in RELEASES for component in COMPONENTS for name in keys(component, release)}
    return sorted(names - set(plain_keys()) - set(secret_keys()) - set(NAMES))


@cache
def secret_keys() -> list[str]:
    names = {name for release in RELEASES for component in COMPONENTS for name in keys(component, release)}
    return sorted(name for name in names if is_secret_key(name))
