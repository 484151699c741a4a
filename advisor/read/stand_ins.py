"""Words that stand for names, and what was made with them told under other names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model import Location, Origin, Secret, Setting, Unknown
from ..syntax.pattern import pattern
from ..tuples import NamedTuple

# A word that Kafka takes for an id of any kind.
STAND_IN = pattern(r"zq[0-9]{5}qz(?::9092)?")

Template = Callable[[Sequence[str]], Any]


def word(number: int) -> str:
    """The word for the name with this number; words sort as their numbers do."""
    return f"zq{number:05}qz"


def address(number: int) -> str:
    """The word for a list of addresses, which Kafka takes for one."""
    return f"{word(number)}:9092"


class Hidden(Exception):
    """A secret holds a word: what it stands for cannot be put back."""


class Told(NamedTuple):
    """What was answered about a stand-in, ready to be told under other names."""

    value: Any
    template: Template | None

    def under(self, names: Sequence[str]) -> Any:
        return self.value if self.template is None else self.template(names)


def told(value: Any, words: Sequence[str]) -> Told:
    return Told(value, _template(value, {word: place for place, word in enumerate(words)}))


def _template(value: Any, places: dict[str, int]) -> Template | None:
    """A function that makes the value with other names; None if no name is in it."""
    if isinstance(value, str):
        return _text_template(value, places)
    if isinstance(value, Setting) and type(value.value) is str and value.origin.at is not None:
        return _setting_template(value, places)
    if isinstance(value, tuple | list):
        parts = [_template(part, places) for part in value]
        if not any(parts):
            return None
        return _parts_template(value, parts)
    if isinstance(value, Unknown):
        text = _text_template(value.template, places)
        return None if text is None else lambda names: Unknown(text(names))
    if isinstance(value, Secret) and any(value == Secret(one) for one in places):
        raise Hidden
    if isinstance(value, dict):
        keys, values = _template(tuple(value), places), _template(tuple(value.values()), places)
        if keys is None and values is None:
            return None
        plain = tuple(value), tuple(value.values())
        return lambda names: dict(
            zip(
                plain[0] if keys is None else keys(names),
                plain[1] if values is None else values(names),
                strict=True,
            )
        )
    return None


def _parts_template(value: Any, parts: Sequence[Template | None]) -> Template:
    """Of a tuple or list most parts stay as they are."""
    kind = type(value)
    changed = [(place, made) for place, made in enumerate(parts) if made is not None]
    if len(changed) == len(parts):
        every = [made for _, made in changed]
        if kind is list:
            return lambda names: [made(names) for made in every]
        return lambda names: tuple.__new__(kind, [made(names) for made in every])

    def made_of(names: Sequence[str]) -> Any:
        copy = list(value)
        for place, made in changed:
            copy[place] = made(names)
        return copy if kind is list else tuple.__new__(kind, copy)

    return made_of


def _text_template(text: str, places: dict[str, int]) -> Template | None:
    if text in places:
        place = places[text]
        return lambda names: names[place]
    if not STAND_IN.search(text):
        return None

    def made(names: Sequence[str]) -> str:
        return STAND_IN.sub(lambda found: _name(found[0], names, places), text)

    return made


def _name(found: str, names: Sequence[str], places: dict[str, int]) -> str:
    if found in places:
        return names[places[found]]
    stand_in, colon, rest = found.partition(":")
    return names[places[stand_in]] + colon + rest


def _setting_template(setting: Setting, places: dict[str, int]) -> Template | None:
    """Most of what is told are settings, and most of them differ in the file alone."""
    key, value, (kind, at, note) = setting
    assert at is not None
    line = at.line
    file, named = places.get(at.file), places.get(str(value))
    if STAND_IN.search(key + note) or (file is None and STAND_IN.search(at.file)):
        return _whole(setting, places)
    if named is None and STAND_IN.search(str(value)):
        return _whole(setting, places)
    if file is None and named is None:
        return None
    new = tuple.__new__

    def made(names: Sequence[str]) -> Setting:
        place = at if file is None else new(Location, (names[file], line))
        return new(Setting, (key, value if named is None else names[named], new(Origin, (kind, place, note))))

    return made


def _whole(setting: Setting, places: dict[str, int]) -> Template:
    return _parts_template(setting, [_template(part, places) for part in setting])
