"""What was judged, joined back to every row and written as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .drift import drift
from .summary import summarise
from .tables import JUDGED, SCHEMAS, TABLES, ddl
from .worker import END, MARK

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from .run import FleetResult, Run

# Below this many distinct answers they are sent to every worker rather than shuffled.
_FEW = 20_000


def write_results(run: Run, made: dict[str, Any]) -> FleetResult:
    from pyspark.sql import functions as F

    from .run import FleetResult

    store = run.store
    judged = made["judged"]
    answered = judged.where(F.col("kind").isin("document", "deployment")).select(
        "kind", "mark", F.from_json("payload", JUDGED).alias("said"), "payload"
    )
    few = made["distinct_marks"] <= _FEW
    run.progress("joining the answers back")
    behaviours = store.step("behaviours", lambda: _behaviours(made, answered))
    store.step("guarantees", lambda: _guarantees(behaviours))
    store.step("findings", lambda: made["findings"](answered, few))
    store.step("quarantine", lambda: made["quarantine"])
    store.step("drift", lambda: drift(made["documents"], made["distinct"]))
    run.progress("summing up")
    name = store.next_name()
    summary = summarise(run, made, answered, name)
    trend = [
        {**{column: row.get(column) for column in SCHEMAS["trend"]}} for row in summary.pop("trend_rows")
    ]
    store.step("trend", lambda: run.spark.createDataFrame(trend, ddl("trend")).coalesce(1))
    new = {row["mark"]: row["payload"] for row in judged.where(F.col("kind") == "verdict").collect()}
    store.keep_verdicts(new)
    from .page import write_page

    write_page(run, summary)
    folder = store.finish(name, TABLES)
    return FleetResult(folder, summary)


def _behaviours(made: dict[str, Any], answered: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    asked = made["subjects"].select("behaviour", "mark").join(made["combinations"], "behaviour")
    said = answered.where(F.col("kind") == "deployment").select("mark", "said", "payload")

    def count(severity: str) -> Column:
        return F.size(F.filter("said.findings", lambda finding: finding["severity"] == severity)).alias(
            f"{severity}s"
        )

    made_of: DataFrame = asked.join(said, "mark")
    return made_of.select(
        "behaviour",
        F.col("mark").alias("judged"),
        F.col("count").alias("deployments"),
        F.col("said.profile").alias("profile"),
        F.col("said.version").alias("kafka_version"),
        F.col("said.headline.survives_lost").alias("survives_lost"),
        F.col("said.headline.writes_with_away").alias("writes_with_away"),
        count("error"),
        count("warning"),
        count("note"),
        "payload",
    )


def _guarantees(behaviours: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    kind = f"struct<guarantees:{JUDGED[JUDGED.index('guarantees:') + 11 : -1]}>"
    parsed = F.from_json("payload", kind)
    spread = behaviours.select("behaviour", F.explode(parsed["guarantees"]).alias("found"))
    return spread.select("behaviour", *(f"found.{name}" for name in list(SCHEMAS["guarantees"])[1:]))


def table_findings(made: dict[str, Any], answered: DataFrame, few: bool) -> DataFrame:
    """Every row's findings: of its own configuration, then of the deployments it is in."""
    from pyspark.sql import functions as F

    def hint(frame: DataFrame) -> DataFrame:
        return F.broadcast(frame) if few else frame

    spread = answered.select("kind", "mark", F.explode("said.findings").alias("found"))
    alone = hint(spread.where(F.col("kind") == "document").drop("kind"))
    rows = made["staged"].where(F.col("reason").isNull())
    own = rows.join(alone, rows["fp"] == F.col("mark")).select(
        *_said(_filled(F.col("found.message"), {"document": F.col("name")})),
        F.lit(None).cast("string").alias("deployment"),
        F.lit("").alias("root"),
        "owner",
        "cluster",
        F.coalesce("topic", F.when(F.col("component") == "topic", F.col("name"))).alias("topic"),
        F.when(~F.col("component").isin("topic", "broker"), F.col("name")).alias("client"),
        "partitions",
        "file",
        _line(F.col("lines"), F.col("line")).alias("line"),
        F.col("found.key").alias("key"),
        F.col("mark").alias("judged"),
        F.col("found.suppressed").isNotNull().alias("suppressed"),
    )
    joint = spread.where(F.col("kind") == "deployment").drop("kind")
    joint = hint(made["subjects"].select("behaviour", "mark").join(joint, "mark"))
    slot = F.col("found.slot")
    number = F.regexp_extract(slot, "([0-9]+)$", 1).try_cast("int")
    group = F.get("groups", F.coalesce(number, F.lit(0)))
    broker = F.get("cluster_at", F.coalesce(number, F.lit(0)))
    names = {
        "deployment": F.col("deployment"),
        "producer": F.col("producer"),
        "topic": F.col("topic"),
        "broker0": F.col("cluster"),
        "group0": F.get("groups", F.lit(0))["name"],
    }
    linked = (
        made["deployments"]
        .join(joint, "behaviour")
        .select(
            *_said(_filled(F.col("found.message"), names)),
            "deployment",
            "root",
            "owner",
            "cluster",
            "topic",
            F.coalesce("producer", F.get("groups", F.lit(0))["name"]).alias("client"),
            "partitions",
            F.when(slot == "producer", F.col("producer_at.file"))
            .when(slot == "topic", F.col("topic_at.file"))
            .when(slot.startswith("broker"), broker["file"])
            .when(slot.startswith("group"), group["at"]["file"])
            .alias("file"),
            F.when(slot == "producer", _line(F.col("producer_at.lines"), F.col("producer_at.line")))
            .when(slot == "topic", _line(F.col("topic_at.lines"), F.col("topic_at.line")))
            .when(slot.startswith("broker"), broker["line"])
            .when(slot.startswith("group"), _line(group["at"]["lines"], group["at"]["line"]))
            .alias("line"),
            F.col("found.key").alias("key"),
            F.col("mark").alias("judged"),
            F.col("found.suppressed").isNotNull().alias("suppressed"),
        )
    )
    whole: DataFrame = own.unionByName(linked)
    return whole


