"""The official schema of SARIF 2.1.0, taken from a package of Microsoft's, which made the standard.

The package ships the schema of the standard as it was first published. Errata 01, which is in force, makes it
stricter in the places below; with them it is, but for its descriptions, the schema that OASIS publishes
(sarif-schema-2.1.0.json of docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas): the digest says so.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from tests.conftest import needs

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
INSIDE = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
OASIS = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
DIGEST = "27c33817edda39a3caa35e82b12b0b05d23c44ca3e7c1c17a524656d9fd3e719"
_LANGUAGE = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"
_STRINGS = (
    "definitions/artifact/properties/roles/items",
    "definitions/externalProperties/properties/version",
    "definitions/notification/properties/level",
    "definitions/reportingConfiguration/properties/level",
    "definitions/result/properties/baselineState",
    "definitions/result/properties/kind",
    "definitions/result/properties/level",
    "definitions/run/properties/columnKind",
    "definitions/suppression/properties/kind",
    "definitions/suppression/properties/status",
    "definitions/threadFlowLocation/properties/importance",
    "definitions/toolComponent/properties/contents/items",
    "properties/version",
)


def official_schema(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [needs("npm"), "pack", "--silent", PACKAGE], cwd=folder, capture_output=True, text=True, check=True
    )
    with tarfile.open(folder / done.stdout.strip().splitlines()[-1]) as package:
        member = package.extractfile(INSIDE)
        assert member is not None
        schema: dict[str, Any] = json.load(member)
    with_errata(schema)
    assert digest(schema) == DIGEST, "this is not the schema that OASIS publishes"
    return schema


def with_errata(schema: dict[str, Any]) -> None:
    for path in _STRINGS:
        _at(schema, path)["type"] = "string"
    for where in ("run", "toolComponent"):
        _at(schema, f"definitions/{where}/properties/language")["pattern"] = _LANGUAGE
    ways = ("startLine", "charOffset", "byteOffset")
    schema["definitions"]["region"]["anyOf"] = [{"required": [way]} for way in ways]
    schema["properties"]["runs"]["type"] = ["array", "null"]
    schema["title"] = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    schema["id"] = OASIS


def _at(schema: Any, path: str) -> Any:
    for part in path.split("/"):
        schema = schema[part]
    return schema


def digest(schema: Any) -> str:
    """Of what it demands: descriptions are reworded from one edition to the next."""
    text = json.dumps(_without_descriptions(schema), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_descriptions(one)
            for key, one in value.items()
            if key != "description" or not isinstance(one, str)
        }
    return [_without_descriptions(one) for one in value] if isinstance(value, list) else value
