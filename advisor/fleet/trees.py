"""Folders of files on any file system that Spark reads: found, grouped by root, audited root by root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model import UsageError
from .shipping import sent
from .tables import SCHEMAS
from .trees_here import found_here, local_path
from .trees_there import found_there

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .run import Run

# `file` is named from its root; a report names it from `base`, patterns of --owners from `source`. `path` is
# for a worker to read, `content` what Spark has read, `reason` why there is neither. A file that is no
# target is there to be joined with.
LISTED = (
    "root string, base string, source string, file string, target boolean, named boolean, path string, "
    "length bigint, content binary, reason string"
)


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
    good = F.from_json("payload", "good boolean")["good"].alias("good")
    looked = found.where(F.col("kind").isin("file", "ignored")).groupBy("kind", good).count().collect()
    counts = [{"good": row["good"], "rows": row["count"]} for row in looked if row["kind"] == "file"]
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
        "ignored": sum(row["count"] for row in looked if row["kind"] == "ignored"),
        "distinct": documents.select("fp", "canon").distinct(),
        "deployments": deployments,
        "cells": deployments.groupBy("owner", "cluster", "behaviour").agg(F.count(F.lit(1)).alias("n")),
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
        "reach": lambda answered: (
            rows("finding", SCHEMAS["findings"])
            .where("not suppressed")
            .selectExpr("owner", "cluster", "code", "name", "severity", "1L as n", "partitions")
        ),
    }


def _judged(run: Run, job: str) -> DataFrame:
    from pyspark.sql import functions as F

    run.progress("looking for files")
    here = [path for path in map(local_path, run.sources) if path is not None]
    frames = [found_there(run, source) for source in run.sources if local_path(source) is None]
    if here:
        frames.append(run.spark.createDataFrame(list(found_here(run, here)), LISTED))
    listed = frames[0]
    for frame in frames[1:]:
        listed = listed.unionByName(frame)
    run.progress("reading, joining and judging the files of each root")
    parts = run.options.partitions or 8
    work = sent("advisor.fleet.tree_worker:audit_roots", job, run.packed)
    ordered = listed.repartition(parts, F.col("root")).sortWithinPartitions("root", "file")
    return ordered.mapInArrow(work, "kind string, mark string, payload string")
