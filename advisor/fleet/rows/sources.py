"""Tables of configurations, from whatever Spark reads, to rows that are alike.

A table has a column `component`, and either `config` (a map, a struct, or JSON text) or `key` and `value`;
it may
have id, cluster, topic, client, owner, family, kafka_version, profile, file, line, lines (key to line),
brokers, partitions, replication_factor. `columns` renames. A row that cannot be audited keeps the reason why.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...model import UsageError
from ...spark.session import spark_words
from ...spark.shipping import sent
from ..options import FleetOptions
from .narrow import FED, NARROW

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

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
_CORRUPT = "_corrupt_record"
_ENDINGS = {"jsonl": "json", "ndjson": "json"} | {
    kind: kind for kind in ("parquet", "json", "csv", "orc", "avro", "delta")
}


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
    found = reader.format(kind).load(source)
    return _as_written(reader, source, found, options.columns) if kind == "json" else found


def _as_written(
    reader: DataFrameReader, source: str, found: DataFrame, columns: Mapping[str, str]
) -> DataFrame:
    """JSON read with `config` as a map: a struct of all keys of all rows would give every row every key, and
    a whole number where another row has a fraction would be written as one."""
    from pyspark.sql.types import MapType, StringType, StructField, StructType

    config = named_columns(found.columns, columns).get("config")
    if config is None or not isinstance(found.schema[config].dataType, StructType):
        return found
    kind = MapType(StringType(), StringType())
    fields = [StructField(config, kind) if one.name == config else one for one in found.schema.fields]
    return reader.schema(StructType(fields)).format("json").load(source)


def named_columns(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Our names -> the table's, whatever the case: many databases write all names large."""
    have = {name.lower(): name for name in reversed(names) if name != _CORRUPT}
    told = ", ".join(name[:40] for name in names[:20] if name != _CORRUPT and name.isprintable())
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


def normalised(
    raw: DataFrame,
    options: FleetOptions,
    kept_apart: list[str],
    packed: bytes | None = None,
    aliases: Mapping[str, str] = {},
) -> DataFrame:
    """One row a configuration, as narrowing.NARROW has it; made by the executors' Python."""
    asked = json.dumps({"kept_apart": kept_apart, "aliases": dict(aliases)})
    work = sent("advisor.fleet.rows.narrow:narrow_rows", asked, packed)
    return _fed(raw, options).mapInArrow(work, NARROW)


def _fed(raw: DataFrame, options: FleetOptions) -> DataFrame:
    """The columns that narrowing takes."""
    from pyspark.sql import functions as F

    found = named_columns(raw.columns, options.columns)
    corrupt = F.col(_CORRUPT) if _CORRUPT in raw.columns else F.lit(None)
    picked = [F.col(f"`{theirs}`").alias(ours) for ours, theirs in found.items()]
    frame = _with_entries(raw.select(*picked, corrupt.cast("string").alias("corrupt")), found)
    texts = [F.col(name).cast("string").alias(name) for name in FED if name in frame.columns]
    others = [F.col("lines").try_cast("map<string,int>").alias("lines")] if "lines" in frame.columns else []
    return frame.select(*texts, *others, *(name for name in ("rows", "config") if name in frame.columns))


def _with_entries(frame: DataFrame, found: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if "config" not in found:
        about = [ours for ours in found if ours not in ("key", "value", "line")]
        grouped = frame.groupBy(*about, "corrupt")
        pair = F.struct(
            F.col("key").cast("string").alias("key"), F.col("value").cast("string").alias("value")
        )
        entries = F.collect_list(pair).alias("config")
        made = [F.count(F.lit(1)).alias("rows"), entries]
        if "line" in found and "lines" not in found:
            place = F.struct(F.col("key").cast("string"), F.col("line").try_cast("int"))
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
    elif isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
        config = _pairs(kind.elementType.fieldNames())
    elif not isinstance(kind, MapType):
        raise UsageError(
            f"the column config is {kind.simpleString()}; it must be a map, a struct, a list of keys and "
            "values, or JSON text"
        )
    elif not isinstance(kind.valueType, StringType):
        config = config.cast("map<string,string>")
    return frame.withColumn("config", config)


def _pairs(fields: Sequence[str]) -> Column:
    """Of a list of structs, as an admin client's answer is often kept, the key and the value."""
    from pyspark.sql import functions as F

    have = {name.lower(): name for name in reversed(fields)}
    key = next((have[name] for name in ("key", "name", "config") if name in have), None)
    value = have.get("value")
    if key is None or value is None:
        raise UsageError(f"the column config is a list of {', '.join(fields)}: there must be key and value")
    return F.transform(
        "config",
        lambda one: F.struct(one[key].cast("string").alias("key"), one[value].cast("string").alias("value")),
    )
