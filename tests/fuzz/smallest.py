"""Delta debugging: the smallest input that still fails the same way, over files, words, lines and bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .judge import LIMITS, Failure
from .mutants import Mutant

T = TypeVar("T")
TRIALS_MAX = 400
# A limit is reached only after seconds.
SLOW_TRIALS_MAX = 40


class _Spent(Exception):
    """No more trials."""


def smallest(found: Mutant, failure: Failure, alone: Callable[[Mutant], Failure | None]) -> Mutant:
    """`alone` runs a mutant by itself and gives its failure."""
    left = SLOW_TRIALS_MAX if failure.kind in LIMITS else TRIALS_MAX
    best = found._replace(twice=failure.kind == "different the second time")

    def fails(mutant: Mutant) -> bool:
        nonlocal best, left
        if left == 0:
            raise _Spent
        left -= 1
        if failure.kind == "secret shown" and not _still_secret(mutant):
            return False
        if not failure.same(alone(mutant)):
            return False
        best = mutant
        return True

    try:
        while True:
            size = best.size
            _shrink(best, fails, lambda: best)
            if best.size == size:
                return best
    except _Spent:
        return best


def _still_secret(mutant: Mutant) -> bool:
    """A marker that is no longer the value of its key may be shown."""
    return any((mutant.planted or "").encode() in data.splitlines() for data in mutant.files.values())


def _shrink(mutant: Mutant, fails: Callable[[Mutant], bool], best: Callable[[], Mutant]) -> None:
    def with_files(names: Sequence[str]) -> bool:
        return fails(mutant._replace(files={name: mutant.files[name] for name in names}))

    _reduce(sorted(mutant.files), with_files)
    _shrink_words(best(), fails)
    for split, join in ((_lines, b"".join), (_bytes, b"".join)):
        for name in sorted(best().files):
            # Lines by halves and bytes by halves: a file of one huge line is no other case.
            _reduce(split(best().files[name]), _with_content(best(), name, join, fails))


def _with_content(
    mutant: Mutant, name: str, join: Callable[[Sequence[bytes]], bytes], fails: Callable[[Mutant], bool]
) -> Callable[[Sequence[bytes]], bool]:
    return lambda parts: fails(mutant._replace(files={**mutant.files, name: join(parts)}))


def _shrink_words(mutant: Mutant, fails: Callable[[Mutant], bool]) -> None:
    command, *options = mutant.words
    groups: list[tuple[str, ...]] = []
    while options:
        takes_value = options[0] in VALUED and len(options) > 1
        groups.append(tuple(options[: 2 if takes_value else 1]))
        del options[: len(groups[-1])]

    def with_groups(kept: Sequence[tuple[str, ...]]) -> bool:
        return fails(mutant._replace(words=(command, *(word for group in kept for word in group))))

    _reduce(groups, with_groups)


VALUED = (
    *("--select", "--set", "--kafka-version", "--profile", "--format", "--fail-on", "--what-if", "--rules"),
    *(
        "--from-version",
        "--to-version",
        "--guarantee",
        "--faults",
        "--environment",
        "--schedule",
        "--checkpoint",
    ),
    "--log-end-offset",
)


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _bytes(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def _reduce(parts: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """Leave out ever smaller pieces while it still fails; of very many, none smaller than a 100th."""
    parts = list(parts)
    piece = len(parts)
    while piece > len(parts) // 100:
        at = 0
        while at < len(parts):
            rest = parts[:at] + parts[at + piece :]
            if fails(rest):
                parts = rest
            else:
                at += piece
        piece //= 2
    return parts
