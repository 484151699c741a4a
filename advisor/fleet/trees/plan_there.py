"""Files on any other file system: found and read by Spark (`binaryFile`).

A root is the nearest folder above with a kafka-advisor.toml or that `--roots` matches, else the source.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from ...model import UsageError
from ...read.files import _SKIPPED_FOLDERS, BYTES_MAX, PROJECT_FILE
from ...spark.session import spark_words
from ...tell.owners import CODEOWNERS, HIDDEN_HOMES
from .plan_here import GLOB, roots_pattern

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ..run import Run

_HIDDEN = "|".join(name.removeprefix(".") for name in HIDDEN_HOMES)
_PASSED_OVER = "|".join(sorted(map(re.escape, _SKIPPED_FOLDERS)))


def found_there(run: Run, source: str) -> DataFrame:
    """In the columns of trees.LISTED."""
    from pyspark.sql import functions as F

    plain = re.sub(r"^[^:/]+:(?://[^/]*)?", "", source)
    base = plain.rstrip("/")
    if GLOB.search(plain):
        base = GLOB.split(plain, maxsplit=1)[0].rpartition("/")[0]
    ours = (
        "(?:"
        + "|".join(sorted({re.escape(s) for spec in run.registry.formats for s in spec.suffixes}))
        + ")$"
    )
    found = _opened(run, source, ours)
    path = F.regexp_replace("path", r"^[^:/]+:(?://[^/]*)?", "")
    name = F.element_at(F.split(path, "/"), -1)
    top = F.when(path == base, F.lit(posixpath.dirname(base))).otherwise(F.lit(base))
    inside = F.substring(path, len(base) + 2, 1 << 20)
    passed = inside.rlike(rf"(?:^|/)(?:\.(?!(?:{_HIDDEN})/{CODEOWNERS}$)[^/]+|{_PASSED_OVER})/")
    wanted = F.lower(name).rlike(ours) | name.isin(PROJECT_FILE, CODEOWNERS)
    kept = found.where(wanted & ~passed).select(
        path.alias("path"), name.alias("name"), top.alias("source"), "length", "content"
    )
    length = F.col("length")
    too_long = F.concat(length.cast("string"), F.lit(f" bytes, more than the limit of {BYTES_MAX}"))
    return kept.withColumn("root", _root(run, kept, base)).select(
        "root",
        F.col("source").alias("base"),
        "source",
        F.expr("substring(path, length(root) + 2)").alias("file"),
        F.lit(True).alias("target"),
        F.lit(False).alias("named"),
        F.lit(None).cast("string").alias("path"),
        "length",
        F.when(length <= BYTES_MAX, F.col("content")).alias("content"),
        F.when(length > BYTES_MAX, too_long).alias("reason"),
    )


def _opened(run: Run, source: str, ours: str) -> DataFrame:
    reader = run.spark.read.format("binaryFile").option("recursiveFileLookup", True)
    # An option since Spark 4.3; before it, names that begin with a dot or an underscore are passed over.
    reader = reader.option("ignoredPathSegmentRegex", rf"^\.(?!(?:{_HIDDEN})$)(?!.*{ours})")
    try:
        return reader.load(source)
    except Exception as error:
        raise UsageError(f"{source} cannot be read: {spark_words(error)}") from None


def _root(run: Run, kept: DataFrame, base: str) -> Column:
    from pyspark.sql import functions as F

    projects = kept.where(F.col("name") == PROJECT_FILE).select("path").collect()
    found = _nearest([posixpath.dirname(row["path"]) for row in projects])
    asked = roots_pattern(run.options.roots)
    if asked is not None:
        picked = F.regexp_extract("path", f"^({re.escape(base)}/{asked.pattern})", 1)
        # Of two folders above one path the nearer is the greater text.
        found = F.greatest(found, F.when(picked != "", picked))
    return F.coalesce(found, F.col("source"))


def _nearest(folders: list[str]) -> Column:
    """The longest of `folders` that the path is in."""
    from pyspark.sql import functions as F

    if not folders:
        return F.lit(None).cast("string")
    parts = F.split("path", "/")
    above = F.transform(
        F.sequence(F.lit(1), F.size(parts) - 1), lambda n: F.array_join(F.slice(parts, 1, n), "/")
    )
    # A hash set in Spark, however many there are.
    inside = F.filter(above, lambda folder: folder.isin(sorted(folders)))
    return F.try_element_at(inside, F.lit(-1))