def table_reach(made: dict[str, Any], answered: DataFrame) -> DataFrame:
    """Each rule's findings by owner and cluster, from the counts of configurations and deployments."""
    from pyspark.sql import functions as F

    found = answered.select("kind", "mark", F.explode("said.findings").alias("found"))
    found = found.where("found.suppressed is null").selectExpr(
        "kind", "mark", "found.code", "found.name", "found.severity"
    )
    told = ("owner", "cluster", "code", "name", "severity", "n", "partitions")
    own = made["documents"].withColumnsRenamed({"fp": "mark", "configs": "n"})
    own = own.join(found.where("kind = 'document'"), "mark").select(*told)
    asked = made["subjects"].select("behaviour", "mark")
    joint = made["cells"].join(asked, "behaviour").join(found.where("kind = 'deployment'"), "mark")
    whole: DataFrame = own.unionByName(joint.select(*told))
    return whole


def _said(message: Column) -> list[Column]:
    from pyspark.sql import functions as F

    found = [F.col(f"found.{name}").alias(name) for name in ("code", "name", "severity")]
    return [*found, message.alias("message")]


def _line(lines: Column, line: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.get(F.array(lines[F.col("found.key")]), F.lit(0)), line)


def _filled(message: Column, names: dict[str, Column]) -> Column:
    """Each row's own names where the judged text has marks."""
    from pyspark.sql import functions as F

    def named(text: Column, slot: str, name: Column) -> Column:
        return F.replace(
            text, F.lit(f"{MARK}{slot}{END}"), F.coalesce(name, F.lit(f"the {slot.rstrip('0')}"))
        )

    # Most messages have the first name alone.
    (slot, name), *others = names.items()
    first = filled = named(message, slot, name)
    for slot, name in others:
        filled = named(filled, slot, name)
    filled = F.regexp_replace(filled, f"{MARK}(?:file:)?([a-z]+)([0-9]*){END}", "$1 $2")
    return F.when(first.contains(MARK), filled).otherwise(first)
