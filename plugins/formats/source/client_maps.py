"""Maps and Properties that Java or Kotlin code fills for a Kafka client.

    props.put(ProducerConfig.ACKS_CONFIG, "all");     props[ConsumerConfig.GROUP_ID_CONFIG] = "billing"
    Map.of("acks", "all", ...)                        mapOf(ProducerConfig.ACKS_CONFIG to "all")

One document for each map of one method. What is put inside a condition may be there or not, and is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import Document, Setting, Unknown, known_anywhere, setting

from .. import roles
from ..properties import hints, stem_of
from .jvm import imports, key_of, value_text
from .literals import Code

FORMAT = "java-source"
_PUTS = ("put", "setProperty", "putIfAbsent")
_FACTORIES = {
    "KafkaProducer": "producer",
    "DefaultKafkaProducerFactory": "producer",
    "KafkaConsumer": "consumer",
    "DefaultKafkaConsumerFactory": "consumer",
    "KafkaStreams": "streams",
    "KafkaStreamsConfiguration": "streams",
    "KafkaAdmin": "admin",
}
_OF_BOOT = (
    "buildConsumerProperties",
    "buildProducerProperties",
    "buildStreamsProperties",
    "buildAdminProperties",
)
_BLOCKS = frozenset(("if", "for", "while", "switch", "catch", "when", "synchronized", "try"))


class _Put(NamedTuple):
    key: str
    owner: str
    text: str
    line: int
    depth: int


class _Filled(NamedTuple):
    """A map: the method it stands in, its name, what is put."""

    method: str
    place: int
    name: str
    line: int
    puts: list[_Put]


class _Around:
    """What a file says around its maps, looked up once: methods, clients that are made, Boot's settings."""

    def __init__(self, code: Code) -> None:
        self.known = imports(code)
        self.method_at, self.depth_at = _places(code)
        # The client that a map is handed to, and whether Spring makes it, by the method and the map's name.
        self._handed: dict[tuple[int, str], tuple[str, bool]] = {}
        self.spring = False
        self.of_boot: set[int] = set()
        for at, token in enumerate(code.tokens):
            if token.kind != "name":
                continue
            if token.text in ("AdminClient", "Admin") and code.name(at + 2) == "create":
                for name in _handed(code, at + 2):
                    self._handed.setdefault((self.method_at[at][0], name), ("admin", False))
            elif token.text in _FACTORIES:
                self.spring = self.spring or token.text.startswith("Default")
                made = _FACTORIES[token.text], token.text.startswith("Default")
                for name in _handed(code, at):
                    self._handed.setdefault((self.method_at[at][0], name), made)
            elif token.text in _OF_BOOT:
                self.of_boot.add(self.method_at[at][0])

    def handed(self, filled: _Filled) -> tuple[str, bool] | None:
        """What is made of it in its own method, else of a map of this name anywhere, if that is one kind."""
        here = self._handed.get((filled.place, filled.name))
        elsewhere = {made for (_, name), made in self._handed.items() if name == filled.name}
        return here or (elsewhere.pop() if len(elsewhere) == 1 else None)

    def is_handed_here(self, filled: _Filled) -> bool:
        return (filled.place, filled.name) in self._handed


def client_maps(file: str, code: Code) -> Iterator[Document]:
    around = _Around(code)
    seen: dict[str, int] = {}
    for filled in [*_filled(code, around), *_literal(code, around)]:
        component = _component(filled, around)
        keys = [put.key for put in filled.puts if known_anywhere(put.key)]
        named = any(put.owner for put in filled.puts) or any("." in key for key in keys)
        if component is None or not named or len(keys) < 2:
            continue
        settings = tuple(_settings(file, filled))
        number = seen[component] = seen.get(component, 0) + 1
        own = filled.method or filled.name or f"line {filled.line}"
        name = f"{stem_of(file)} {component}" + (f" {own}" if number > 1 else "")
        # The method begins with what Spring Boot has read from its own files.
        laid = (("laid-over", component),) if filled.place in around.of_boot else ()
        handed = around.handed(filled)
        plain = handed is not None and not handed[1]
        client = "streams" if component == "streams" else "spring" if around.spring and not plain else "java"
        found = (*hints(component, settings), *laid, *((("bean", filled.method),) if filled.method else ()))
        yield Document(file, FORMAT, component, name, settings, client, filled.line, (), (), found)


def _places(code: Code) -> tuple[list[tuple[int, str]], list[int]]:
    """For each token the method it stands in, by its place and its name, and how deep in braces it is."""
    bodies = dict(_methods(code))
    inside: list[tuple[int, int, str]] = []
    methods: list[tuple[int, str]] = []
    depths: list[int] = []
    depth = 0
    for at, token in enumerate(code.tokens):
        if token.kind == "sign" and token.text == "}":
            depth -= 1
        while inside and inside[-1][1] <= at:
            inside.pop()
        methods.append((inside[-1][0], inside[-1][2]) if inside else (-1, ""))
        depths.append(depth)
        if token.kind == "sign" and token.text == "{":
            depth += 1
            if at in bodies:
                inside.append((at, code.closing.get(at, at), bodies[at]))
    return methods, depths


