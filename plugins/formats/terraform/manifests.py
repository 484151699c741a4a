"""Resources of Strimzi's inside Terraform: manifests in YAML, as `kubectl_manifest` and `yamldecode` take.

yaml_body = <<YAML
  apiVersion: kafka.strimzi.io/v1beta2
YAML
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from advisor.api import Document, LoadError, Source

from ..strimzi import strimzi
from .written import FORMAT

_HEREDOC = re.compile(r"<<[-~]?(\w{1,40})[ \t]*\r?\n(.*?)^[ \t]*\1\b", re.DOTALL | re.MULTILINE)
MARK = "kafka.strimzi.io/"


def manifests(source: Source) -> Iterator[Document]:
    for found in _HEREDOC.finditer(source.text):
        if MARK not in found[2]:
            continue
        # As many empty lines before it as the file has, so that lines keep their numbers.
        above = "\n" * source.text.count("\n", 0, found.start(2))
        try:
            inner = strimzi.load(Source(source.file, above + dedent(found[2]), lambda _: None))
        except LoadError:
            continue  # what is inside another file is told by no line of its own
        for document in inner.documents:
            yield document._replace(format=FORMAT, partial=inner.status == "partial" or document.partial)
