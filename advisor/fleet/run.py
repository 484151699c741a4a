"""One run over a fleet: sources -> documents -> deployments -> behaviours -> verdicts -> tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..asking import Choice
from ..cache import Cache
from ..model import UsageError
from ..packs import load_packs
from ..registry import load_registry
from ..versions import choose_version
from .behaviours import VERSION_KEY, subjects
from .canonical import BETWEEN, ENTRY
from .keys import names_kept_apart, read_keys
from .linking import clusters_of, linked
from .options import FleetOptions
from .owners import owners_given
from .results import table_findings, table_reach, write_results
from .session import is_local, settings_for_the_run
from .shipping import bundle, sent
from .sources import FORMATS, TORN, guess_format, normalised, partitions_of, read_table, torn
from .store import Store
from .worker import Job, job_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[str], None]


class FleetResult(NamedTuple):
    """`folder` holds the tables; `summary` is summary.json."""

    folder: str
    summary: dict[str, Any]


def audit_fleet(
    spark: SparkSession,
    sources: Sequence[str] | str | DataFrame,
    out: str,
    options: FleetOptions,
    progress: Progress = lambda text: None,
) -> FleetResult:
    run = Run(spark, sources, out, options, progress)
    with run.store.place.alone(), settings_for_the_run(spark):
        return run.run()


class Run:
    def __init__(
        self, spark: SparkSession, sources: Any, out: str, options: FleetOptions, progress: Progress
    ) -> None:
        self.spark, self.options, self.progress = spark, options, progress
        self.sources = (
            [sources] if isinstance(sources, str) or not isinstance(sources, (list, tuple)) else sources
        )
        if options.kafka_version is not None:
            choose_version(options.kafka_version, ())
        self.registry = load_registry(options.plugins)
        self.rules = load_packs(self.registry.packs, options.rules, Cache(None))
        Choice(options.select, options.ignore).check(self.rules)
        self.read = read_keys(self.registry, self.rules)
        self.kept_apart = names_kept_apart(self.rules)
        self.store = Store(spark, out, progress)
        self.packed = None if is_local(spark) else bundle((*options.plugins, *options.rules))

    def run(self) -> FleetResult:
        kinds = [self._kind(source) for source in self.sources]
        asked = {
            "sources": [source if isinstance(source, str) else "a DataFrame" for source in self.sources],
            "options": self.options._replace(resume=False, now="")._asdict(),
            "rules": [rule.code for rule in self.rules],
        }
        resumed = self.store.begin(asked, self.options.resume)
        if resumed:
            self.progress("taking up the run that was cut short")
        known = self.store.verdicts() if self.options.cache else {}
        job = job_text(self._job(known))
        if "files" in kinds:
            if set(kinds) != {"files"}:
                raise UsageError("folders of files and tables are audited in runs of their own")
            from .trees import audit_trees

            made = audit_trees(self, job)
        else:
            made = self._tables(kinds, job)
        return write_results(self, made)

    def _kind(self, source: Any) -> str:
        if not isinstance(source, str):
            return "frame"
        kind = self.options.source_format or guess_format(source)
        if kind not in FORMATS:
            raise UsageError(f"--source-format {kind}: there is {', '.join(FORMATS)}")
        return kind

    def _job(self, known: dict[str, str]) -> Job:
        options = self.options
        return Job(
            options.kafka_version,
            options.profile,
            options.select,
            options.ignore,
            tuple(os.path.abspath(path) for path in options.rules),
            tuple(os.path.abspath(path) for path in options.plugins),
            options.today,
            options.link,
            known,
            _owners(options.owners),
            tuple(sorted(self.read)),
            tuple(self.kept_apart),
        )

    def judged(self, frame: DataFrame, job: str) -> DataFrame:
        """Distinct (kind, mark, text) judged on the executors: kind, mark, payload."""
        work = sent("advisor.fleet.worker:judge_rows", job, self.packed)
        schema = "kind string, mark string, payload string"
        parts = self.options.partitions or _JUDGING_PARTS
        return self.store.step("judged", lambda: frame.repartition(parts, "mark").mapInArrow(work, schema))

    def _tables(self, kinds: Sequence[str], job: str) -> dict[str, Any]:
        from pyspark.sql import functions as F

        store, options = self.store, self.options
        self.progress("reading the rows and writing each configuration as one line")
        staged = store.step("staged", lambda: self._staged(kinds), **_WIDE)
        self.progress("looking for the configurations that differ")
        distinct = store.step(
            "distinct",
            lambda: staged.where(F.col("reason").isNull()).groupBy("fp", "canon").count(),
        )
        broken, versions = self._looked_at(distinct)
        if broken:
            distinct = distinct.where(~F.col("fp").isin(broken))
            said = F.when(F.col("fp").isin(broken), F.lit(TORN))
            staged = staged.withColumn("reason", F.coalesce("reason", said))
        documents = store.step("documents", lambda: _documents(staged))
        counted = documents.groupBy("component", "good").agg(F.sum("rows").alias("rows"))
        counts = [row.asDict() for row in counted.collect()]
        good = {row["component"] for row in counts if row["good"]}
        if not good:
            return self._nothing(staged, counts)
        self.progress("joining producers, topics, clusters and consumers")
        deployments = store.step(
            "deployments", lambda: linked(staged, good, options.link, partitions_of(distinct))
        )
        cells = store.step("cells", lambda: _cells(deployments))
        combinations = cells.groupBy("behaviour", *_FPS).agg(F.sum("n").alias("count"))
        clusters = self._clusters(staged, good)
        asked = store.step(
            "subjects",
            lambda: subjects(combinations, distinct, clusters, self.read, versions, options.kafka_version),
        )
        alike = asked.select("mark", "text").dropDuplicates(["mark"])
        alone = distinct.selectExpr("'document' as kind", "fp as mark", "canon as text")
        whole = alone.unionByName(alike.selectExpr("'deployment' as kind", "mark", "text"))
        self.progress("judging each behaviour once")
        judged = self.judged(whole, job)
        made: dict[str, Any] = {
            "source": "tables",
            "staged": staged,
            "counts": counts,
            "distinct": distinct,
            "deployments": deployments,
            "combinations": combinations,
            "subjects": asked,
            "judged": judged,
            "distinct_marks": judged.where(F.col("kind") != "verdict").count(),
            "quarantine": staged.where(F.col("reason").isNotNull()).select(
                "row_id", "file", "component", "rows", "reason"
            ),
            "documents": documents.where("good").drop("rows", "good"),
            "cells": cells,
        }
        made["findings"] = lambda answered, few: table_findings(made, answered, few)
        made["reach"] = lambda answered: table_reach(made, answered)
        return made

    def _looked_at(self, distinct: DataFrame) -> tuple[list[str], set[str]]:
        """The configurations whose text is torn, and the versions that brokers have."""
        from pyspark.sql import functions as F

        said = F.regexp_extract("canon", f"(?:^|{ENTRY}){VERSION_KEY}{BETWEEN}([^{ENTRY}]*)", 1)
        whole = distinct.select("fp", torn().alias("torn"), said.alias("version"))
        found = whole.where("torn or version != ''").collect()
        return [row["fp"] for row in found if row["torn"]], {row["version"] for row in found} - {""}

    def _clusters(self, staged: DataFrame, good: set[str]) -> DataFrame | None:
        from pyspark.sql import functions as F

        if "broker" not in good:
            return None
        rows = staged.where(F.col("reason").isNull())
        if self.options.link:
            return self.store.step(
                "clusters", lambda: clusters_of(rows).select("cluster_fp", "members").distinct()
            )
        brokers = rows.where(F.col("component") == "broker").select("fp").distinct()
        return brokers.select(F.sha2("fp", 256).alias("cluster_fp"), F.array("fp").alias("members"))

    def _nothing(self, staged: DataFrame, counts: list[dict[str, Any]]) -> dict[str, Any]:
        raise UsageError(
            "nothing could be audited: "
            + (
                f"all {sum(row['rows'] for row in counts)} rows are in quarantine"
                if counts
                else "there is no row"
            )
        )

    def _staged(self, kinds: Sequence[str]) -> DataFrame:
        whole = None
        for source, kind in zip(self.sources, kinds, strict=True):
            raw = source if kind == "frame" else read_table(self.spark, source, kind, self.options)
            rows = normalised(raw, self.options, self.kept_apart)
            whole = rows if whole is None else whole.unionByName(rows)
        assert whole is not None
        return whole if self.options.partitions is None else whole.repartition(self.options.partitions)


def _documents(staged: DataFrame) -> DataFrame:
    """How often each configuration is where: what is counted is counted in these few rows."""
    from pyspark.sql import functions as F

    good = F.col("reason").isNull().alias("good")
    return staged.groupBy("owner", "cluster", "component", "fp", good).agg(
        F.count(F.lit(1)).alias("configs"),
        F.sum("rows").alias("rows"),
        F.sum(F.col("partitions").cast("bigint")).alias("partitions"),
    )


def _cells(deployments: DataFrame) -> DataFrame:
    """The same of deployments."""
    from pyspark.sql import functions as F

    fps = F.coalesce(F.transform("groups", lambda group: group["fp"]), F.array().cast("array<string>"))
    return (
        deployments.withColumn("group_fps", fps)
        .groupBy("owner", "cluster", "behaviour", *_FPS)
        .agg(F.count(F.lit(1)).alias("n"), F.sum(F.col("partitions").cast("bigint")).alias("partitions"))
    )


_FPS = ("producer_fp", "topic_fp", "cluster_fp", "group_fps")


def _owners(given: str | None) -> str | None:
    """A path pattern, or the text of the CODEOWNERS file that is named, after an empty line."""
    if given is None:
        return None
    text = given
    if "{" not in given:
        try:
            with open(given, encoding="utf-8") as file:
                text = "\n" + file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise UsageError(f"--owners {given}: {(reason or str(error)).lower()}") from None
    owners_given(text)
    return text


# Few enough that each worker learns from the searches it has done, enough to keep a small cluster busy.
_JUDGING_PARTS = 4
# A column of a few distinct long texts is small only as long as parquet keeps a dictionary of them.
_WIDE = {"parquet.dictionary.page.size": str(16 << 20), "compression": "snappy"}
