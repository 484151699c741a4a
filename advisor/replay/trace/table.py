"""A trace as a table: one row a record, from whatever Spark reads.

`timestamp` and `value_size` (or `value`) are needed, and a topic: a column, or one named for all. The
partition is recorded, or follows from the key: the key itself, or `key_hash` (Java's murmur2 of it).
`arrived` says when a record came where that is not its timestamp; without it, and with `offset`, a record
arrived when the newest one before it did. What cannot be replayed keeps the reason why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...model import UsageError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ALIASES = {
    "timestamp": ("timestamp", "ts", "time", "create_time"),
    "topic": ("topic", "topic_name"),
    "partition": ("partition",),
    "offset": ("offset",),
    "key": ("key",),
    "key_hash": ("key_hash",),
    "key_size": ("key_size", "key_bytes"),
    "value": ("value",),
    "value_size": ("value_size", "value_bytes", "size"),
    "headers_size": ("headers_size", "headers_bytes"),
    "producer": ("producer", "client", "client_id"),
    "arrived": ("arrived", "arrival", "append_time"),
}
REASON = "reason"
_SIZE_MAX = 2**31 - 1
# Of the years 1980 to 2200: a number of seconds or of microseconds is taken for neither.
_STAMP_MIN, _STAMP_MAX = 315_532_800_000, 7_258_118_400_000


def named_columns(names: Sequence[str], columns: Mapping[str, str], topic: str | None) -> dict[str, str]:
    """Our names -> the table's, whatever the case."""
    have = {name.lower(): name for name in reversed(names)}
    told = ", ".join(name[:40] for name in names[:20] if name.isprintable()) or "no column"
    found: dict[str, str] = {}
    for ours, theirs in columns.items():
        if ours not in ALIASES:
            raise UsageError(f"--column {ours}={theirs}: no such name here; there is {', '.join(ALIASES)}")
        if theirs.lower() not in have:
            raise UsageError(f"--column {ours}={theirs}: the trace has {told}")
        found[ours] = have[theirs.lower()]
    for ours, aliases in ALIASES.items():
        for theirs in aliases:
            if ours not in found and theirs in have:
                found[ours] = have[theirs]
    if "timestamp" not in found:
        raise UsageError(f"the trace has no column timestamp; it has {told}")
    if "topic" not in found and topic is None:
        raise UsageError(f"the trace has no column topic, and no --topic names one for all; it has {told}")
    if "value_size" not in found and "value" not in found:
        raise UsageError(f"the trace has neither value_size nor value; it has {told}")
    return found


def normalised(raw: DataFrame, columns: Mapping[str, str], topic: str | None, lateness_ms: int) -> DataFrame:
    """time (of arrival), stamp, topic, producer, partition, offset, key, key_hash, contents (bytes of key,
    value and headers in a V2 record), raw (key and value), reason."""
    from pyspark.sql import functions as F

    found = named_columns(raw.columns, columns, topic)

    def col(ours: str) -> Column:
        return F.col(f"`{found[ours]}`")

    def number(ours: str) -> Column:
        return col(ours).try_cast("bigint") if ours in found else F.lit(None).cast("bigint")

    key_size = number("key_size")
    if "key" in found:
        key_size = F.coalesce(key_size, F.octet_length(col("key").cast("binary")).cast("bigint"))
    value_size = number("value_size")
    if "value" in found:
        value_size = F.coalesce(value_size, F.octet_length(col("value").cast("binary")).cast("bigint"))
    kinds = dict(raw.dtypes)
    stamp = _moment(col("timestamp"), kinds[found["timestamp"]])
    arrived = _moment(col("arrived"), kinds[found["arrived"]]) if "arrived" in found else stamp
    frame = raw.select(
        stamp.alias("stamp"),
        arrived.alias("time"),
        (col("topic").cast("string") if "topic" in found else F.lit(topic)).alias("topic"),
        (col("producer").cast("string") if "producer" in found else F.lit(None).cast("string")).alias(
            "producer"
        ),
        number("partition").alias("partition"),
        number("offset").alias("offset"),
        (col("key").cast("binary") if "key" in found else F.lit(None).cast("binary")).alias("key"),
        number("key_hash").alias("key_hash"),
        F.coalesce(key_size, F.lit(-1)).alias("key_size"),
        value_size.alias("value_size"),
        F.coalesce(number("headers_size"), F.lit(1)).alias("headers_size"),
    )
    if "offset" in found and "arrived" not in found and "partition" in found:
        frame = _in_offset_order(frame)
    contents = _contents(F.col("key_size"), F.col("value_size"), F.col("headers_size"))
    return frame.select(
        "time", "stamp", "topic", "producer", "partition", "offset", "key", "key_hash",
        contents.alias("contents"),
        (F.greatest(F.col("key_size"), F.lit(0)) + F.greatest(F.col("value_size"), F.lit(0))).alias("raw"),
        _reason(lateness_ms).alias(REASON),
    )  # fmt: skip


def _moment(column: Any, kind: str) -> Any:
    """Milliseconds: a number is one, a time is turned into one, text may be either."""
    from pyspark.sql import functions as F

    if kind.startswith("timestamp"):
        return F.unix_millis(column.cast("timestamp"))
    if kind == "date":
        return F.unix_millis(column.cast("timestamp"))
    if kind == "string":
        return F.coalesce(column.try_cast("bigint"), F.unix_millis(F.try_to_timestamp(column)).cast("bigint"))
    return column.try_cast("bigint")


def _in_offset_order(frame: DataFrame) -> DataFrame:
    """A record arrived when the newest one before it in its partition did, as far as the trace can tell."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    window = (
        Window.partitionBy("topic", "partition")
        .orderBy("offset", "stamp", "value_size")
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    newest = F.max("stamp").over(window)
    return frame.withColumn("time", F.when(F.col("offset").isNull(), F.col("stamp")).otherwise(newest))


def _varint(size: Any) -> Any:
    """Bytes of a size as a zigzag varint: that of null, -1, takes one."""
    from pyspark.sql import functions as F

    found = F.lit(1).cast("bigint")
    for step in (1 << 6, 1 << 13, 1 << 20, 1 << 27):
        found = found + (size >= step).cast("bigint")
    return found


def _contents(key: Any, value: Any, headers: Any) -> Any:
    """`sim/wire/batches.contents_size`, as an expression."""
    from pyspark.sql import functions as F

    zero = F.lit(0)
    return _varint(key) + _varint(value) + headers + F.greatest(key, zero) + F.greatest(value, zero)


def _reason(lateness_ms: int) -> Any:
    """Why a record is not replayed; null if it is."""
    from pyspark.sql import functions as F

    stamp, time, value = F.col("stamp"), F.col("time"), F.col("value_size")
    late = time - stamp
    return (
        F.when(F.col("topic").isNull() | (F.col("topic") == ""), "no topic")
        .when(stamp.isNull() | time.isNull(), "no timestamp that can be read")
        .when(
            ~stamp.between(_STAMP_MIN, _STAMP_MAX) | ~time.between(_STAMP_MIN, _STAMP_MAX),
            "a timestamp that is no time in milliseconds",
        )
        .when(value.isNull() | (value < -1) | (value > _SIZE_MAX), "no value size")
        .when((F.col("key_size") < -1) | (F.col("key_size") > _SIZE_MAX), "a key size below -1 or too large")
        .when(F.col("headers_size") < 1, "a headers size below 1")
        .when(F.col("partition") < 0, "a partition below 0")
        .when(late > lateness_ms, f"later than {lateness_ms} ms")
    )
