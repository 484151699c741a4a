"""What a check sees besides its subject, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .catalog import Version
from .hookspecs import ClientSpec, FormatSpec
from .model import Deployment, Document, Edit, Fix, Location, Setting
from .tuples import NamedTuple


class Hit(NamedTuple):
    """One place where a rule's fault was seen. `fields` fill the rule's message; `numbers` are shown as
    evidence; `settings` are (component, Setting) pairs. A function behind
    several checks is called once per subject and names in `check` the one that a hit is for.

    `edits` are the values that a person would write, the best first: the smallest set of them after which the
    fault is gone, and nothing else is found, is offered as the fix. `advice` is what to do where no setting
    helps."""

    at: Location
    keys: tuple[str, ...]
    fields: Mapping[str, str]
    settings: tuple[tuple[str, Setting], ...] = ()
    fixes: tuple[Fix, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    also_at: tuple[Location, ...] = ()
    severity: str | None = None
    check: str | None = None
    edits: tuple[Edit, ...] = ()
    advice: tuple[str, ...] = ()


Step = Mapping[str, Any]  # of a trace, as the report has it
Again = Callable[[Deployment], Sequence[Step]]


class Judgement(NamedTuple):
    """What the code behind a guarantee says of one deployment.

    verdict: holds | broken (then `hit` says where, and `trace` may carry the run, step by step) | unknown
    (then `reason` says why and `depends_on` names what would decide it). `environment` and `faults` are those
    it was asked under. `again` plays what `trace` shows with the settings of another deployment.
    """

    verdict: str
    hit: Hit | None = None
    trace: tuple[Mapping[str, Any], ...] = ()
    environment: Mapping[str, int] = {}
    faults: Mapping[str, int] = {}
    bounds: str | None = None
    states: int | None = None
    depends_on: tuple[str, ...] = ()
    reason: str | None = None
    again: Again | None = None


class Question(NamedTuple):
    """What is asked of a deployment or document: `part` says which part of the guarantee, `environment` is
    free of charge, `faults` are counted, and each of its tables is an alternative. `rule` is the code of the
    rule that asks, empty where somebody asks by hand."""

    rule: str = ""
    guarantee: str = ""
    part: str = ""
    params: Mapping[str, Any] = {}
    environment: Mapping[str, int | str] = {}
    faults: tuple[Mapping[str, int | str], ...] = ()


class Outside(NamedTuple):
    """What a check read of the deployments of a document, besides its subject."""

    document: Document
    read: Callable[[tuple[Deployment, ...]], Any] | None
    value: Any


class Context:
    """Handed to every check and guarantee: the question, versions, client families, formats.

    `question` is never changed: `asking(question)` gives the same context for another one."""

    def __init__(
        self,
        clients: Mapping[str, ClientSpec],
        formats: Mapping[str, FormatSpec],
        version_of: Callable[[Document], Version],
        deployments_of: Callable[[Document], tuple[Deployment, ...]],
        remember: Callable[[str, str, Callable[[], Any]], Any] = lambda name, mark, compute: compute(),
        assignors: Mapping[str, str] = {},
        partitioners: Mapping[str, str] = {},
        code: Callable[[str, str], Callable[..., Any]] | None = None,
    ) -> None:
        self.clients = clients
        self.formats = formats
        self._version_of = version_of
        self._deployments_of = deployments_of
        # `remember(name, mark, compute)`: a JSON value kept on disk until the simulator changes.
        self.remember = remember
        self.assignors = assignors  # those of plugins: the class that settings name, and the code behind it
        self._partitioners, self._code = partitioners, code
        self.question = Question()
        self._originals: dict[int, tuple[Document, Document]] = {}
        self._looked: dict[tuple[int, Any], Any] = {}
        # All that was read besides the subjects: answers depend on it.
        self.outside: list[Outside] = []

    def asking(self, question: Question) -> Context:
        """All that is known and noted is shared between the two."""
        other = Context.__new__(Context)
        other.__dict__.update(self.__dict__, question=question)
        return other

    @property
    def params(self) -> Mapping[str, Any]:
        """The rule's, with what kafka-advisor.toml says instead."""
        return self.question.params

    @property
    def part(self) -> str:
        """Which part of the guarantee the rule asks."""
        return self.question.part

    def version_of(self, document: Document) -> Version:
        return self._version_of(self.original(document))

    def deployments_of(self, document: Document) -> tuple[Deployment, ...]:
        found = self.homes_of(document)
        self.outside.append(Outside(self.original(document), None, found))
        return found

    def across(self, document: Document, read: Callable[[tuple[Deployment, ...]], Any]) -> Any:
        """What `read` makes of all deployments of a document, worked out once for all that ask; None if it
        is in none."""
        original = self.original(document)
        value = self.look_outside(original, read)
        self.outside.append(Outside(original, read, value))
        return value

    def look_outside(self, original: Document, read: Callable[[tuple[Deployment, ...]], Any] | None) -> Any:
        if read is None:
            return self._deployments_of(original)
        mark = id(original), read
        if mark not in self._looked:
            found = self._deployments_of(original)
            self._looked[mark] = read(found) if found else None
        return self._looked[mark]

    def homes_of(self, document: Document) -> tuple[Deployment, ...]:
        """Its deployments, for the audit's own use: what depends on them is not noted."""
        return self._deployments_of(self.original(document))

    def partitioner(self, name: str) -> Callable[[bytes, int], int] | None:
        """The plugin's code behind a partitioner.class; None if no plugin knows the class."""
        target = self._partitioners.get(name)
        return self._code(target, "partition") if target is not None and self._code is not None else None

    def refusal(self, client: str) -> Callable[[str, Mapping[str, Any]], Any] | None:
        """The validity check of a client family, if it has one."""
        spec = self.clients.get(client)
        target = spec.refused if spec is not None else None
        return self._code(target, "refusal") if target is not None and self._code is not None else None

    def stand_in(self, changed: Document, original: Document) -> None:
        """What is asked about a document with a fix made, or under other names, is answered as for the one in
        the file."""
        if changed is not original:
            self._originals[id(changed)] = (changed, self.original(original))

    def original(self, document: Document) -> Document:
        found = self._originals.get(id(document))
        return found[1] if found is not None else document
