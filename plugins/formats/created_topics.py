"""Topics that a container makes when it starts: `KAFKA_CREATE_TOPICS=name:partitions:replicas[:policy]`."""

import re
from typing import NamedTuple

from advisor.api import Dropped, Fact, Location, Origin, Setting, is_digits, setting

from .containers.image_names import Image
from .containers.images import Variable


class Topic(NamedTuple):
    name: str
    line: int | None
    settings: tuple[Setting, ...]
    facts: tuple[Fact, ...]


# wurstmeister's create-topics.sh and debezium's docker-entrypoint.sh. Nobody else reads it.
_READS = {"wurstmeister": "KAFKA_CREATE_TOPICS", "debezium": "CREATE_TOPICS"}
_CONFIG = re.compile(r"--config[ =]([\w.\-]+)=(\S+)")


def topics_of(image: Image, variables: dict[str, Variable]) -> tuple[tuple[Topic, ...], tuple[Dropped, ...]]:
    """The topics a container makes, and the variable itself where its image does not read it."""
    wanted = _READS.get(image.family)
    given = variables.get(wanted) if wanted else None
    if given is not None:
        separator = variables.get("KAFKA_CREATE_TOPICS_SEPARATOR")
        entries = re.split(r"[,\n]" if separator is None else r"\n|" + re.escape(separator.text), given.text)
        topics = (_topic(entry.strip(), given) for entry in entries)
        return tuple(topic for topic in topics if topic is not None), ()
    ignored = variables.get("KAFKA_CREATE_TOPICS")
    if ignored is None:
        return (), ()
    at = Location(ignored.file, ignored.line)
    detail = "only the image wurstmeister/kafka makes topics of it: here no topic is created"
    return (), (Dropped(ignored.name, ignored.text, at, "not-mapped", detail),)


def _topic(entry: str, variable: Variable) -> Topic | None:
    name, _, rest = entry.partition(":")
    if not name or "${" in name:
        return None
    fields = rest.split(":")
    origin = Origin("file", Location(variable.file, variable.line), variable.note)
    facts = [
        Fact(fact, value.strip(), origin)
        for fact, value in zip(("topic.partitions", "topic.replication_factor"), fields, strict=False)
        if is_digits(value.strip())
    ]
    settings = []
    words = ":".join(fields[2:]).split()
    if words and not words[0].startswith("--"):
        settings.append(setting("cleanup.policy", words[0], variable.file, variable.line))
    for key, value in _CONFIG.findall(rest):
        settings.append(setting(key, value, variable.file, variable.line))
    return Topic(name.strip(), variable.line, tuple(settings), tuple(facts))
