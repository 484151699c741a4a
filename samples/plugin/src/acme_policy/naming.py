"""How topics are called at Acme: team.what.v1, in lower case."""

import re
from collections.abc import Iterator

from advisor.api import Context, Document, Hit, Location

_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+\.v[1-9][0-9]*")
# Topics that Kafka and its tools make for themselves.
_OTHERS = ("__", "connect-", "_schemas")


def topic_name(document: Document, context: Context) -> Iterator[Hit]:
    name = document.name
    if _NAME.fullmatch(name) or name.startswith(_OTHERS):
        return
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    meant = ".".join((words[0], "-".join(words[1:]) or "records", "v1"))
    yield Hit(
        at=Location(document.file, document.line),
        keys=(),
        fields={"topic": name, "meant": meant},
        advice=(f"create {meant}, let writers and readers move to it, delete {name}",),
    )
