"""Resources of Strimzi's inside Terraform: manifests in YAML, as `kubectl_manifest` and `yamldecode` take.

yaml_body = <<YAML
  apiVersion: kafka.strimzi.io/v1beta2
YAML
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from textwrap import dedent

from advisor.api import Document, LoadError, Source

from ..strimzi import strimzi
from .written import FORMAT

_OPENS = re.compile(r"<<[-~]?(\w{1,40}+)[ \t]*+\r?+$")
_FIRST_WORD = re.compile(r"[ \t]*+(\w{1,40}+)")
MARK = "kafka.strimzi.io/"


def manifests(source: Source) -> Iterator[Document]:
    for line, text in _heredocs(source.text.split("\n")):
        if MARK not in text:
            continue
        # As many empty lines before it as the file has, so that lines keep their numbers.
        above = "\n" * line
        try:
            inner = strimzi.load(Source(source.file, above + dedent(text), lambda _: None))
        except LoadError:
            continue  # what is inside another file is told by no line of its own
        for document in inner.documents:
            yield document._replace(format=FORMAT, partial=inner.status == "partial" or document.partial)


def _heredocs(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each `<<EOF ... EOF`: how many lines are above its text, and the text."""
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if found := _FIRST_WORD.match(line):
            ends.setdefault(found[1], []).append(number)
    number = 0
    while number < len(lines):
        opened = _OPENS.search(lines[number]) if "<<" in lines[number] else None
        number += 1
        after = ends.get(opened[1], []) if opened else []
        place = bisect_left(after, number)
        if place < len(after):
            yield number, "\n".join(lines[number : after[place]]) + "\n"
            number = after[place] + 1
