"""Which release a version asked for stands for."""

from ..syntax.numbers import integer, is_digits
from ..tuples import NamedTuple

# A literal, so that resolving a version reads no file; a test compares it with the data.
RELEASES: tuple[str, ...] = (
    "2.0.1",
    "2.1.1",
    "2.2.2",
    "2.3.1",
    "2.4.1",
    "2.5.1",
    "2.6.3",
    "2.7.2",
    "2.8.2",
    "3.0.2",
    "3.1.2",
    "3.2.3",
    "3.3.2",
    "3.4.1",
    "3.5.2",
    "3.6.2",
    "3.7.2",
    "3.8.1",
    "3.9.1",
    "3.9.2",
    "4.0.2",
    "4.1.2",
    "4.2.1",
    "4.3.1",
)
NEWEST: str = RELEASES[-1]

_NUMBERS: tuple[tuple[int, ...], ...] = tuple(tuple(int(part) for part in r.split(".")) for r in RELEASES)
INDEX: dict[str, int] = {release: position for position, release in enumerate(RELEASES)}


class Version(NamedTuple):
    """A Kafka version as somebody wrote it, and the release whose keys and defaults stand for it."""

    asked: str
    release: str
    number: tuple[int, ...]  # of what was asked: behaviour follows this, down to 0.8
    note: str | None = None
    assumed: bool = False  # nobody says which version it is: the newest that it can be stands for it

    @property
    def minor(self) -> tuple[int, int]:
        return self.number[0], self.number[1]


_resolved: dict[str, Version] = {}


def resolve_version(text: str | Version) -> Version:
    """The release that answers for `text`; ValueError if it is no version at all."""
    if isinstance(text, Version):
        return text
    found = _resolved.get(text)
    if found is None:
        found = _resolved[text] = _resolve(text)
    return found


def _resolve(text: str) -> Version:
    number = _number(text)
    if len(number) == 1:
        minors = [n for n in _NUMBERS if n[0] == number[0]]
        if minors:
            newest = minors[-1]
            name = f"{newest[0]}.{newest[1]}"
            return Version(
                text,
                RELEASES[_NUMBERS.index(newest)],
                newest[:2],
                f"{text.strip()} names no minor version; taken as {name}",
            )
        number = (*number, 0)
    same_minor = [i for i, n in enumerate(_NUMBERS) if n[:2] == number[:2]]
    if same_minor:
        # A patch stands for itself or for the nearest newer one known; a bare minor for its newest patch.
        at_least = [i for i in same_minor if len(number) > 2 and _NUMBERS[i] >= number[:3]]
        return Version(text, RELEASES[at_least[0] if at_least else same_minor[-1]], number)
    older = [i for i, n in enumerate(_NUMBERS) if n[:2] < number[:2]]
    dotted = ".".join(str(part) for part in number)
    if not older:
        note = f"Kafka 2.0, the oldest known, gives keys and defaults; behaviour follows {dotted}"
        return Version(text, RELEASES[0], number, note)
    release = RELEASES[older[-1]]
    if older[-1] == len(RELEASES) - 1:
        note = f"Kafka {dotted} is newer than any known; {release} stands for it"
    else:
        note = f"there is no Kafka {dotted}; {release}, the nearest older one, stands for it"
    return Version(text, release, number, note)


def _number(text: str) -> tuple[int, ...]:
    """The leading dotted number: `v3.9.1`, `3.9`, `3.9.1-SNAPSHOT` and `7.5.0-ccs` all have one."""
    core = text.strip().lower().removeprefix("v")
    for mark in "-+_":
        core = core.partition(mark)[0]
    parts = core.split(".")
    numbers = [integer(part, (0, 9999)) if is_digits(part) else None for part in parts[:5]]
    if len(parts) > 4 or None in numbers:
        shown = text if len(text) <= 40 else text[:40] + "..."
        raise ValueError(f"{shown!r} is not a Kafka version; write one such as 3.9 or 3.9.1")
    return tuple(number for number in numbers if number is not None)


def index_of(version: str | Version) -> int:
    return INDEX[resolve_version(version).release]
