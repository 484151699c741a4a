"""`.env` and `*.env`: the variables of a Kafka container, kept in a file of their own."""

import re
from typing import NamedTuple

from advisor.api import Document, Loaded, Source, known_anywhere

from ..brokers import broker_facts, listener_hints, worker_hints
from .image_names import guess
from .images import Variable, escaped_key, read_environment


class Line(NamedTuple):
    """`NAME=text`; `text` is None for a bare NAME. `literal`: single quotes, nothing is filled in."""

    name: str
    text: str | None
    line: int
    literal: bool = False


_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.\-]*)\s*(=|$)[ \t]*(.*)", re.DOTALL)
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$$"}


def parse_env(text: str) -> list[Line]:
    """The variables of an env file, in order. Lines that are none are passed over, as Compose would
    refuse the whole file and other readers skip them."""
    found = []
    rows = text.splitlines()
    at = 0
    while at < len(rows):
        row = rows[at]
        at += 1
        match = _LINE.match(row)
        if not match or row.lstrip().startswith("#"):
            continue
        name, equals, rest = match.groups()
        if not equals:
            found.append(Line(name, None, at))
            continue
        quote = rest[:1]
        if quote not in ("'", '"'):
            comment = _COMMENT.search(rest)
            found.append(Line(name, rest[: comment.start() if comment else None].strip(), at))
            continue
        first = at
        end = _closing(rest, quote, 1)
        # A quoted value may run over several lines.
        while end < 0 and at < len(rows) and at - first < 20:
            start = len(rest)
            rest += "\n" + rows[at]
            at += 1
            end = _closing(rest, quote, start)
        if end < 0:
            at = first
            found.append(Line(name, match[3].strip(), first))
            continue
        value = rest[1:end]
        if quote == '"':
            value = re.sub(r'\\([nrt"\\$])', lambda escape: _ESCAPES[escape[1]], value)
        found.append(Line(name, value, first, quote == "'"))
    return found


def _closing(text: str, quote: str, start: int) -> int:
    pattern = r'(?:[^"\\]|\\.)*"' if quote == '"' else r"[^']*'"
    match = re.compile(pattern, re.DOTALL).match(text, start)
    return match.end() - 1 if match else -1


def claim(name: str, text: str) -> int:
    if "KAFKA_" not in text and "CONNECT_" not in text:
        return 0
    base = name.rsplit("/", 1)[-1].lower()
    if not (base.endswith(".env") or base.startswith(".env")):
        return 0
    names = [line.name for line in parse_env(text)]
    image = guess(names)
    if image is None:
        return 0
    prefix = "CONNECT_" if image.component == "connect" else "KAFKA_"
    known = sum(
        known_anywhere(escaped_key(name.removeprefix(prefix).removeprefix("CFG_")))
        for name in names
        if name.startswith(prefix)
    )
    return 80 if known >= 2 else 0


def load(source: Source) -> Loaded:
    lines = parse_env(source.text)
    image = guess(line.name for line in lines)
    if image is None:
        return Loaded((), "skipped", "no variables of a Kafka container")
    variables = {
        line.name: Variable(
            line.name, f"${{{line.name}}}" if line.text is None else line.text, source.file, line.line
        )
        for line in lines
    }
    environment = read_environment(image, variables.values())
    name = source.file.rsplit("/", 1)[-1]
    if image.component == "connect":
        document = Document(
            source.file,
            "envfile",
            "connect",
            name,
            environment.settings,
            client="connect",
            dropped=environment.dropped,
            hints=worker_hints(environment.settings),
        )
    else:
        document = Document(
            source.file,
            "envfile",
            "broker",
            name,
            environment.settings,
            facts=broker_facts(environment.settings),
            dropped=environment.dropped,
            hints=listener_hints(environment.settings),
        )
    return Loaded((document,))
