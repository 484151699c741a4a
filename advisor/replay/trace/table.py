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
# What a record may take, with room for its own lengths.
_SIZE_MAX = 2**31 - 100
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
    """time (of arrival), topic, value_size, and as far as the trace has them stamp (if it is not the time),
    producer, partition, offset, key, key_hash, key_size, headers_size. The value of what cannot be replayed
    has the size -2 - n, where n is the number of the reason, from 1 on."""
    from pyspark.sql import functions as F

    found = named_columns(raw.columns, columns, topic)
    kinds = dict(raw.dtypes)

    def col(ours: str) -> Column:
        return F.col(f"`{found[ours]}`")

    stamp = _moment(col("timestamp"), kinds[found["timestamp"]])
    in_order = "offset" in found and "arrived" not in found and "partition" in found
    made = {"time": stamp, "topic": col("topic").cast("string") if "topic" in found else F.lit(topic)}
    if "arrived" in found:
        made["time"] = _moment(col("arrived"), kinds[found["arrived"]])
    if "arrived" in found or in_order:
        made["stamp"] = stamp
    if "producer" in found:
        made["producer"] = F.coalesce(col("producer").cast("string"), made["topic"])
    for name in ("partition", "offset", "key_hash", "key_size"):
        if name in found:
            made[name] = col(name).try_cast("bigint")
    if "headers_size" in found:
        made["headers_size"] = F.coalesce(col("headers_size").try_cast("bigint"), F.lit(1))
    if "key" in found:
        made["key"] = col("key").cast("binary")
    sizes = [col("value_size").try_cast("bigint")] if "value_size" in found else []
    if "value" in found:
        sizes.append(F.octet_length(col("value").cast("binary")).cast("bigint"))
    made["value_size"] = F.coalesce(*sizes)
    frame = raw.select(*(column.alias(name) for name, column in made.items()))
    if in_order:
        frame = _in_offset_order(frame)
    code = F.lit(0)
    for number, (_, is_so) in reversed(list(enumerate(_reasons(frame.columns, lateness_ms), 1))):
        code = F.when(is_so, number).otherwise(code)
    return frame.withColumn("value_size", F.when(code == 0, F.col("value_size")).otherwise(-2 - code))


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


def reasons(lateness_ms: int) -> list[str]:
    """Why a record is not replayed, by number."""
    return [text for text, _ in _reasons(list(ALIASES), lateness_ms)]


def _reasons(names: Sequence[str], lateness_ms: int) -> list[tuple[str, Any]]:
    """Each with its condition; one on a column that is not there is never met."""
    from pyspark.sql import functions as F

    def of(name: str, missing: Any) -> Any:
        return F.col(name) if name in names else F.lit(missing)

    time, value = F.col("time"), F.col("value_size")
    stamp = of("stamp", None) if "stamp" in names else time
    key = of("key_size", -1)
    if "key" in names:
        key = F.coalesce(key, F.octet_length("key")) if "key_size" in names else F.octet_length("key")

    def is_moment(column: Any) -> Any:
        return column.between(_STAMP_MIN, _STAMP_MAX)

    return [
        ("no topic", F.col("topic").isNull() | (F.col("topic") == "")),
        ("no timestamp that can be read", stamp.isNull() | time.isNull()),
        ("a timestamp that is no time in milliseconds", ~is_moment(stamp) | ~is_moment(time)),
        ("no value size", value.isNull() | (value < -1) | (value > _SIZE_MAX)),
        ("a key size below -1 or too large", (key < -1) | (key > _SIZE_MAX)),
        ("key and value together too large", F.coalesce(key, F.lit(0)) + value > _SIZE_MAX),
        ("a headers size below 1", of("headers_size", 1) < 1),
        ("a partition below 0", of("partition", 0) < 0),
        (f"later than {lateness_ms} ms", time - stamp > lateness_ms),
    ]
