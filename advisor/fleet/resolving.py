"""The catalog's resolution table as Spark expressions: the value in force and who gave it.

For each key one `coalesce` over its sources in order, as `effective.effective` walks them. `layers` are map
columns by component.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..catalog import Version, resolution, resolve_version
from ..effective import shown_default

if TYPE_CHECKING:
    from pyspark.sql import Column

# As Python's int() reads a text of digits; 30 of them times a factor fit Spark's decimals.
_WHOLE = r"^\s*[+-]?[0-9](_?[0-9]){0,29}\s*$"


def resolved(keys: Sequence[tuple[str, str]], version: str | Version, layers: Mapping[str, Column]) -> Column:
    """An array of (component, key, value, source component, source key), one for each of `keys`; no source
    means that the value is the release's default, no value that there is none."""
    from pyspark.sql import functions as F

    version = resolve_version(version)
    return F.array(*(_one(component, key, version, layers) for component, key in keys))


def _one(component: str, key: str, version: Version, layers: Mapping[str, Column]) -> Column:
    from pyspark.sql import functions as F

    table = resolution(version, component, key)
    present = [(home, name, factor) for home, name, factor in table.sources if home in layers]
    given = [(layers[home][name], home, name, factor) for home, name, factor in present]

    def first(columns: Iterable[Column]) -> Column:
        found = list(columns)
        return F.coalesce(*found) if found else F.lit(None).cast("string")

    default = None if table.default is None else shown_default(table.default)
    return F.struct(
        F.lit(component).alias("component"),
        F.lit(key).alias("key"),
        F.coalesce(
            first(_scaled(value, factor) for value, _, _, factor in given), F.lit(default).cast("string")
        ).alias("value"),
        first(F.when(value.isNotNull(), F.lit(home)) for value, home, _, _ in given).alias("source"),
        first(F.when(value.isNotNull(), F.lit(name)) for value, _, name, _ in given).alias("source_key"),
    )


def _scaled(value: Column, factor: int) -> Column:
    from pyspark.sql import functions as F

    if factor == 1:
        return value
    digits = F.regexp_replace(F.trim(value), "_", "").try_cast("decimal(30,0)")
    scaled = F.when(digits >= 0, (digits * factor).cast("decimal(38,0)")).otherwise(
        digits.cast("decimal(38,0)")
    )
    return F.when(value.rlike(_WHOLE), scaled.cast("string")).otherwise(value)
