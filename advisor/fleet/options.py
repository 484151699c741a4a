"""What a run over a fleet is asked."""

from __future__ import annotations

from collections.abc import Mapping

from ..tuples import NamedTuple


class FleetOptions(NamedTuple):
    """As for an audit, and: `source_format` (files, parquet, json, csv, jdbc, table, delta; None guesses),
    `source_options` for Spark's reader, `columns` our name -> the table's, `owners` a path pattern such as
    `{team}/{service}/**` or a CODEOWNERS file, `roots` which folders are roots of their own, `where` a
    condition in SQL on the rows of a table, `catalog` a schema that the tables are appended to, `resume` a
    run that was cut short, `now` the time the trend shows."""

    kafka_version: str | None = None
    profile: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    link: bool = True
    cache: bool = True
    today: str = ""
    source_format: str | None = None
    source_options: Mapping[str, str] = {}
    columns: Mapping[str, str] = {}
    owners: str | None = None
    roots: str | None = None
    where: str | None = None
    catalog: str | None = None
    resume: bool = False
    partitions: int | None = None
    now: str = ""
