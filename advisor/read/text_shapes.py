"""Files whose texts differ in names alone: from the second on, one is read under words that stand for any
name, and the others are told the same under their own.

What is taken for a name: the folder, numbers in the file's name, comments that say nothing to any format, and
plain values of keys that only name something (client.id, group-id, destination, metadata.name). All else is
part of the shape, and so is which names are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..model import Loaded, Source
from ..syntax.pattern import pattern
from ..tuples import NamedTuple
from .secrets import holds_secret
from .stand_ins import STAND_IN, Told, told, word

# So many shapes are remembered, and then forgotten together.
SHAPES_MAX = 20_000

# Lines of many files repeat: each is looked at once.
LINES_MAX = 200_000

_NAMED = pattern(
    r"([ \t]*(?:- )?(?:[\w-]+\.)*"
    r"(?:client[.-]?id|clientId|group[.-]id|groupId|group|group\.instance\.id|transactional\.id|application\.id"
    r"|destination|default-topic|transaction-id-prefix)[ \t]*[=:][ \t]*)([A-Za-z][\w.-]{0,99})([ \t\r]*)"
)
# `name` is a name under these alone.
_TITLE = pattern(r"([ \t]+name:[ ]+)([A-Za-z][\w.-]{0,99})([ \t\r]*)")
_TITLED = frozenset(("metadata:", "application:"))
_COMMENT = pattern(r"[ \t]*#[\w .,;'/-]*\r?")
_NUMBERS = pattern(r"(?<![A-Za-z0-9])[0-9]+(?![A-Za-z0-9])")
_RESERVED = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


class _Line(NamedTuple):
    """A line that holds a name, between `head` and `tail`; `titled`: if the line before says so."""

    head: str
    name: str
    tail: str
    titled: bool


class TextShape(NamedTuple):
    """`key`: the file's name and text, words in place of names. `names`: what they stand for here."""

    key: tuple[str, str]
    words: tuple[str, ...]
    names: tuple[str, ...]


class Read(NamedTuple):
    """What the surest format made of a text. No `format`: none wants it; `loaded` may also be None because
    little of it is Kafka's. `failures`: formats that failed to say."""

    format: str | None
    loaded: Loaded | None
    failures: tuple[str, ...] = ()


class TextShapes:
    """The shapes of one audit. `markers`: what formats look for in a text stays as it is."""

    def __init__(self, markers: Iterable[str]) -> None:
        words = {"kafka", "spring", *(marker.lower() for marker in markers)}
        # Who holds `kafka.topics` holds `kafka`.
        self._words = sorted(word for word in words if not any(one in word for one in words - {word}))
        # Seen once: None. Seen twice: what was read, or False where each must be read by itself.
        self._known: dict[tuple[tuple[str, str], object], Told | bool | None] = {}
        self._lines: dict[str, _Line | str | None] = {}
        self._alike = 0

    def read(
        self,
        file: str,
        text: str,
        beside: Callable[[str], str | None],
        load: Callable[[Source], Read],
        about: object = None,
    ) -> Read:
        """As `load` reads it; `about` is what else it goes by. No shape is shared whose format looks at other
        files or refuses the text."""
        shape = self._shape(file, text)
        if shape is None:
            return load(Source(file, text, beside))
        mark = shape.key, about
        if mark not in self._known:
            if len(self._known) >= SHAPES_MAX:
                self._known.clear()
            self._known[mark] = None
            # Where most texts have turned out alike, the next will be too.
            if self._alike <= len(self._known):
                return load(Source(file, text, beside))
        known = self._known[mark]
        if known is None:
            known = self._known[mark] = _shared(shape, load)
        self._alike += 1
        if not isinstance(known, Told):
            return load(Source(file, text, beside))
        found: Read = known.under(shape.names)
        return found

    def _shape(self, file: str, text: str) -> TextShape | None:
        """None where the text or its name holds a word that stands for a name."""
        if STAND_IN.search(text) or STAND_IN.search(file):
            return None
        names: dict[str, str] = {}
        folder, slash, base = file.rpartition("/")
        # Some formats take a folder of this name for what it says.
        if folder.rpartition("/")[2].lower() == "topics":
            home = "topics/"
        else:
            home = f"{names.setdefault(folder, word(0))}/" if slash else ""
        base = _NUMBERS.sub(lambda found: names.setdefault(found[0], word(len(names))), base)
        known = len(names)
        lines = text.split("\n")
        held = self._masked(lines, names)
        plain = "\n".join(lines)
        for name in list(names)[known:]:
            if name in plain:  # What stands elsewhere too may mean something there.
                del names[name]
                for place, line in held:
                    if line.name == name:
                        lines[place] = f"{line.head}{name}{line.tail}"
                plain = "\n".join(lines)
        whole = home + base
        return TextShape((whole, plain), (whole, *names.values()), (file, *names))

    def _masked(self, lines: list[str], names: dict[str, str]) -> list[tuple[int, _Line]]:
        """Puts words in place of names, and gives the lines that had some."""
        held = []
        for place, line in enumerate(lines):
            kind = self._lines.get(line, line)
            if kind is line:
                kind = self._looked_at(line)
            if kind is None:
                continue
            if isinstance(kind, str):
                lines[place] = kind
            elif not kind.titled or (place and lines[place - 1].strip() in _TITLED):
                stand_in = names.get(kind.name)
                if stand_in is None:
                    # Numbered by all there ever were: one that is taken back leaves its number unused.
                    stand_in = names[kind.name] = word(len(names))
                lines[place] = f"{kind.head}{stand_in}{kind.tail}"
                held.append((place, kind))
        return held

    def _tells(self, text: str) -> bool:
        lower = text.lower()
        # Of thousands of lines: `any` of a generator would cost twice as much.
        return bool([one for one in self._words if one in lower])

    def _looked_at(self, line: str) -> _Line | str | None:
        """What a line is: one with a name, a comment that says nothing, or (None) any other."""
        if len(self._lines) >= LINES_MAX:
            self._lines.clear()
        kind: _Line | str | None = None
        named = _NAMED.fullmatch(line)
        found = named or _TITLE.fullmatch(line)
        if found is not None:
            head, name, tail = found.groups()
            # What looks like a secret is one wherever it stands.
            plain = name.lower() not in _RESERVED and not holds_secret(name)
            if plain and not self._tells(name):
                kind = _Line(head, name, tail, named is None)
        elif _COMMENT.fullmatch(line) and not self._tells(line):
            kind = "#"
        self._lines[line] = kind
        return kind


def _shared(shape: TextShape, load: Callable[[Source], Read]) -> Told | bool:
    looked: list[str] = []

    def beside(name: str) -> str | None:
        looked.append(name)
        return None

    try:
        found = load(Source(*shape.key, beside))
        return False if looked or found.failures else told(found, shape.words)
    except Exception:  # It is read again under its own name, and then the error is told.
        return False
