"""Which keys of a deployment were asked for, whether they are set or not.

A fleet judges deployments by the keys that count alone, so it must know which those are. Nobody declares
them: they are noted where settings are looked up by key, by the reader of a deployment (`reader.py`) and of
one document (`effective.by_key`). Noting is off, and costs nothing to speak of, unless somebody wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..model import Setting

_noted: set[str] | None = None


@contextmanager
def noted_in(keys: set[str]) -> Iterator[None]:
    """Every key that is asked for is added to `keys`."""
    global _noted
    before, _noted = _noted, keys
    try:
        yield
    finally:
        _noted = before


def is_noting() -> bool:
    return _noted is not None


def note(key: str) -> None:
    if _noted is not None:
        _noted.add(key)


def noting(settings: dict[str, Setting]) -> dict[str, Setting]:
    """The same settings; who looks one up is noted, if anybody wants to know."""
    return settings if _noted is None else _Noting(settings)


class _Noting(dict[str, Setting]):
    __slots__ = ()

    def get(self, key: str, default: Any = None) -> Any:
        note(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Setting:
        note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            note(key)
        return super().__contains__(key)
