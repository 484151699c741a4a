"""Which of many fixes go together: all at once if that holds, else as many as do, the first ones first.

How a fix is made and what is asked afterwards is the bench's matter: `audit` makes fixes in documents, `fix`
in a copy of the files. Both decide here, so that what one offers the other makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Generic, Protocol, TypeVar

from ..model import Location
from ..tuples import NamedTuple

T = TypeVar("T")


class Refused(NamedTuple):
    """A fix that is not made, and why."""

    fix: Any
    reason: str
    at: Location | None = None


class Trouble(NamedTuple):
    """Why what is made cannot stay, and the files of what it harms or does not mend."""

    reason: str
    files: set[str]


class Bench(Protocol[T]):
    def make(self, fixes: Iterable[T]) -> tuple[list[T], list[Refused]]:
        """Each that can be made, on top of what is made already."""

    def troubles(self, made: Sequence[T], again: bool) -> Iterable[Trouble]:
        """What stays and what is new with all that is made. Not `again`: nothing changed since."""

    def files_of(self, fix: T) -> set[str]:
        """What it changes."""

    def state(self) -> Any:
        """What is made; two that are equal were made alike."""

    def restore(self, state: Any) -> None: ...


class Together(Generic[T]):
    def __init__(self, bench: Bench[T]) -> None:
        self._bench = bench

    def settle(self, fixes: Sequence[T]) -> tuple[list[T], list[Refused]]:
        """Every fix at once if that holds. Else those that have nothing to do with the trouble at once, and
        the others one after the other, each kept only if it holds."""
        bench, before = self._bench, self._bench.state()
        made, refused = bench.make(fixes)
        troubles = list(bench.troubles(made, True)) if made else []
        if not troubles:
            return made, refused
        bench.restore(before)
        apart, lanes = self._lanes(fixes, troubles)
        made, refused = bench.make(apart)
        if any(bench.troubles(made, True)):
            bench.restore(before)
            made, refused, lanes = [], [], [list(fixes)]
        # What shares no file goes side by side: as many rounds as the longest lane has fixes.
        for round_ in zip_longest(*lanes):
            more, left = self._settled([fix for fix in round_ if fix is not None], made)
            made += more
            refused += left
        order = {id(fix): place for place, fix in enumerate(fixes)}
        return made, sorted(refused, key=lambda one: order[id(one.fix)])

    def _settled(self, batch: Sequence[T], before: Sequence[T]) -> tuple[list[T], list[Refused]]:
        """Fixes of different files: those that hold stay made."""
        bench, state = self._bench, self._bench.state()
        made, left = bench.make(batch)
        again = bench.state() != state
        troubles = list(bench.troubles([*before, *made], again)) if made else []
        if not troubles:
            return made, left
        bench.restore(state)
        if len(batch) == 1:
            return [], [Refused(batch[0], troubles[0].reason)]
        blamed: dict[int, str] = {}
        for trouble in troubles:
            met = [place for place, fix in enumerate(batch) if trouble.files & bench.files_of(fix)]
            if len(met) != 1:
                return self._each(batch, before)
            blamed.setdefault(met[0], trouble.reason)
        refused = [Refused(batch[place], reason) for place, reason in blamed.items()]
        rest = [fix for place, fix in enumerate(batch) if place not in blamed]
        made, left = self._settled(rest, before)
        return made, [*left, *refused]

    def _each(self, batch: Sequence[T], before: Sequence[T]) -> tuple[list[T], list[Refused]]:
        made: list[T] = []
        left: list[Refused] = []
        for fix in batch:
            one, refused = self._settled([fix], [*before, *made])
            made += one
            left += refused
        return made, left

    def _lanes(self, fixes: Sequence[T], troubles: Sequence[Trouble]) -> tuple[list[T], list[list[T]]]:
        """The fixes that change no file of what is in trouble; and the others, those together that change a
        file in common."""
        head: dict[str, str] = {}

        def first(file: str) -> str:
            while head.setdefault(file, file) != file:
                head[file] = head[head[file]]
                file = head[file]
            return file

        changed = [self._bench.files_of(fix) for fix in fixes]
        for files in (*changed, *(trouble.files for trouble in troubles)):
            one = first(min(files))
            for file in files:
                head[first(file)] = one
        amiss = {first(min(trouble.files)) for trouble in troubles}
        apart: list[T] = []
        lanes: dict[str, list[T]] = {}
        for fix, files in zip(fixes, changed, strict=True):
            lane = first(min(files))
            if lane in amiss:
                lanes.setdefault(lane, []).append(fix)
            else:
                apart.append(fix)
        return apart, list(lanes.values())


def repeated(make: Any, fixes: Iterable[T]) -> tuple[list[T], list[Refused]]:
    """Each fix that can be made; those that cannot are tried again while others are made: a value that two
    settings share by an anchor can be changed once they no longer do."""
    made: list[T] = []
    left: list[Refused] = []
    waiting = list(fixes)
    while waiting:
        left = []
        for fix in waiting:
            refused = make(fix)
            if refused is None:
                made.append(fix)
            else:
                left.append(refused)
        if len(left) == len(waiting):
            break
        waiting = [one.fix for one in left]
    return made, left
