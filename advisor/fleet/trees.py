"""Folders of files on any file system that Spark reads: found, grouped by root, audited root by root.

A root is, as for `audit`, the nearest folder above with a kafka-advisor.toml, else with a .git (seen on this
machine's own file system only), else what `--roots` matches, else the source. Spark's readers pass over files
whose names begin with a dot or an underscore.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ..files import _SKIPPED_FOLDERS, BYTES_MAX, PROJECT_FILE
from ..model import UsageError
from .shipping import sent
from .tables import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from .run import Run

_CODEOWNERS = "CODEOWNERS"
_SEPARATOR = "\u0001"


def audit_trees(run: Run, job: str) -> dict[str, Any]:
    from pyspark.sql import functions as F

    found = run.store.step("judged", lambda: _judged(run, job))

    def rows(kind: str, columns: dict[str, str]) -> DataFrame:
        ddl = ", ".join(f"{name} {what}" for name, what in columns.items())
        said = F.from_json("payload", ddl)
        return found.where(F.col("kind") == kind).select(said.alias("said")).select("said.*")

    files = rows("file", {"file": "string", "good": "boolean", "reason": "string"})
    documents = rows(
        "row",
        {"component": "string", "name": "string", "cluster": "string", "owner": "string", "file": "string",
         "canon": "string"},
    ).withColumn("fp", F.sha2("canon", 256))  # fmt: skip
    counts = [{"good": row["good"], "rows": row["count"]} for row in files.groupBy("good").count().collect()]
    if not any(row["good"] for row in counts):
        raise UsageError("nothing could be audited: no file is a Kafka configuration that is known here")
    deployments = run.store.step("deployments", lambda: rows("member", SCHEMAS["deployments"]))
    marks = deployments.groupBy("behaviour").count()
    # Of a behaviour that several roots have, one is shown: the first by its text, whatever worker came first.
    judged = (
        found.where(F.col("kind").isin("deployment", "document", "verdict"))
        .groupBy("kind", "mark")
        .agg(F.min("payload").alias("payload"))
    )
    return {
        "source": "files",
        "counts": counts,
        "ignored": found.where(F.col("kind") == "ignored").count(),
        "distinct": documents.select("fp", "canon").distinct(),
        "deployments": deployments,
        "combinations": marks,
        "subjects": marks.select("behaviour", F.col("behaviour").alias("mark")),
        "judged": judged,
        "distinct_marks": 0,
        "quarantine": files.where(~F.col("good")).select(
            F.col("file").alias("row_id"),
            "file",
            F.lit(None).cast("string").alias("component"),
            F.lit(1).cast("bigint").alias("rows"),
            "reason",
        ),
        "documents": documents.groupBy("owner", "cluster", "component", "fp").agg(
            F.count(F.lit(1)).alias("configs")
        ),
        "findings": lambda answered, few: rows("finding", SCHEMAS["findings"]),
    }


def _judged(run: Run, job: str) -> DataFrame:
    from pyspark.sql import functions as F

    run.progress("looking for files")
    listed = None
    for source in run.sources:
        one = _listed(run, source)
        listed = one if listed is None else listed.unionByName(one)
    assert listed is not None
    run.progress("reading, joining and judging the files of each root")
    parts = run.options.partitions or 8
    work = sent("advisor.fleet.tree_worker:audit_roots", job, run.packed)
    ordered = listed.repartition(parts, F.col("root")).sortWithinPartitions("root", "file")
    return ordered.mapInArrow(work, "kind string, mark string, payload string")


def _listed(run: Run, source: str) -> DataFrame:
    """root, base, file (named from the root), length, content (None if it is too long)."""
    from pyspark.sql import functions as F

    local = _local(source)
    if local is not None and not os.path.exists(local.partition("*")[0]):
        raise UsageError(f"{source}: no such file or folder")
    try:
        found = run.spark.read.format("binaryFile").option("recursiveFileLookup", True).load(source)
        path = F.regexp_replace(F.col("path"), "^file:/+", "/")
        base = (
            local if local is not None and "*" not in source else source.partition("*")[0].rpartition("/")[0]
        )
        base = base.rstrip("/")
        if local is not None and os.path.isfile(local):
            base = os.path.dirname(local)
        name = F.element_at(F.split(path, "/"), -1)
        suffixes = sorted({suffix for spec in run.registry.formats for suffix in spec.suffixes})
        wanted = F.lower(name).rlike("(?:" + "|".join(re.escape(suffix) for suffix in suffixes) + ")$")
        wanted = wanted | name.isin(PROJECT_FILE, _CODEOWNERS)
        relative = F.substring(path, len(base) + 2, 1 << 20)
        passed = r"(?:^|/)(?:\.[^/]+|" + "|".join(sorted(map(re.escape, _SKIPPED_FOLDERS))) + ")/"
        listed = found.where(wanted & ~relative.rlike(passed))
        root = _root(run, listed, path, name, base, local)
        return listed.select(
            root.alias("root"),
            F.lit(base).alias("base"),
            path.alias("path"),
            "length",
            F.when(F.col("length") <= BYTES_MAX, F.col("content")).alias("content"),
        ).selectExpr("root", "base", "substring(path, length(root) + 2) as file", "length", "content")
    except UsageError:
        raise
    except Exception as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(f"{source} cannot be read: {words[0][:300]}") from None


def _local(source: str) -> str | None:
    scheme, colon, rest = source.partition(":")
    if not colon:
        return os.path.realpath(source)
    return os.path.realpath("/" + rest.lstrip("/")) if scheme == "file" else None


def _root(run: Run, listed: DataFrame, path: Column, name: Column, base: str, local: str | None) -> Column:
    from pyspark.sql import functions as F

    projects = [
        row["path"].rpartition("/")[0]
        for row in listed.where(name == PROJECT_FILE).select(path.alias("path")).collect()
    ]
    found = [_nearest(path, projects)]
    if run.options.roots is not None:
        shape = re.escape(run.options.roots.strip("/")).replace(r"\*", "[^/]+")
        picked = F.regexp_extract(path, f"^({re.escape(base)}/{shape})/", 1)
        found.append(F.when(picked != "", picked))
    if local is not None:
        found.append(_nearest(path, _repositories(local)))
    return F.coalesce(*found, F.lit(base))


def _nearest(path: Column, folders: list[str]) -> Column:
    """The longest of `folders` that the path is in."""
    from pyspark.sql import functions as F

    if not folders:
        return F.lit(None).cast("string")
    known = F.split(F.lit(_SEPARATOR.join(sorted(folders))), _SEPARATOR)
    parts = F.split(path, "/")
    above = F.transform(
        F.sequence(F.lit(1), F.size(parts) - 1), lambda n: F.array_join(F.slice(parts, 1, n), "/")
    )
    inside = F.filter(above, lambda folder: F.array_contains(known, folder))
    return F.try_element_at(inside, F.lit(-1))


def _repositories(local: str) -> list[str]:
    found = []
    above = local if os.path.isdir(local) else os.path.dirname(local)
    while above != os.path.dirname(above):
        if os.path.exists(os.path.join(above, ".git")):
            found.append(above)
        above = os.path.dirname(above)
    for home, folders, files in os.walk(local):
        if ".git" in folders or ".git" in files:
            found.append(home)
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS]
    return found
