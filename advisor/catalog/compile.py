"""Rebuild the compiled files from their sources: `python -m advisor.catalog.compile`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .store import COMPONENTS, DATA, FLAGS
from .versions import INDEX, RELEASES

_LIBRDKAFKA_SECRETS = (
    "sasl.password",
    "ssl.key.password",
    "ssl.keystore.password",
    "ssl.key.pem",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.assertion.private.key.passphrase",
)


def source(name: str) -> Any:
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def compile_all() -> dict[str, Any]:
    """Every compiled file by name, without its suffix."""
    kafka, librdkafka = source("kafka"), source("librdkafka")
    files: dict[str, Any] = {
        release: _release(kafka["components"], position) for position, release in enumerate(RELEASES)
    }
    files["index"] = _index(kafka["components"])
    files["names"] = _names(kafka["components"], librdkafka["properties"])
    files["librdkafka"] = {
        name: [_property(row) for row in rows] for name, rows in librdkafka["properties"].items()
    }
    files["streams_clients"] = kafka["streams_clients"]
    return files


def _span(record: dict[str, Any]) -> tuple[int, int]:
    return INDEX[record["since"]], len(RELEASES) - 1 if record["until"] is None else INDEX[record["until"]]


def _release(components: dict[str, Any], position: int) -> dict[str, Any]:
    """Rows are shared: a security key is the same in six components."""
    rows: list[list[Any]] = []
    seen: dict[str, int] = {}
    held: dict[str, dict[str, int]] = {}
    for component in COMPONENTS:
        table: dict[str, int] = {}
        for name, records in components[component].items():
            for record in records:
                since, until = _span(record)
                if since <= position <= until:
                    row = _row(record)
                    text = json.dumps(row)
                    if text not in seen:
                        seen[text] = len(rows)
                        rows.append(row)
                    table[name] = seen[text]
        held[component] = table
    return {"rows": rows, "components": held}


def _row(record: dict[str, Any]) -> list[Any]:
    facts = {flag: record.get(flag) is True for flag in FLAGS}
    for allowed, forbidden in (("empty_allowed", "empty_forbidden"), ("null_allowed", "null_forbidden")):
        facts[forbidden] = record.get(allowed) is False
    flags = sum(1 << bit for bit, flag in enumerate(FLAGS) if facts[flag])
    row = [
        record["type"],
        record.get("default"),
        record.get("min"),
        record.get("max"),
        record["importance"],
        flags,
        record.get("dynamic"),
        record.get("validator"),
        record.get("valid"),
        record.get("valid_items"),
        record.get("max_items"),
        record.get("synonyms"),
    ]
    while row[-1] in (None, 0):
        row.pop()
    return row


def _index(components: dict[str, Any]) -> dict[str, Any]:
    """For each key the spans of releases that know it, then the first that called it deprecated, or -1."""
    index: dict[str, Any] = {}
    for component in COMPONENTS:
        table = index[component] = {}
        for name, records in components[component].items():
            spans: list[int] = []
            deprecated = -1
            for record in records:
                since, until = _span(record)
                if spans and since == spans[-1] + 1:
                    spans[-1] = until
                else:
                    spans += [since, until]
                if record.get("deprecated") and deprecated < 0:
                    deprecated = since
            table[name] = [*spans, deprecated]
    return index


def _names(components: dict[str, Any], librdkafka: dict[str, Any]) -> dict[str, list[str]]:
    kafka = {name for table in components.values() for name in table}
    passwords = {
        name
        for table in components.values()
        for name, records in table.items()
        if any(record["type"] == "password" for record in records)
    }
    clients = {name for component in ("producer", "consumer", "admin") for name in components[component]}
    return {
        "kafka": sorted(kafka),
        "librdkafka": sorted(librdkafka),
        "librdkafka_only": sorted(set(librdkafka) - clients),
        "passwords": sorted(passwords | {name for name in _LIBRDKAFKA_SECRETS if name in librdkafka}),
    }


def _property(row: dict[str, Any]) -> list[Any]:
    flags = (1 if row.get("deprecated") else 0) | (2 if row.get("unused") else 0)
    return [
        row.get("aliasOf"),
        row["scope"],
        row["section"],
        row["type"],
        row["default"],
        row.get("min"),
        row.get("max"),
        row.get("valid"),
        flags,
        row["since"],
        row["importance"],
    ]


def text_of(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True) + "\n"


def main() -> int:
    from ..output.files import write_file

    target = os.path.join(DATA, "compiled")
    os.makedirs(target, exist_ok=True)
    for name, data in compile_all().items():
        write_file(os.path.join(target, name + ".json"), text_of(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
