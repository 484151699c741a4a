"""Shell scripts: the topics that they make with Kafka's own tool.

    kafka-topics.sh --create --topic orders --partitions 6 --replication-factor 3 --config retention.ms=1000

A name that a variable gives is no name, and a number that one gives is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import Document, Fact, Loaded, Location, Origin, Setting, Source, is_digits, setting

FORMAT = "script"
_TOOL = re.compile(r"\bkafka-topics(?:\.sh)?\b")
_OPTION = re.compile(
    r"--(?P<name>topic|partitions|replication-factor|config)(?:[ \t]++|=)"
    r"(?:\"(?P<double>[^\"\n]{0,400})\"|'(?P<single>[^'\n]{0,400})'|(?P<plain>[^\s;&|\"']{1,400}))"
)
_ENDS = re.compile(r"&&|\|\||;|\n|\|")
_FACTS = {"partitions": "topic.partitions", "replication-factor": "topic.replication_factor"}


def claim(name: str, text: str) -> int:
    return 60 if _TOOL.search(text) and "--create" in text else 0


def load(source: Source) -> Loaded:
    found = tuple(_documents(source.file, source.text))
    if not found:
        return Loaded((), "skipped", "a script: no topic that it makes is named in it")
    return Loaded(found, "partial", "a script: only the topics that it makes are read")


def _documents(file: str, text: str) -> Iterator[Document]:
    # A line that goes on keeps its number: what follows is looked for in one text of the same length.
    joined = text.replace("\\\r\n", "   ").replace("\\\n", "  ")
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    made: set[str] = set()
    for tool in _TOOL.finditer(joined):
        start = joined.rfind("\n", 0, tool.start()) + 1
        if joined[start : tool.start()].lstrip().startswith("#"):
            continue
        end = _ENDS.search(joined, tool.end())
        command = joined[tool.end() : end.start() if end else len(joined)]
        if "--create" not in command:
            continue
        document = _document(file, command, tool.end(), starts)
        if document is not None and document.name not in made:
            made.add(document.name)
            yield document


def _document(file: str, command: str, offset: int, starts: list[int]) -> Document | None:
    from bisect import bisect_right

    name, facts, settings = "", [], []
    first = bisect_right(starts, offset)
    for option in _OPTION.finditer(command):
        value = option["double"] or option["single"] or option["plain"] or ""
        line = bisect_right(starts, offset + option.start())
        if option["name"] == "topic":
            name, first = value, line
        elif option["name"] == "config":
            settings += list(_settings(file, value, line))
        elif is_digits(value):
            facts.append(Fact(_FACTS[option["name"]], value, Origin("file", Location(file, line))))
    if not name or re.fullmatch(r"[\w.-]{1,249}", name) is None:
        return None
    hints = (("topic", name),)
    return Document(file, FORMAT, "topic", name, tuple(settings), line=first, facts=tuple(facts), hints=hints)


def _settings(file: str, value: str, line: int) -> Iterator[Setting]:
    key, equals, given = value.partition("=")
    if equals and key:
        yield setting(key.strip(), given, file, line)
