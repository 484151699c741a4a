"""The plugin API on one page.

Six hooks, without arguments, each called once. Each returns a list of the frozen specs below; the code
behind a spec is a "module:function" string that is imported on first use, so a plugin that is not
needed costs nothing.

A function of a plugin gets 10 seconds a call (KAFKA_ADVISOR_PLUGIN_SECONDS; 0 = no limit) and answers for its
arguments alone: answers are kept until a file of the plugin's package changes. Whatever it raises becomes one
finding, KA000, that names it; what it prints goes to stderr.

A plugin may say which version of this page it was written for, `api_version = "1.0"` beside its hooks.
Another first number is refused; a greater second one means that more has been added since, and is taken.
"""

from collections.abc import Mapping

import pluggy

from .tuples import NamedTuple

PROJECT = "kafka_advisor"
# Of what plugins may import and give: the first number grows when a plugin that worked would break.
API_VERSION = "1.0"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class FormatSpec(NamedTuple):
    """An input format. A file is offered to it if its name ends with one of `suffixes` and its text
    holds one of `markers` (no markers: always). A walked file in which no format finds a marker is not even
    decoded. `claim(name, text) -> int` then says how sure the format is, 0 (not mine) to 100; the surest
    loads the file: `load(Source) -> Loaded`."""

    name: str
    suffixes: tuple[str, ...]
    markers: tuple[str, ...]
    claim: str
    load: str
    about: str
    fallback_encoding: str | None = None
    # False: an image, an operator or a framework adds settings that the file does not show, so what is
    # missing from the file proves nothing.
    whole: bool = True
    # `edit(Source, Document, EditStep) -> str`: the file's text with one step made and every other byte kept,
    # or CannotEdit with the reason. None: `kafka-advisor fix` leaves such files to their owner.
    edit: str | None = None
    # `stream(file, lines) -> Loaded`: a file that is too large to be held (a log), its lines one by one.
    stream: str | None = None


class PackSpec(NamedTuple):
    """A rule pack: a TOML resource `file` inside the importable package `package`; or, if that is a module of
    one file, beside it."""

    name: str
    package: str
    file: str


class CheckSpec(NamedTuple):
    """A check that a pack's rule may name. `function(subject, context)` yields Hits; `reads` says
    what the subject is: document | deployment."""

    name: str
    function: str
    reads: str


class ReporterSpec(NamedTuple):
    """An output format: `render(report: dict, options) -> str`, a view of the JSON report."""

    name: str
    render: str
    about: str
    # True: the report has `fixed_runs` besides, by the fingerprint of a finding: what its faults come to once
    # its fix is made (`trace`, `ending`).
    fixed_runs: bool = False


class ClientSpec(NamedTuple):
    """A client family or vendor: keys it adds (a trailing `*` is a prefix), names it spells differently
    (`aliases`: its name -> Kafka's, under which rules see the setting), defaults that differ from Kafka's,
    and `refused(component, config) -> Accepted | Rejected` if it has a validity check of its own, which is
    asked after Kafka's. `replaces` = it does not know Kafka's Java keys, and its check is asked alone.
    `servers`: parts of addresses, such as ".example.com:": a Java client whose bootstrap.servers holds one is
    of this family, unless kafka-advisor.toml says otherwise."""

    name: str
    keys: tuple[str, ...] = ()
    aliases: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    refused: str | None = None
    replaces: bool = False
    servers: tuple[str, ...] = ()


MODEL_KINDS = ("assignor", "guarantee", "partitioner")
# A guarantee that the simulator's own search answers: only ours (advisor/README.md, "No faults of plugins").
SEARCHED = "searched guarantee"


NUMBER = ("a number",)


class ModelSpec(NamedTuple):
    """A piece of the simulator: kind assignor | guarantee | partitioner.

    assignor: `name` is the class as partition.assignment.strategy names it, and `function(members, metadata,
    version)` gives a dict of member id to (topic, partition) pairs. A member has id, topics, owned,
    generation, instance_id and rack; metadata.partitions are the counts by topic. If the function has a true
    attribute `cooperative`, members keep what they read while they join.
    guarantee: `function(deployment, context)` yields Judgements. With `parts` a rule names one of them
    (`context.part`). If `params` is given, a rule may have no others, and one that is listed with words must
    be one of them; "" among them: it may be left out. One that is listed with NUMBER, or without words under
    a name that ends in a unit or a bound (_ms, _bytes, _per_second, _min, _max), is a number from 0 to the
    largest long. `says` is what stays true, `broken` what happens if it does not, for `explain`.
    `faults` are those that a rule may count; None: any, and the function reads them (`context.question`).
    partitioner: `name` is the class as partitioner.class names it, and `function(key, partitions)` gives the
    partition of a key (bytes), 0 to partitions - 1."""

    kind: str
    name: str
    function: str
    params: Mapping[str, tuple[str, ...]] | None = None
    parts: tuple[str, ...] = ()
    says: str = ""
    broken: str = ""
    faults: tuple[str, ...] | None = None


class Hooks:
    """Implement any of these in a module or class and mark it with `hookimpl`."""

    @hookspec
    def advisor_formats(self) -> list[FormatSpec]:  # type: ignore[empty-body]
        """Input formats."""

    @hookspec
    def advisor_packs(self) -> list[PackSpec]:  # type: ignore[empty-body]
        """Rule packs."""

    @hookspec
    def advisor_checks(self) -> list[CheckSpec]:  # type: ignore[empty-body]
        """Checks that packs name."""

    @hookspec
    def advisor_reporters(self) -> list[ReporterSpec]:  # type: ignore[empty-body]
        """Output formats."""

    @hookspec
    def advisor_clients(self) -> list[ClientSpec]:  # type: ignore[empty-body]
        """Client families and vendors."""

    @hookspec
    def advisor_models(self) -> list[ModelSpec]:  # type: ignore[empty-body]
        """Pieces of the simulator."""