def _methods(code: Code) -> Iterator[tuple[int, str]]:
    """Where each method's body begins, and its name: `name(...) throws X {`, `fun name(...): Type {`."""
    for at, token in enumerate(code.tokens):
        close = code.closing.get(at + 1) if token.kind == "name" and code.sign(at + 1, "(") else None
        if close is None or token.text in _BLOCKS or code.sign(at - 1, ".") or code.name(at - 1) == "new":
            continue
        place = close + 1
        while place < min(close + 24, len(code.tokens)) and not (
            code.sign(place, "{") or code.sign(place, ";")
        ):
            place += 1
        if code.sign(place, "{"):
            yield place, token.text


def _handed(code: Code, at: int) -> Iterator[str]:
    """The names that a client is made of: `new KafkaProducer<>(props)`."""
    place = at + 1
    while place < min(at + 12, len(code.tokens)) and not code.sign(place, "("):
        place += 1
    close = code.closing.get(place)
    for start, end in code.split(place + 1, close) if close is not None else ():
        name = code.name(start) if end == start + 1 else None
        if name is not None:
            yield name


def _filled(code: Code, around: _Around) -> Iterator[_Filled]:
    """`name.put(key, value)` and Kotlin's `name[key] = value`, by method and name."""
    found: dict[tuple[int, str], _Filled] = {}
    for at, token in enumerate(code.tokens):
        if token.kind != "name":
            continue
        place = _put_at(code, at)
        if place is None:
            continue
        (key_start, key_end), (start, end) = place
        key = key_of(code, key_start, key_end)
        if key is None:
            continue
        begin, method = around.method_at[at]
        mark = (begin, token.text)
        if mark not in found:
            found[mark] = _Filled(method, begin, token.text, token.line, [])
        text = value_text(code, start, end, around.known)
        found[mark].puts.append(_Put(key[0], key[1], text, token.line, around.depth_at[at]))
    yield from found.values()


def _put_at(code: Code, at: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if code.sign(at + 1, ".") and code.name(at + 2) in _PUTS and code.sign(at + 3, "("):
        close = code.closing.get(at + 3)
        arguments = code.split(at + 4, close) if close is not None else []
        return (arguments[0], arguments[1]) if len(arguments) == 2 else None
    close = code.closing.get(at + 1) if code.sign(at + 1, "[") and code.language == "kotlin" else None
    if close is not None and code.sign(close + 1, "=") and not code.sign(close + 2, "="):
        return (at + 2, close), (close + 2, code.end_of_statement(close + 2))
    return None


def _literal(code: Code, around: _Around) -> Iterator[_Filled]:
    """Map.of(key, value, ...) and mapOf(key to value, ...)."""
    for at, token in enumerate(code.tokens):
        close = code.closing.get(at + 1) if token.kind == "name" and code.sign(at + 1, "(") else None
        if close is None or token.text not in ("of", "mapOf", "mutableMapOf", "hashMapOf", "ofEntries"):
            continue
        if token.text == "of" and code.name(at - 2) != "Map":
            continue
        arguments = code.split(at + 2, close)
        if token.text == "of":
            pairs = list(zip(arguments[::2], arguments[1::2], strict=False))
        else:
            pairs = [pair for one in arguments if (pair := _by_to(code, *one)) is not None]
        puts = []
        for (key_start, key_end), (start, end) in pairs:
            key = key_of(code, key_start, key_end)
            if key is not None:
                text = value_text(code, start, end, around.known)
                puts.append(_Put(key[0], key[1], text, code.tokens[key_start].line, 0))
        begin, method = around.method_at[at]
        yield _Filled(method, begin, "", token.line, puts)


def _by_to(code: Code, start: int, end: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    middle = next((at for at in range(start, end) if code.name(at) == "to"), None)
    return None if middle is None else ((start, middle), (middle + 1, end))


def _component(filled: _Filled, around: _Around) -> str | None:
    """A key that only Streams has settles it: what else stands there, Streams hands to its clients. Else
    whose constants they are, else the client that is made of the map there, else what its keys say; a map of
    the same name that another method hands on may well be another map."""
    made = around.handed(filled)
    handed = made[0] if made is not None else None
    if any(roles.components(put.key) == {"streams"} for put in filled.puts):
        return "admin" if handed == "admin" else "streams"
    owners = [put.owner for put in filled.puts if put.owner]
    sides = [roles.only_side(put.key) for put in filled.puts]
    for side, other in (("producer", "consumer"), ("consumer", "producer")):
        told = owners or not around.is_handed_here(filled)
        if told and sides.count(side) > 1 and other not in sides:
            return side  # both classes have constants of one name for what both clients know
    if owners:
        return max(sorted(set(owners)), key=owners.count)
    if handed is not None:
        return handed
    found = roles.infer([put.key for put in filled.puts], filled.name)
    return (
        found[0].component if len(found) == 1 and found[0].component in (*roles.CLIENTS, "streams") else None
    )


def _settings(file: str, filled: _Filled) -> Iterator[Setting]:
    held: dict[str, Setting] = {}
    least = min((put.depth for put in filled.puts), default=0)
    for put in filled.puts:
        one = setting(put.key, put.text, file, put.line)
        if put.depth > least:
            one = one._replace(value=Unknown("a condition of the code decides"))
        held[put.key] = one  # of two the later counts
    yield from held.values()
