"""The catalog's resolution table as Spark expressions: which of the broker's keys speak for a topic.

For each key of a topic one `coalesce` over its sources in order, as `effective.effective` walks them. Written
as SQL text: a Column is a call to the JVM for every operator in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...catalog import Version, resolution, resolve_version


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def spoken_sql(keys: Sequence[str], version: str | Version, topic: str, broker: str) -> str:
    """Of each of a topic's keys that the topic does not set, the broker's key that is in force: an array.
    `topic` and `broker` name map columns."""
    version = resolve_version(version)
    told = []
    for key in keys:
        sources = [(home, name) for home, name, _ in resolution(version, "topic", key).sources]
        if any(home == "broker" for home, _ in sources):
            given = [
                f"if({topic}[{quoted(name)}] is null, NULL, '')"
                if home == "topic"
                else f"if({broker}[{quoted(name)}] is null, NULL, {quoted(name)})"
                for home, name in sources
                if home in ("topic", "broker")
            ]
            told.append(f"coalesce({', '.join(given)})")
    return f"filter(array({', '.join(told)}), key -> key != '')" if told else "array()"
