"""The frozen values that travel from a file to a report.

NamedTuples, not dataclasses: thousands are made in one audit, and importing dataclasses
would cost more than reading a small file.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from .tuples import NamedTuple


class Secret:
    """A value that must not be shown: every way of printing it gives `<secret>`.

    The raw text is had by `reveal()` alone, which only accept and fix may call (a test greps).
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format("<secret>", spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never pickled")


class Undisclosed(Secret):
    """The value of a key that nobody knows: it may be compared, but as nothing says what it holds, every way
    of printing it gives `<hidden>`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<hidden>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format("<hidden>", spec)

    def compared(self) -> str:
        """For conditions and marks of what they depend on; never for a message."""
        return self._text


class Unknown:
    """A value that is filled in elsewhere (`${VAR}`, Jinja, Helm): never guessed, never a success."""

    __slots__ = ("template",)

    def __init__(self, template: str) -> None:
        self.template = template

    def __repr__(self) -> str:
        return f"unknown ({self.template})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and other.template == self.template

    def __hash__(self) -> int:
        return hash((Unknown, self.template))


Value = str | Secret | Unknown


class Location(NamedTuple):
    """A place in a file; `file` is POSIX and relative to the root of the audit."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


def in_file_order(places: Iterable[Location]) -> tuple[Location, ...]:
    """Each place once; a whole file comes before its lines."""
    return tuple(sorted(set(places), key=lambda place: (place.file, place.line or 0)))


class Origin(NamedTuple):
    """Where a value comes from.

    kind: file | default | assumed | project (kafka-advisor.toml) | set (command line).
    note: what a reader needs besides, e.g. "default of 3.9" or "default of ${ACKS:-all}".
    """

    kind: str
    at: Location | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.at is not None:
            return f"{self.at} ({self.note})" if self.note else str(self.at)
        return self.note or self.kind


class Setting(NamedTuple):
    """One key and value as Kafka receives it."""

    key: str
    value: Value
    origin: Origin


class Fact(NamedTuple):
    """What is no configuration key: topic.partitions, topic.replication_factor, cluster.brokers,
    cluster.racks, cluster.mode (zk|kraft), cluster.elr, group.members, kafka.version; of a consumer
    consumer.subscription (assign|subscribe), pod.names and instance.names (random|stable)."""

    name: str
    value: str
    origin: Origin


class Dropped(NamedTuple):
    """Something written in a file that never reaches Kafka, and why.

    cause: overridden | binds-to-nothing | forbidden | not-mapped | no-escape | service-link |
    needs-prefix | never-applied. `meant` is what would reach Kafka instead, if known.
    """

    key: str
    value: Value
    at: Location
    cause: str
    detail: str
    meant: str | None = None


class Document(NamedTuple):
    """One configuration of one Kafka component, as found in a file.

    component: producer | consumer | admin | broker | topic | connect | connect-standalone | streams |
    group | mm2 | connector | user | workload (what runs a client) | listener (what a method of Spring reads).
    client: java | librdkafka | spring | connect | streams (who reads it).
    hints: evidence for linking, pairs such as ("topic", "orders"), ("group", "billing"),
    ("cluster", "my-cluster"), ("bootstrap", "kafka:9092"), ("listener", "kafka:9092"),
    ("compose", "docker-compose.yml").
    partial: what is not read of its file may set more keys, so what it lacks proves nothing.
    """

    file: str
    format: str
    component: str
    name: str
    settings: tuple[Setting, ...]
    client: str = "java"
    line: int | None = None
    facts: tuple[Fact, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hints: tuple[tuple[str, str], ...] = ()
    partial: bool = False


class Loaded(NamedTuple):
    """What a format made of one file. A `partial` or `skipped` file carries its reason."""

    documents: tuple[Document, ...]
    status: str = "audited"
    reason: str | None = None


class Source(NamedTuple):
    """A file handed to a format: decoded text, and a reader for files beside it.

    `read` takes a path relative to this file's folder and gives its text, or None if it is missing,
    too large, or outside the root.
    """

    file: str
    text: str
    read: Callable[[str], str | None]


class LoadError(Exception):
    """A file that looks like a format but cannot be read as it; becomes KA001 with file and line."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class UsageError(Exception):
    """Something the user asked for cannot be done as asked: exit code 2, one clear line."""


class Deployment(NamedTuple):
    """Who writes where: documents that belong together, each link with its reason."""

    id: str
    producer: Document | None
    topic: Document | None
    cluster: tuple[Document, ...]
    groups: tuple[Document, ...]
    version: str
    facts: tuple[Fact, ...]
    workload: Mapping[str, Any]
    joined_by: tuple[str, ...]


def members_of(deployment: Deployment) -> list[Document]:
    parts = (deployment.producer, deployment.topic, *deployment.cluster, *deployment.groups)
    return [document for document in parts if document is not None]


# What `fix` may do with a change: write it; show it, and write it when its code is named; tell it.
SAFE, REVIEW, ADVICE = "safe", "review", "advice"


class Change(NamedTuple):
    """One edit of a fix. action: set | add | remove."""

    component: str
    key: str
    before: str | None
    after: str | None
    file: str | None
    line: int | None
    action: str


class Edit(NamedTuple):
    """A value that a person would write to mend something; None takes the line out. An edit without a key is
    advice: `field` names the fact it changes and `command` says what to run, because no file can set it.
    `of`: the file and name of the one group it is for, of several. `safety`: safe | review | advice; if it is
    empty, that of the rule counts."""

    field: str
    component: str
    key: str | None
    value: str | None
    command: str | None = None
    of: tuple[str, str] | None = None
    safety: str = ""


class Fix(NamedTuple):
    """Changes that, applied together, silence the finding. `verified` names what was asked again; where that
    depends on what is not in sight, `condition` says when it holds. `safety`: safe | review | advice."""

    changes: tuple[Change, ...]
    verified: tuple[str, ...] = ()
    price: str | None = None
    smallest: bool = False
    condition: str | None = None
    safety: str = SAFE


class Evidence(NamedTuple):
    """Why a finding stands. kind: trace | start | budget | plumbing."""

    kind: str
    numbers: tuple[tuple[str, str], ...] = ()
    guarantee: str | None = None
    environment: tuple[tuple[str, int], ...] = ()
    faults: tuple[tuple[str, int], ...] = ()
    bounds: str | None = None
    states: int | None = None
    trace: tuple[Mapping[str, Any], ...] = ()


class Tolerated(NamedTuple):
    """How many of one fault are survived; `exhausted`: as many as were tried, perhaps more."""

    fault: str
    survives: int | None
    broken_by: int | None
    exhausted: bool


class GuaranteeAnswer(NamedTuple):
    """What a guarantee comes to in one deployment. verdict: holds | broken | unknown."""

    name: str
    verdict: str
    tolerance: tuple[Tolerated, ...] = ()
    bounds: str | None = None
    states: int | None = None
    depends_on: tuple[str, ...] = ()
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As the report has it."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "tolerance": [one._asdict() for one in self.tolerance],
            "bounds": self.bounds,
            "states": self.states,
            "depends_on": list(self.depends_on),
            "reason": self.reason,
        }


class Finding(NamedTuple):
    """One thing to mend, at one place. `advice` is what no file can set: steps to take, commands to run.
    `not_fixed`: why a change that would help is not offered. `assuming`: what it rests on, out of sight."""

    code: str
    name: str
    severity: str
    message: str
    at: Location
    resource: str
    keys: tuple[str, ...]
    settings: tuple[tuple[str, Setting], ...] = ()
    evidence: Evidence = Evidence("start")
    fixes: tuple[Fix, ...] = ()
    deployment: str | None = None
    covers: tuple[str, ...] = ()
    also_at: tuple[Location, ...] = ()
    suppressed: tuple[str, str] | None = None
    advice: tuple[str, ...] = ()
    assuming: tuple[str, ...] = ()
    # Other deployments that have the same from the same place.
    shared_by: tuple[str, ...] = ()
    not_fixed: str = ""
