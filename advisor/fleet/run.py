"""One run over a fleet: sources -> documents -> deployments -> behaviours -> verdicts -> tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..asking import Choice
from ..cache import Cache
from ..model import UsageError
from ..packs import load_packs
from ..registry import load_registry
from ..versions import choose_version
from .behaviours import Subject, combinations_of, subjects
from .by_row import rows_shown
from .gathered import Cell, Document, Gathered, Row, Said
from .keys import names_kept_apart, read_keys
from .linking import clusters_of, linked
from .narrowing import NARROW
from .options import FleetOptions
from .owners import owners_given
from .parquet_here import splits
from .reaching import reached
from .results import table_findings, write_results
from .session import NEEDED, is_local, settings
from .shipping import bundle, sent
from .sources import FORMATS, guess_format, named_columns, normalised, read_table
from .store import UNFINISHED, Store
from .tables import SCHEMAS
from .trees_here import local_path
from .worker import SECTION, Job, job_text

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
    with run.store.place.alone(), settings(spark, NEEDED):
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

            return write_results(self, audit_trees(self, job))
        return write_results(self, self._tables(kinds, job))

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

    def judged(self, asked: Iterable[Row], job: str) -> Iterator[Row]:
        """(kind, mark, text) judged on the executors: kind, mark, payload."""
        import pyarrow as pa
        from pyspark.sql import functions as F

        def make() -> DataFrame:
            text = pa.schema([(name, pa.string()) for name in ("kind", "mark", "text")])
            table = pa.Table.from_pylist(list(asked), text)
            parts = self.options.partitions or max(2, min(_PARTS_MAX, len(table) // _JUDGED_OF_A_TASK))
            # What is learnt of one producer, every deployment of it can use.
            together = F.substring_index("text", SECTION, 1)
            work = sent("advisor.fleet.worker:judge_rows", job, self.packed)
            frame = self.spark.createDataFrame(table).repartition(parts, together)
            return frame.mapInArrow(work, "kind string, mark string, payload string")

        self.store.step("judged", make)
        return self.store.rows("judged")

    def _tables(self, kinds: Sequence[str], job: str) -> Gathered:
        store, options = self.store, self.options
        self.progress("reading the rows")
        staged = store.step("configurations", lambda: self._staged(kinds))
        self.progress("looking for what differs")
        texts = _texts(staged)
        counted = _documents(staged).toArrow().to_pylist()
        rows_in = sum(row["rows"] for row in counted)
        good = [row for row in counted if row["good"]]
        if not good:
            what = f"all {rows_in} rows are in quarantine" if rows_in else "there is no row"
            raise UsageError(f"nothing could be audited: {what}")
        self.progress("joining producers, topics, clusters and consumers")
        brokers = any(row["component"] == "broker" for row in good)
        clusters = clusters_of(_brokers(staged) if brokers else (), options.link)
        used = {row["cluster"] or "" for row in good if row["component"] != "broker"}
        deployments = store.step(
            "deployments", lambda: linked(staged, clusters, used, options.link, rows_in, self.packed)
        )
        cells = _cells(deployments).toArrow().to_pylist()
        asked = subjects(
            self.spark, combinations_of(cells), texts, clusters.members, self.read, options.kafka_version
        )
        self.progress("judging each behaviour once")
        alone: dict[str, Said] = {}
        judged: dict[str, Said] = {}
        verdicts: dict[str, str] = {}
        for row in self.judged(_asked(texts, asked), job):
            if row["kind"] == "verdict":
                verdicts[row["mark"]] = row["payload"]
            else:
                home = alone if row["kind"] == "document" else judged
                home[row["mark"]] = Said.read(row["payload"])
        quarantined = rows_in - sum(row["rows"] for row in good)
        reasons = self._quarantine(staged, quarantined)
        folder = store.place.of(UNFINISHED)
        gathered = Gathered(
            "tables",
            rows_in,
            quarantined,
            0,
            reasons,
            [_as(Document, row) for row in good],
            texts,
            [_as(Cell, row) for row in cells],
            {behaviour: subject.mark for behaviour, subject in asked.items()},
            alone,
            judged,
            lambda: table_findings(gathered),
            lambda rules: reached(self.spark, folder, gathered, rules),
            lambda wanted, columns: rows_shown(self.spark, folder, gathered, wanted, columns),
            verdicts,
        )
        return gathered

    def _quarantine(self, staged: DataFrame, quarantined: int) -> list[Row]:
        """The table, and how many rows each reason has."""
        from pyspark.sql import functions as F

        if not quarantined:
            self.store.put("quarantine", ())
            return []
        bad = staged.where("reason is not null").select(*SCHEMAS["quarantine"])
        kept = self.store.step("quarantine", lambda: bad)
        rows = kept.groupBy("reason").agg(
            F.sum("rows").alias("rows"), F.min(F.coalesce("file", "row_id")).alias("example")
        )
        return [row.asDict() for row in rows.collect()]

    def _staged(self, kinds: Sequence[str]) -> DataFrame:
        whole = None
        for source, kind in zip(self.sources, kinds, strict=True):
            rows = self._read_here(source) if kind == "parquet" else None
            if rows is None:
                raw = source if kind == "frame" else read_table(self.spark, source, kind, self.options)
                rows = normalised(raw, self.options, self.kept_apart, self.packed)
            whole = rows if whole is None else whole.unionByName(rows)
        assert whole is not None
        return whole if self.options.partitions is None else whole.repartition(self.options.partitions)

    def _read_here(self, source: str) -> DataFrame | None:
        """Plain parquet files of this machine, by its own workers."""
        path = local_path(source)
        if path is None or self.packed is not None or self.options.source_options:
            return None
        found = splits(path, lambda names: named_columns(names, self.options.columns))
        if found is None:
            return None
        asked = json.dumps({**found._asdict(), "kept_apart": self.kept_apart})
        count = len(found.parts)
        work = sent("advisor.fleet.parquet_here:narrow_splits", asked, None)
        return self.spark.range(0, count, 1, count).mapInArrow(work, NARROW)


def _texts(staged: DataFrame) -> dict[str, str]:
    """The configurations that differ, by their sha-256; every task wrote those it met."""
    found = staged.where("text is not null").select("fp", "text").toArrow()
    return dict(sorted(zip(found["fp"].to_pylist(), found["text"].to_pylist(), strict=True)))


def _documents(staged: DataFrame) -> DataFrame:
    """How often each configuration is where: what is counted is counted in these few rows."""
    from pyspark.sql import functions as F

    good = F.col("reason").isNull().alias("good")
    return staged.groupBy("owner", "cluster", "component", "fp", good).agg(
        F.count(F.lit(1)).alias("configs"),
        F.sum("rows").alias("rows"),
        F.coalesce(F.sum(F.col("partitions").cast("bigint")), F.lit(0)).alias("partitions"),
    )


def _brokers(staged: DataFrame) -> list[Row]:
    good = staged.where("component = 'broker' and reason is null")
    rows = good.select("row_id", "name", "cluster", "owner", "file", "line", "fp").collect()
    return [row.asDict() for row in rows]


def _cells(deployments: DataFrame) -> DataFrame:
    """How often each behaviour is where."""
    from pyspark.sql import functions as F

    fps = F.coalesce(F.transform("groups", lambda group: group["fp"]), F.array().cast("array<string>"))
    return (
        deployments.withColumn("group_fps", fps)
        .groupBy("owner", "cluster", "behaviour", "producer_fp", "topic_fp", "cluster_fp", "group_fps")
        .agg(
            F.count(F.lit(1)).alias("deployments"),
            F.coalesce(F.sum(F.col("partitions").cast("bigint")), F.lit(0)).alias("partitions"),
        )
    )


def _as(kind: Any, row: Row) -> Any:
    return kind(*(row[name] for name in kind._fields))


def _asked(texts: dict[str, str], subjects: dict[str, Subject]) -> Iterator[Row]:
    """What is judged, each text once."""
    for fp, text in texts.items():
        yield {"kind": "document", "mark": fp, "text": text}
    for mark, text in sorted({subject.mark: subject.text for subject in subjects.values()}.items()):
        yield {"kind": "deployment", "mark": mark, "text": text}


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


# What one task judges: enough that it learns from the searches it has done.
_JUDGED_OF_A_TASK = 400
_PARTS_MAX = 200
