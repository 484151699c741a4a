"""How far each rule reaches in a table of rows: distinct topics and clients.

Rows are looked at as three numbers each (behaviour, topic, client), few enough for the driver to count
exactly; of very many rows, a part of the topics and clients is taken for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .gathered import Gathered, Reached, Row, Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

# Of more rows than this, one in some.
_ROWS_MAX = 8_000_000
_HEX = 15


def reached(
    spark: SparkSession, folder: str, gathered: Gathered, rules: Iterable[Rule]
) -> Mapping[Rule, Reached]:
    rules = list(rules)
    if not rules:
        return {}
    alone = {fp: _rules(said.findings) for fp, said in gathered.alone.items()}
    joint = {behaviour: _rules(gathered.judged[mark].findings) for behaviour, mark in gathered.marks.items()}
    rows = sum(cell.deployments for cell in gathered.cells) + sum(d.configs for d in gathered.documents)
    share = 1 + rows // _ROWS_MAX
    looked = [
        _looked(_configurations(spark, folder, alone), share, alone, rules),
        _looked(_deployments(spark, folder), share, joint, rules),
    ]
    counted = {}
    for number, rule in enumerate(rules):
        topics, clients = (
            share * len(np.unique(np.concatenate([one[side][number] for one in looked]))) for side in (0, 1)
        )
        counted[rule] = Reached(topics, clients, share == 1)
    return counted


def _rules(findings: Iterable[Row]) -> frozenset[Rule]:
    return frozenset((found["code"], found["severity"]) for found in findings if not found["suppressed"])


def _number(mark: str) -> int:
    return int(mark[:_HEX], 16)


def _deployments(spark: SparkSession, folder: str) -> DataFrame:
    return spark.read.parquet(f"{folder}/deployments").selectExpr(
        "behaviour as mark",
        "if(topic is null, null, xxhash64(cluster, topic)) as topic",
        "coalesce(producer, groups[0].name) as client",
    )


def _configurations(spark: SparkSession, folder: str, alone: Mapping[str, frozenset[Rule]]) -> DataFrame:
    from pyspark.sql import functions as F

    found = [fp for fp, rules in alone.items() if rules]
    rows = spark.read.parquet(f"{folder}/configurations").where("reason is null")
    if len(found) <= 10_000:
        rows = rows.where(F.col("fp").isin(found))
    named = "coalesce(topic, if(component = 'topic', name, null))"
    return rows.selectExpr(
        "fp as mark",
        f"if({named} is null, null, xxhash64(cluster, {named})) as topic",
        "if(component in ('topic', 'broker'), null, name) as client",
    )


def _looked(
    frame: DataFrame, share: int, rules_of: Mapping[str, frozenset[Rule]], rules: list[Rule]
) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """By rule the distinct topics and the distinct clients, as numbers."""
    frame = frame.selectExpr(
        f"cast(conv(substring(mark, 1, {_HEX}), 16, 10) as bigint) as mark",
        "topic",
        "if(client is null, null, xxhash64(client)) as client",
    )
    if share > 1:
        frame = frame.where(f"pmod(topic, {share}) = 0 or pmod(client, {share}) = 0")
    table = frame.toArrow()
    marks, place = np.unique(table["mark"].to_numpy(), return_inverse=True)
    has = np.zeros((len(rules), len(marks)), bool)
    position = {_number(mark): rules_of[mark] for mark in rules_of}
    order = {rule: number for number, rule in enumerate(rules)}
    for column, mark in enumerate(marks.tolist()):
        for rule in position.get(mark, ()):
            has[order[rule], column] = True
    made = []
    for side in ("topic", "client"):
        known = table[side].combine_chunks()
        there = known.is_valid().to_numpy(zero_copy_only=False)
        values, numbers = np.unique(known.drop_null().to_numpy(), return_inverse=True)
        if share > 1:
            chosen = values % share == 0
        found = []
        for own in has:
            seen = np.zeros(len(values), bool)
            seen[numbers[own[place[there]]]] = True
            found.append(values[seen & chosen] if share > 1 else values[seen])
        made.append(found)
    return made[0], made[1]
