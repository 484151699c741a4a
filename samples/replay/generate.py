"""A recorded workload of any size: the same seed gives the same records.

    python samples/replay/generate.py TRACE.parquet --records 100000 --days 2 --keys 2000 --skew 1.1
    python samples/replay/generate.py TRACE.csv --records 5000 --burst 20 --keyless 0.1

The rate follows the hours of a day, with bursts of some seconds; keys are drawn by Zipf's law, sizes by a
log-normal one. Some rows come late (`arrived` is after `timestamp`), some cannot be replayed (--broken).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

BEGIN_MS = 1_794_787_200_000  # Monday 2026-11-16 00:00 UTC
DAY_MS = 86_400_000


def table(
    records: int,
    *,
    days: float = 1.0,
    topics: tuple[str, ...] = ("clicks",),
    producers: int = 2,
    keys: int = 1000,
    skew: float = 1.1,
    keyless: float = 0.0,
    bursts: int = 10,
    burst: float = 10.0,
    value_bytes: int = 300,
    late: float = 0.0,
    broken: int = 0,
    seed: int = 1,
) -> Any:
    """An Arrow table of the trace. `late` is the share of rows that come some seconds after their time."""
    dice = np.random.default_rng(seed)
    times = _times(dice, records, days, bursts, burst)
    rank = np.minimum(dice.zipf(max(1.01, skew), records), keys) - 1
    names = np.array([f"user-{number:06}" for number in range(keys)], object)
    sizes = np.maximum(1, dice.lognormal(np.log(value_bytes), 0.5, records).astype(np.int64))
    has_key = dice.random(records) >= keyless
    delay = np.where(dice.random(records) < late, dice.integers(1, 30_000, records), 0)
    topic = dice.integers(0, len(topics), records)
    columns: dict[str, Any] = {
        "timestamp": times,
        "arrived": times + delay,
        "topic": np.array(topics, object)[topic],
        "producer": np.array([f"service-{n}" for n in range(producers)], object)[
            dice.integers(0, producers, records)
        ],
        "key": np.where(has_key, names[rank], None),
        "value_size": sizes,
    }
    made = pa.table({name: pa.array(column) for name, column in columns.items()})
    if broken:
        bad = made.slice(0, broken)
        bad = bad.set_column(
            bad.schema.get_field_index("value_size"), "value_size", pa.nulls(broken, pa.int64())
        )
        made = pa.concat_tables([made, bad])
    return made


def _times(dice: Any, records: int, days: float, bursts: int, burst: float) -> Any:
    """Milliseconds: hours of a day weigh between 0.2 and 1, bursts of ten seconds `burst` times as much."""
    minutes = np.arange(int(days * 1440))
    weight = 0.6 - 0.4 * np.cos(2 * np.pi * (minutes / 1440))
    share = min(0.5, bursts * burst / (6 * max(1, len(minutes))))
    calm = records - int(records * share)
    which = dice.choice(len(minutes), calm, p=weight / weight.sum())
    calm_times = BEGIN_MS + which * 60_000 + dice.integers(0, 60_000, calm)
    starts = BEGIN_MS + dice.integers(0, int(days * DAY_MS) - 10_000, max(1, bursts))
    burst_times = starts[dice.integers(0, len(starts), records - calm)] + dice.integers(
        0, 10_000, records - calm
    )
    return np.sort(np.concatenate((calm_times, burst_times)))


def write(path: Path, made: Any) -> None:
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(made, path)
    else:
        import pyarrow.parquet as pq

        pq.write_table(made, path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("out", type=Path)
    add("--records", type=int, default=20_000)
    add("--days", type=float, default=1.0)
    add("--topics", default="clicks", help="names, separated by commas")
    add("--producers", type=int, default=2)
    add("--keys", type=int, default=1000)
    add("--skew", type=float, default=1.1)
    add("--keyless", type=float, default=0.0, help="share of records without a key")
    add("--bursts", type=int, default=10)
    add("--burst", type=float, default=10.0)
    add("--value-bytes", type=int, default=300)
    add("--late", type=float, default=0.0)
    add("--broken", type=int, default=0)
    add("--seed", type=int, default=1)
    asked = vars(parser.parse_args())
    out, records = asked.pop("out"), asked.pop("records")
    asked["topics"] = tuple(asked["topics"].split(","))
    write(out, table(records, **asked))


if __name__ == "__main__":
    main()
