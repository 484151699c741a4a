"""Logstash pipelines: the consumers and producers of its kafka inputs and outputs.

    input { kafka { bootstrap_servers => "kafka:9092" topics => ["orders"] } }

Options have underscores for dots, and defaults of Logstash's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import Document, Loaded, Setting, Source, setting

from .. import roles
from ..maps.node_settings import completed
from ..properties import hints, stem_of

FORMAT = "logstash"
_CLAIM = re.compile(r"^[ \t]*+kafka[ \t]*+\{", re.MULTILINE)
_WORD = re.compile(
    r"#[^\n]*|(?P<text>\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')|(?P<open>[{\[])|(?P<close>[}\]])"
    r"|(?P<arrow>=>)|(?P<word>[\w.@%-]+)|(?P<line>\n)",
)
# The documentation of Logstash's kafka integration. Its outputs have acks=1, which who ships logs may well
# want: it is judged where it is written.
_DEFAULTS = {"producer": {}, "consumer": {"group.id": "logstash", "enable.auto.commit": "true"}}
_SIDES = {"input": "consumer", "output": "producer"}
_TOPICS = ("topics", "topic_id")


def claim(name: str, text: str) -> int:
    return 80 if _CLAIM.search(text) and "=>" in text else 0


def load(source: Source) -> Loaded:
    found = tuple(_documents(source.file, source.text))
    if not found:
        return Loaded((), "skipped", "no kafka input or output stands in it")
    return Loaded(found, "partial", "Logstash adds its own settings to these")


class _Plugin:
    """One `kafka { ... }` while it is read."""

    def __init__(self, component: str, line: int) -> None:
        self.component, self.line = component, line
        self.options: dict[str, tuple[list[str], int]] = {}


def _documents(file: str, text: str) -> Iterator[Document]:
    side, line, before = "", 1, ""
    # What each brace that is open belongs to.
    around: list[str] = []
    plugin: _Plugin | None = None
    option: str | None = None
    for word in _WORD.finditer(text):
        if word["line"]:
            line += 1
        elif word["open"]:
            around.append(before if word["open"] == "{" else "[")
            if len(around) == 1:
                side = _SIDES.get(before, "")
            elif before == "kafka" and side and plugin is None:
                plugin = _Plugin(side, line)
            before = ""
        elif word["close"]:
            inner = around.pop() if around else ""
            if inner == "kafka" and plugin is not None:
                yield _document(file, plugin)
                plugin = None
            before = ""
        elif word["arrow"]:
            option = before if plugin is not None and around and around[-1] == "kafka" else None
            if option and plugin is not None:
                plugin.options[option] = ([], line)
        elif word["text"] or word["word"]:
            value = word["text"][1:-1] if word["text"] else word["word"]
            held = plugin.options.get(option) if plugin is not None and option else None
            if held is not None and (not held[0] or (around and around[-1] == "[")):
                held[0].append(value)
            before = value


def _document(file: str, plugin: _Plugin) -> Document:
    component = plugin.component
    settings = []
    for name, (values, line) in plugin.options.items():
        key = name.replace("_", ".")
        if values and component in roles.components(key):
            settings.append(setting(key, ",".join(values), file, line))
    full: tuple[Setting, ...] = completed(settings, _DEFAULTS[component], "Logstash")
    topics = [
        topic for name in _TOPICS for topic in plugin.options.get(name, ((), 0))[0] if "%{" not in topic
    ]
    found = (*hints(component, full), *(("topic", topic) for topic in topics))
    named = f"{stem_of(file)} {topics[0]}" if topics else stem_of(file)
    return Document(file, FORMAT, component, named, full, "java", plugin.line, (), (), found)
