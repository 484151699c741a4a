"""The catalog's resolution table as Spark expressions: the value in force and who gave it.

For each key one `coalesce` over its sources in order, as `effective.effective` walks them. `layers` are names
of map columns by component. Written as SQL text: a Column is a call to the JVM for every operator in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..catalog import Version, resolution, resolve_version
from ..effective import shown_default

if TYPE_CHECKING:
    from pyspark.sql import Column

# As Python's int() reads a text of digits; 30 of them times a factor fit Spark's decimals.
_SPACE = "[ \t\n\x0b\f\r]*"
_WHOLE = f"^{_SPACE}[+-]?[0-9](_?[0-9]){{0,29}}{_SPACE}$"


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def resolved(keys: Sequence[tuple[str, str]], version: str | Version, layers: Mapping[str, str]) -> Column:
    """An array of (component, key, value, source, source_key), one for each of `keys`; no source means that
    the value is the release's default, no value that there is none."""
    from pyspark.sql import functions as F

    return F.expr(resolved_sql(keys, version, layers))


def resolved_sql(keys: Sequence[tuple[str, str]], version: str | Version, layers: Mapping[str, str]) -> str:
    version = resolve_version(version)
    return "array(" + ", ".join(_one(component, key, version, layers) for component, key in keys) + ")"


def spoken_sql(keys: Sequence[str], version: str | Version, topic: str, broker: str) -> str:
    """Of each of a topic's keys that the topic does not set, the broker's key that is in force: an array.
    `topic` and `broker` are map columns."""
    version = resolve_version(version)
    told = []
    for key in keys:
        sources = resolution(version, "topic", key).sources
        given = [
            f"if({topic if home == 'topic' else broker}[{quoted(name)}] is null, NULL, "
            + ("'')" if home == "topic" else f"{quoted(name)})")
            for home, name, _ in sources
            if home in ("topic", "broker")
        ]
        if any(home == "broker" for home, _, _ in sources):
            told.append(f"coalesce({', '.join(given)})")
    return f"filter(array({', '.join(told)}), key -> key != '')" if told else "array()"


def _one(component: str, key: str, version: Version, layers: Mapping[str, str]) -> str:
    table = resolution(version, component, key)
    given = [
        (f"{layers[home]}[{quoted(name)}]", quoted(home), quoted(name), factor)
        for home, name, factor in table.sources
        if home in layers
    ]
    default = "NULL" if table.default is None else quoted(shown_default(table.default))

    def first(found: Iterable[str]) -> str:
        return "cast(coalesce(" + ", ".join([*found, "NULL"]) + ") as string)"

    value = f"coalesce({first(_scaled(value, factor) for value, _, _, factor in given)}, {default})"
    source = first(f"if({value} is null, NULL, {home})" for value, home, _, _ in given)
    source_key = first(f"if({value} is null, NULL, {name})" for value, _, name, _ in given)
    return (
        f"named_struct('component', {quoted(component)}, 'key', {quoted(key)}, 'value', {value}, "
        f"'source', {source}, 'source_key', {source_key})"
    )


def _scaled(value: str, factor: int) -> str:
    if factor == 1:
        return value
    digits = f"try_cast(replace(trim({value}), '_', '') as decimal(30,0))"
    scaled = f"if({digits} >= 0, cast({digits} * {factor} as decimal(38,0)), cast({digits} as decimal(38,0)))"
    return f"if({value} rlike {quoted(_WHOLE)}, cast({scaled} as string), {value})"
