"""A finding's name across runs: no line and no value in it, so edits elsewhere keep it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..model import Finding
from ..syntax.pattern import pattern


def fingerprint(finding: Finding) -> str:
    parts = (finding.code, finding.at.file, finding.resource, *sorted(finding.keys))
    return str(_sha256()("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest())[:16]


def _sha256() -> Any:
    """The extension behind hashlib's sha256: hashlib itself loads OpenSSL, which costs as much as reading a
    small file. It has another name from Python 3.12 on."""
    for name in ("_sha256", "_sha2", "hashlib"):
        try:
            return import_module(name).sha256
        except ImportError:
            continue
    raise ImportError("no sha256 in this Python")


_PROFILES = pattern(r" \[[^\[\]]{1,200}+\](?= )")
# The file that tells apart deployments of one name: "copy -> target (copy.yaml)".
_FILES = pattern(r" \([^()]{1,300}\.[a-z]{2,10}\)(?=[: ])")


def what_is_told(finding: Finding) -> tuple[object, ...]:
    """Equal for findings that say the same of one place, and have a fix or have none: "application [dev]
    producer" and "application [prod] producer" have the setting from one line, two clients of one name one
    cluster."""
    message = _FILES.sub("", finding.message) if ")" in finding.message else finding.message
    return finding.code, finding.at, finding.keys, _PROFILES.sub("", message), bool(finding.fixes)
