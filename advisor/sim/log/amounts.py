"""Durations and sizes as people say them: 7 d, 14 d 5 min, 1 GiB."""

from __future__ import annotations

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def duration(ms: int) -> str:
    """The two largest units that matter: what is less than a hundredth of the whole is left out."""
    if ms < 0:
        return f"-{duration(-ms)}"
    parts: list[str] = []
    rest = ms
    for factor, unit in _UNITS:
        count, rest = divmod(rest, factor)
        if count:
            parts.append(f"{count} {unit}")
        if parts and (len(parts) == 2 or rest * 1000 < ms):
            break
    return " ".join(parts) or "0 ms"


def size(count: int) -> str:
    for factor, unit in _SIZES:
        if count >= factor:
            text = f"{count / factor:.1f}"
            return f"{text.removesuffix('.0')} {unit}"
    return f"{count} bytes" if count != 1 else "1 byte"
