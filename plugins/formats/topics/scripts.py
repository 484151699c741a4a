"""Shell scripts: the topics that they make with Kafka's own tool.

    kafka-topics.sh --create --topic orders --partitions 6 --replication-factor 3 --config retention.ms=1000

A name that a variable gives is no name, and a number that one gives is not known. The server that the tool is
told says which cluster it is, and so does a container of this host that it runs in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from advisor.api import Document, Fact, Loaded, Location, Origin, Setting, Source, is_digits, setting

FORMAT = "script"
_TOOL = re.compile(r"\bkafka-topics(?:\.sh)?\b")
_OPTION = re.compile(
    r"--(?P<name>topic|partitions|replication-factor|config|bootstrap-server|zookeeper)(?:[ \t]++|=)"
    r"(?:\"(?P<double>[^\"\n]{0,400})\"|'(?P<single>[^'\n]{0,400})'|(?P<plain>[^\s;&|\"']{1,400}))"
)
_ENDS = re.compile(r"&&|\|\||;|\n|\|")
_ADDRESSES = re.compile(r"[\w.-]{1,250}:[0-9]{1,5}(?:,[\w.-]{1,250}:[0-9]{1,5}){0,50}")
_ASSIGNED = re.compile(
    r"^[ \t]*+(?:export[ \t]++)?+([A-Za-z_]\w*+)=[\"']?([\w.,:-]++)[\"']?[ \t]*+$", re.MULTILINE
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*+)\}?")
# Containers of the host that the script runs on.
_IN_CONTAINER = re.compile(r"\bdocker(?:-compose|[ \t]++compose)?+[ \t]++(?:exec|run)\b")
_IN_POD = re.compile(r"\b(?:kubectl|oc)[ \t]")
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
    assigned = dict(_ASSIGNED.findall(text))
    for tool in _TOOL.finditer(joined):
        start = joined.rfind("\n", 0, tool.start()) + 1
        if joined[start : tool.start()].lstrip().startswith("#"):
            continue
        end = _ENDS.search(joined, tool.end())
        command = joined[tool.end() : end.start() if end else len(joined)]
        if "--create" not in command:
            continue
        before = joined[start : tool.start()]
        document = _document(file, command, tool.end(), starts, _Runner(before, assigned))
        if document is not None and document.name not in made:
            made.add(document.name)
            yield document


class _Runner:
    """Where the tool runs, by what stands before it, and the script's own variables."""

    def __init__(self, before: str, assigned: Mapping[str, str]) -> None:
        self.in_container = _IN_CONTAINER.search(before) is not None
        self._in_pod = _IN_POD.search(before) is not None
        self._assigned = assigned

    def servers(self, option: str, value: str) -> str:
        """Addresses of brokers. Of ZooKeeper's only whether it runs here is of use, and in a pod of
        Kubernetes `localhost` says nothing."""
        value = _VARIABLE.sub(lambda found: self._assigned.get(found[1], found[0]), value)
        if option == "zookeeper":
            value = value.partition("/")[0]
        local = value.startswith(("localhost:", "127."))
        unsaid = (self._in_pod and local) or (option == "zookeeper" and not local)
        return "" if unsaid or _ADDRESSES.fullmatch(value) is None else value


def _document(file: str, command: str, offset: int, starts: list[int], runner: _Runner) -> Document | None:
    from bisect import bisect_right

    name, facts, settings, servers = "", [], [], ""
    first = bisect_right(starts, offset)
    for option in _OPTION.finditer(command):
        value = option["double"] or option["single"] or option["plain"] or ""
        line = bisect_right(starts, offset + option.start())
        if option["name"] == "topic":
            name, first = value, line
        elif option["name"] == "config":
            settings += list(_settings(file, value, line))
        elif option["name"] not in _FACTS:
            servers = runner.servers(option["name"], value) or servers
        elif is_digits(value):
            facts.append(Fact(_FACTS[option["name"]], value, Origin("file", Location(file, line))))
    if not name or re.fullmatch(r"[\w.-]{1,249}", name) is None:
        return None
    found = [("bootstrap", one) for one in servers.split(",") if one]
    hints = (("topic", name), *found, *((("host", "docker"),) if runner.in_container else ()))
    return Document(file, FORMAT, "topic", name, tuple(settings), line=first, facts=tuple(facts), hints=hints)


def _settings(file: str, value: str, line: int) -> Iterator[Setting]:
    key, equals, given = value.partition("=")
    if equals and key:
        yield setting(key.strip(), given, file, line)
