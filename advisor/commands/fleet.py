"""Audit many configurations on Spark: which topics lose data when one broker dies, and who owns them.

SOURCE is a folder or glob of configuration files (one checkout of many repositories, say), or a table of
configurations: parquet, JSON lines, CSV, ORC, Avro, a Delta table, `jdbc:...`, or `table:NAME` of a catalog.
A table has a column component, a column config (a map or JSON) or columns key and value, and, as far as
known, cluster, topic, client, owner and kafka_version. Each behaviour is simulated once, however many rows
have it."""

from __future__ import annotations

import argparse
import sys

from .shared.scope_options import add_rules
from .shared.spark_words import LEVELS, exit_code, on_spark, pairs

EPILOG = """\
examples:
  kafka-advisor fleet repos/ --owners '{team}/**' --out audit      a checkout of many repositories
  kafka-advisor fleet inventory.parquet --out audit --fail-on error
  kafka-advisor fleet 'jdbc:postgresql://db/kafka' --source-option dbtable=configs --out audit
  kafka-advisor fleet table:platform.kafka_configs --remote sc://spark.example.com --out audit
  spark-submit --master yarn "$(python -m advisor.submit)" hdfs:///configs.parquet --out hdfs:///audit

results: OUT/current names the last whole run; OUT/runs/NAME holds its tables (parquet), summary.json
and report.html.

exit codes:
  0  no finding at or above --fail-on
  1  findings at or above --fail-on
  2  Spark or Java is missing, a source cannot be read, nothing could be audited, or the command is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("sources", metavar="SOURCE", nargs="+", help="folders or globs of files, or tables")
    add(
        "--out", metavar="DIR", required=True, help="where the tables and the report go; kept from run to run"
    )
    add(
        "--master",
        metavar="URL",
        default="local[*]",
        help="the Spark master (default: local[*], in this process)",
    )
    add("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    add(
        "--conf",
        metavar="K=V",
        action="append",
        default=[],
        help="a setting of the Spark session (repeatable)",
    )
    add(
        "--source-format",
        metavar="NAME",
        help="files, parquet, json, csv, orc, avro, delta, jdbc or table (default: by its name)",
    )
    add(
        "--source-option",
        metavar="K=V",
        action="append",
        default=[],
        help="an option of Spark's reader (repeatable)",
    )
    add(
        "--column",
        metavar="OURS=THEIRS",
        action="append",
        default=[],
        help="what the table calls a column (repeatable)",
    )
    add(
        "--owners",
        metavar="X",
        help="a path pattern such as '{team}/{service}/**', or a CODEOWNERS file (default: each root's own)",
    )
    add("--roots", metavar="GLOB", help="folders below SOURCE that are roots of their own, such as '*/*'")
    add("--where", metavar="SQL", help="only rows for which this holds, such as \"cluster = 'prod'\"")
    add("--catalog", metavar="SCHEMA", help="also append the tables to this schema of Spark's catalog")
    add("--resume", action="store_true", help="take up the run in OUT that was cut short")
    add(
        "--format", choices=("text", "json", "markdown"), default="text", help="what to print (default: text)"
    )
    add(
        "--fail-on",
        choices=LEVELS,
        default="error",
        help="the least severity that makes the exit code 1 (default: error)",
    )
    add(
        "--kafka-version",
        metavar="V",
        help="the Kafka version to judge by (default: each cluster's, else newest)",
    )
    add(
        "--profile",
        choices=("dev", "prod"),
        help="judge all as a sandbox or as production (default: guessed)",
    )
    add_rules(parser)
    add("--no-link", action="store_true", help="judge each configuration alone")
    add("--no-cache", action="store_true", help="do not use the verdicts of earlier runs")
    add("--quiet", action="store_true", help="print no line for each step")


def run(args: argparse.Namespace) -> int:
    from ..fleet.options import FleetOptions
    from .shared.scope_options import codes_of, today

    options = FleetOptions(
        kafka_version=args.kafka_version,
        profile=args.profile,
        select=codes_of(args.select),
        ignore=codes_of(args.ignore),
        rules=tuple(args.rules),
        plugins=tuple(args.plugin),
        link=not args.no_link,
        cache=not args.no_cache,
        today=today(),
        source_format=args.source_format,
        source_options=pairs("--source-option", args.source_option),
        columns=pairs("--column", args.column),
        owners=args.owners,
        roots=args.roots,
        where=args.where,
        catalog=args.catalog,
        resume=args.resume,
        now=today(),
    )
    with on_spark(args) as (spark, tell):
        from ..fleet.run import audit_fleet

        result = audit_fleet(spark, list(args.sources), args.out, options, tell)
    from ..fleet.tell.summary import render

    sys.stdout.write(render(result.summary, args.format, result.folder))
    return exit_code(result.summary, args.fail_on)
