"""What is judged for a configuration is named by its sha-256, and its cluster's version where that binds."""

from __future__ import annotations

_AT = "@"


def mark_at(fp: str, version: str | None) -> str:
    return fp if version is None else f"{fp}{_AT}{version}"


def parts_of(mark: str) -> tuple[str, str | None]:
    """The configuration's sha-256, and the cluster's version if that is binding."""
    fp, at, version = mark.partition(_AT)
    return fp, version if at else None
