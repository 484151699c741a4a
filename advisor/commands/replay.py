"""Replay a recorded workload through the audited configuration on Spark: partitions, batches, segments,
retention, lag and load of the brokers by the hour, and what another value would change.

TRACE is a table with a row a record: parquet, JSON lines, CSV or `table:NAME` with timestamp, topic,
partition or key (or key_hash), key and value sizes; the text of kafka-dump-log; a folder of segment files;
or the output of kafka-producer-perf-test or kafka-consumer-perf-test."""

from __future__ import annotations

import argparse
import sys

from ..model import UsageError
from .shared.spark_words import LEVELS, exit_code, on_spark, pairs

EPILOG = """\
examples:
  kafka-advisor replay trace.parquet --config kafka/ --out replay
  kafka-advisor replay trace.csv --config kafka/ --column timestamp=ts --topic clicks --out replay
  kafka-advisor replay dump.txt --source-format dump --topic clicks --config kafka/ --out replay
  kafka-advisor replay trace.parquet --config kafka/ --sweep linger.ms=0,5,20,100 --out replay
  kafka-advisor audit --workload replay/runs/000001/workload.toml kafka/

results: OUT/current names the last whole run; OUT/runs/NAME holds its tables (parquet), summary.json,
workload.toml and report.html.

exit codes:
  0  no finding at or above --fail-on
  1  findings at or above --fail-on
  2  Spark or Java is missing, the trace or the configuration cannot be read, or the command is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("trace", metavar="TRACE", help="a table, a text or a folder of segment files")
    add("--config", metavar="PATH", action="append", required=True, help="what is audited (repeatable)")
    add("--out", metavar="DIR", required=True, help="where the tables and the report go")
    add(
        "--set", metavar="K=V", action="append", default=[], help="a value instead of the file's (repeatable)"
    )
    add(
        "--sweep",
        metavar="K=V,V",
        action="append",
        default=[],
        help="values to try beside the configuration as it is: linger.ms=0,5,20 (repeatable)",
    )
    add(
        "--ratio",
        metavar="CODEC=X",
        action="append",
        default=[],
        help="compressed bytes by bytes, such as zstd=0.3, where the trace does not show it (repeatable)",
    )
    add("--topic", metavar="NAME", help="the topic of a trace that names none")
    add(
        "--lateness",
        metavar="TIME",
        default="60s",
        help="how long after its timestamp a record may arrive; later ones are quarantined (default: 60s)",
    )
    add(
        "--latency",
        metavar="TIME",
        default="0ms",
        help="how long a produce request takes; then requests in flight count, and the replay is slower",
    )
    add(
        "--watch",
        metavar="TIME",
        default="0ms",
        help="how long logs are watched after the last record: retention goes on (default: not)",
    )
    add(
        "--source-format",
        metavar="NAME",
        help="parquet, json, csv, orc, avro, delta, table, dump, perf, segments",
    )
    add("--source-option", metavar="K=V", action="append", default=[], help="an option of Spark's reader")
    add("--column", metavar="OURS=THEIRS", action="append", default=[], help="what the trace calls a column")
    add(
        "--kafka-version",
        metavar="V",
        help="the Kafka version to judge by (default: the files', else newest)",
    )
    add("--master", metavar="URL", default="local[*]", help="the Spark master (default: local[*])")
    add("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    add("--conf", metavar="K=V", action="append", default=[], help="a setting of the Spark session")
    add("--resume", action="store_true", help="take up the run in OUT that was cut short")
    add("--format", choices=("text", "json"), default="text", help="what to print (default: text)")
    add(
        "--fail-on",
        choices=LEVELS,
        default="error",
        help="the least severity that makes the exit code 1 (default: error)",
    )
    add("--keep-batches", action="store_true", help="also write every batch to the table batches")
    add("--quiet", action="store_true", help="print no line for each step")
    add("--no-cache", action="store_true", help="neither read nor write the cache")


def run(args: argparse.Namespace) -> int:
    from ..replay.options import ReplayOptions
    from .shared.scope_options import today

    options = ReplayOptions(
        config=tuple(args.config),
        sets=tuple(args.set),
        sweep=_sweeps(args.sweep),
        ratios=_ratios(args.ratio),
        kafka_version=args.kafka_version,
        source_format=args.source_format,
        source_options=pairs("--source-option", args.source_option),
        columns=pairs("--column", args.column),
        topic=args.topic,
        lateness_ms=_time("--lateness", args.lateness),
        latency_ms=_time("--latency", args.latency),
        watch_ms=_time("--watch", args.watch),
        keep_batches=args.keep_batches,
        cache=not args.no_cache,
        resume=args.resume,
        now=today(),
    )
    with on_spark(args) as (spark, tell):
        from ..replay.run import replay_workload

        result = replay_workload(spark, args.trace, args.out, options, tell)
    from ..replay.tell.summary import render

    sys.stdout.write(render(result.summary, args.format, result.folder))
    return exit_code(result.summary, args.fail_on)


def _sweeps(words: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        listed = tuple(dict.fromkeys(value.strip() for value in values.split(",") if value.strip()))
        if not equals or not key or not listed:
            raise UsageError(f"--sweep {word}: write KEY=VALUE,VALUE")
        found[key] = listed
    return found


def _ratios(words: list[str]) -> dict[str, float]:
    from ..packs.conditions import number
    from ..sim.wire.compression import CODECS

    found: dict[str, float] = {}
    for word in words:
        codec, _, text = word.partition("=")
        ratio = number(text)
        if codec not in CODECS or ratio is None or not 0 < ratio <= 1:
            raise UsageError(f"--ratio {word}: write one of {', '.join(CODECS)} = a share from 0 to 1")
        found[codec] = ratio * 1.0
    return found


def _time(word: str, text: str) -> int:
    from ..syntax.units import spring_millis

    found = spring_millis(text)
    if found is None or found < 0:
        raise UsageError(f"{word} {text}: write a time such as 500ms, 30s or 5m")
    return found
