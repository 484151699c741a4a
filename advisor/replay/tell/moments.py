"""Times as people say them, in UTC: Tuesday 2026-11-17 14:00–15:00."""

from __future__ import annotations

from datetime import UTC, datetime

HOUR_MS = 3_600_000


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def hour_words(ms: int) -> str:
    at = moment(ms)
    return f"{at:%A %Y-%m-%d %H:00}–{moment(ms + HOUR_MS):%H:00}"


def minute_words(ms: int) -> str:
    return f"{moment(ms):%a %Y-%m-%d %H:%M}"
