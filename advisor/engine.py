"""load -> link -> ask -> find: one audit, from paths to findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .catalog import Version, resolve_version
from .find.asker import Asker
from .find.notices import check_clients, limit_notices, name_notices, suppression_notices, version_notices
from .find.rules.choice import ALL, Choice
from .find.suppress import Suppressions
from .join.link import Overrides, apply_overrides, link, with_own_ids
from .join.old_clients import stated_version
from .join.profiles import Profile, profile_of
from .join.versions import choose_version
from .memo.cache import Cache, open_cache
from .model import Deployment, Document, Finding, UsageError
from .packs.pack import Rule, load_packs
from .packs.questions import check_rules
from .read.files import PROJECT_FILE, Scope, Unreadable, Workspace, find_scope, leave_out, read_bytes
from .read.load import NOTHING_UNSAVED, FileRecord, load_file, relative
from .read.project import EMPTY, Project, check_trusted, load_project
from .read.text_shapes import TextShapes
from .registry import Registry, load_registry
from .tuples import NamedTuple

if TYPE_CHECKING:
    from .find.reuse.memory import Memories, Memory
    from .find.reuse.outcomes import Answers


# Up to so many files are read one by one; among more, some differ in names alone.
_FEW = 10


class Options(NamedTuple):
    """What the command line asks for."""

    paths: tuple[str, ...]
    kafka_version: str | None = None
    profile: str | None = None
    sets: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    link: bool = True
    cache: bool = True
    today: str = ""
    # Files and folders that are no context: the other side of a comparison.
    without: tuple[str, ...] = ()
    # Also count what only the profile keeps from being reported.
    count_hidden: bool = False
    # A file whose [workload] counts before that of kafka-advisor.toml, as `replay` writes one.
    workload: str | None = None
    # What an editor holds and has not written yet, by real path: read instead of the files.
    unsaved: Mapping[str, bytes] = NOTHING_UNSAVED
    # Python files that kafka-advisor.toml lists may run. Who audits a cloned repository has not read them.
    trust_plugins: bool = False
    # Not: only what is found, each finding for itself and without a fix, for who compares two audits.
    fixes: bool = True


class Root(NamedTuple):
    """What was found in one workspace. Its files are named from its own root; `prefix` before such a name
    makes it one of the report's."""

    prefix: str
    workspace: Workspace
    project: Project
    files: tuple[FileRecord, ...]
    deployments: tuple[Deployment, ...]
    profiles: Mapping[str, Profile]
    versions: Mapping[int, Version]
    findings: tuple[Finding, ...]
    answers: Mapping[str, Answers]
    ignored: int
    notes: tuple[str, ...] = ()
    hidden: int = 0
    rules: tuple[Rule, ...] = ()


class Audit(NamedTuple):
    """Everything a reporter may want to tell."""

    scope: Scope
    roots: tuple[Root, ...]
    registry: Registry
    kafka_version: str
    notes: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        return self.scope.missing

    @property
    def findings(self) -> list[tuple[Root, Finding]]:
        return in_order(self.roots)


def in_order(roots: Sequence[Root]) -> list[tuple[Root, Finding]]:
    """Findings in the order of the report: by file, line, code."""
    found = [(root, finding) for root in roots for finding in root.findings]
    found.sort(key=report_order)
    return found


def report_order(pair: tuple[Root, Finding]) -> tuple[str, int, str, str, tuple[str, ...]]:
    root, finding = pair
    return root.prefix + finding.at.file, finding.at.line or 0, finding.code, finding.resource, finding.keys


def audit(
    options: Options, progress: Callable[[str], None] = lambda text: None, memories: Memories | None = None
) -> Audit:
    """`memories` keep what was answered, for an audit of the same files with a change made."""
    run = prepare(options)
    roots = [
        ask_root(
            run, one, _linked(options, run.registry, one.workspace, one.project, progress), memories, progress
        )
        for one in run.roots
    ]
    notes = [run.cache.note] if run.cache.note else []
    notes += dict.fromkeys(note for root in roots for note in root.notes)
    return Audit(run.scope, tuple(roots), run.registry, _headline_version(options, roots), tuple(notes))


class RootAsked(NamedTuple):
    """A workspace, and the rules that its project asks."""

    prefix: str
    workspace: Workspace
    project: Project
    rules: tuple[Rule, ...]


class Prepared(NamedTuple):
    """What an audit needs before it reads a file."""

    options: Options
    scope: Scope
    registry: Registry
    cache: Cache
    roots: tuple[RootAsked, ...]


def prepare(options: Options) -> Prepared:
    cache = open_cache(options.cache)
    scope = leave_out(find_scope(options.paths, options.link), options.without)
    projects = [_project(workspace, cache, options.workload) for workspace in scope.workspaces]
    registry = _registry(options, scope, projects)
    roots = []
    for workspace, project in zip(scope.workspaces, projects, strict=True):
        rules = load_packs(registry.packs, _pack_files(options, workspace, project), cache)
        check_rules(rules, registry.guarantees, project.params)
        Choice(options.select, options.ignore).check(rules)
        if project.clients:
            check_clients(project, registry.clients)
        inside = relative(workspace.root, scope.base)
        roots.append(RootAsked("" if inside == "." else f"{inside}/", workspace, project, rules))
    return Prepared(options, scope, registry, cache, tuple(roots))


def _registry(options: Options, scope: Scope, projects: Sequence[Project]) -> Registry:
    """The plugins of the command line and of the projects. Of a project's file that is given already, also
    under another path, nothing is loaded again: a copy of the project names it too."""
    files, required = list(options.plugins), set()
    for workspace, project in zip(scope.workspaces, projects, strict=True):
        for name in project.plugins:
            if not name.endswith(".py"):
                required.add(name)
            elif os.path.basename(name) not in map(os.path.basename, files):
                check_trusted(project, name, options.trust_plugins)
                files.append(os.path.join(workspace.root, name))
    return load_registry(files, sorted(required))


def _headline_version(options: Options, roots: Sequence[Root]) -> str:
    """The one version the report opens with: stated, else the first deployment's."""
    stated = [root.project.kafka_version for root in roots if root.project.kafka_version]
    found = [deployment.version for root in roots for deployment in root.deployments]
    return options.kafka_version or (stated or found or [choose_version(None, ())[0].asked])[0]


def _project(workspace: Workspace, cache: Cache, workload: str | None = None) -> Project:
    project = _own_project(workspace, cache)
    if workload is None:
        return project
    try:
        measured = load_project(workload, read_bytes(workload), cache).workload
    except Unreadable as error:
        raise UsageError(f"--workload {workload}: {error}") from None
    if not measured:
        raise UsageError(f"--workload {workload}: there is no [workload] in it")
    return project._replace(workload={**project.workload, **measured})


def _own_project(workspace: Workspace, cache: Cache) -> Project:
    if not workspace.has_project:
        return EMPTY
    path = os.path.join(workspace.root, PROJECT_FILE)
    try:
        project = load_project(path, read_bytes(path), cache)
    except Unreadable as error:
        raise UsageError(f"{path}: {error}") from None
    if project.kafka_version is not None:
        try:
            choose_version(project.kafka_version, ())
        except UsageError as error:
            raise UsageError(f"{path}:{project.lines.get('kafka_version', 1)}: {error}") from None
    return project


def _pack_files(options: Options, workspace: Workspace, project: Project) -> list[str]:
    return [*options.rules, *(os.path.join(workspace.root, name) for name in project.rules)]


class Linked(NamedTuple):
    """The files of one workspace, read and joined; nothing is asked of them yet."""

    records: tuple[FileRecord, ...]
    documents: tuple[Document, ...]
    deployments: tuple[Deployment, ...]
    ignored: int


def load_deployments(options: Options) -> tuple[Scope, list[Linked]]:
    """Read and link as an audit does, and ask nothing."""
    cache = open_cache(options.cache)
    scope = find_scope(options.paths, options.link)
    projects = [_project(workspace, cache, options.workload) for workspace in scope.workspaces]
    registry = _registry(options, scope, projects)
    return scope, [
        _linked(options, registry, workspace, project)
        for workspace, project in zip(scope.workspaces, projects, strict=True)
    ]


def _linked(
    options: Options,
    registry: Registry,
    workspace: Workspace,
    project: Project,
    progress: Callable[[str], None] = lambda text: None,
) -> Linked:
    records: list[FileRecord] = []
    ignored = 0
    shapes = None
    if len(workspace.files) > _FEW:
        shapes = TextShapes(marker for spec in registry.formats for marker in spec.markers)
    for number, (path, target, named) in enumerate(workspace.files, 1):
        if number % 200 == 0:
            progress(f"read {number} of {len(workspace.files)} files")
        record = load_file(
            path, workspace.root, registry, project, target, named, shapes=shapes, unsaved=options.unsaved
        )
        if record is None:
            ignored += target
        else:
            records.append(record)
    return link_records(options, project, records)._replace(ignored=ignored)


def link_records(options: Options, project: Project, records: Sequence[FileRecord]) -> Linked:
    """Files of one root that were read already, joined."""
    records = _without_included(records)
    overrides = _overrides(options.sets, options.kafka_version or project.kafka_version)
    loaded = [document for record in records for document in record.documents]
    if any(document.component == "listener" for document in loaded):
        from .join.neighbours.listeners import with_listeners

        loaded = with_listeners(loaded, options.link)
    if any(record.format == "kubernetes" for record in records):
        from .join.pods import placed

        loaded = placed(loaded)
    if any(record.format == "compose" for record in records):
        from .join.neighbours.mounts import completed

        loaded = completed(loaded)
    if sum(document.component == "topic" for document in loaded) > 1:
        from .join.neighbours.declared_twice import with_other_declarations

        loaded = with_other_declarations(loaded)
    if any(document.component == "connector" for document in loaded):
        from .join.connectors import with_policies

        loaded = with_policies(loaded)
    documents = apply_overrides(loaded, overrides)
    stated = options.kafka_version or project.kafka_version

    def version_of_cluster(brokers: Sequence[Document]) -> str:
        return choose_version(stated, brokers)[0].asked

    if options.link:
        deployments = link(documents, project, version_of_cluster, overrides)
    else:
        deployments = with_own_ids(
            deployment
            for document in documents
            for deployment in link([document], EMPTY, version_of_cluster, overrides)
        )
    return Linked(tuple(records), tuple(documents), tuple(deployments), 0)


def ask_root(
    run: Prepared,
    root: RootAsked,
    linked: Linked,
    memories: Memories | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Root:
    """Every rule asked of the files of one root, which are read and joined."""
    options = run.options
    choice = Choice(options.select, options.ignore)
    asking = Asking(options, run.registry, root.rules, choice, run.cache, progress)
    memory = memories.of(root.prefix, root.project, root.rules) if memories is not None else None
    asked = ask_linked(asking, root.project, linked, memory=memory)
    hidden = _hidden(asking, root.project, linked, asked) if options.count_hidden else 0
    return Root(
        root.prefix,
        root.workspace,
        root.project,
        linked.records,
        linked.deployments,
        asked.profiles,
        asked.versions,
        asked.findings,
        asked.answers,
        linked.ignored,
        tuple(_notices(asking, root, linked, asked)),
        hidden,
        root.rules,
    )


def _hidden(asking: Asking, project: Project, linked: Linked, asked: Asked) -> int:
    """How many findings `--profile prod` would report besides: what it would find is asked, not guessed."""
    if all(profile.name == "prod" for profile in asked.profiles.values()):
        return 0
    strict = asking._replace(options=asking.options._replace(profile="prod"))
    shown = {(one.code, one.at, one.keys, one.message) for one in asked.findings}
    more = [
        one
        for one in ask_linked(strict, project, linked).findings
        if one.suppressed is None and (one.code, one.at, one.keys, one.message) not in shown
    ]
    from .find.one_cause import by_cause

    return len(by_cause(more, asking.rules, linked.deployments))


def _notices(asking: Asking, root: RootAsked, linked: Linked, asked: Asked) -> Iterator[str]:
    options, project = asking.options, root.project
    yield from version_notices(options.kafka_version or project.kafka_version, linked.deployments)
    yield from limit_notices(asked.answers)
    if project.severity or project.params or project.suppress or asked.suppressions.inline:
        yield from name_notices(project, linked.records, root.rules, root.prefix)
        whole = options.link and asking.choice == ALL and all(record.target for record in linked.records)
        yield from suppression_notices(
            project, linked.records, asked.suppressions, root.rules, whole, options.today, root.prefix
        )


class Asking(NamedTuple):
    """With what the rules of a run are asked, the same for every root."""

    options: Options
    registry: Registry
    rules: tuple[Rule, ...]
    choice: Choice
    cache: Cache
    progress: Callable[[str], None] = lambda text: None


class Asked(NamedTuple):
    """What the rules answered for one root."""

    profiles: Mapping[str, Profile]
    versions: Mapping[int, Version]
    findings: tuple[Finding, ...]
    answers: Mapping[str, Answers]
    suppressions: Suppressions


def ask_linked(
    asking: Asking, project: Project, linked: Linked, alone: bool = True, memory: Memory | None = None
) -> Asked:
    """Every rule asked of what was read and joined. Not `alone`: of deployments only."""
    options, registry, rules, choice, cache, progress = asking
    records, documents, deployments, _ = linked
    versions = _document_versions(documents, deployments, options.kafka_version or project.kafka_version)
    profiles = {
        deployment.id: profile_of(deployment, options.profile or project.profile)
        for deployment in deployments
    }
    suppressions = Suppressions(project, records, options.today)
    asker = Asker(
        registry,
        rules,
        choice,
        project,
        records,
        documents if alone else (),
        deployments,
        versions,
        profiles,
        suppressions,
        cache,
        memory,
        progress,
        options.fixes,
    )
    return Asked(profiles, versions, tuple(asker.findings()), asker.answers, suppressions)


def _without_included(records: Sequence[FileRecord]) -> list[FileRecord]:
    """An env file that a compose file includes is read there, with its service's image: not a second time."""
    included = {
        setting.origin.at.file
        for record in records
        for document in record.documents
        if document.format == "compose"
        for setting in document.settings
        if setting.origin.at is not None and setting.origin.at.file != record.file
    }
    return [
        record._replace(documents=()) if record.file in included and record.format == "envfile" else record
        for record in records
    ]


def _overrides(sets: Sequence[str], version: str | None) -> Overrides:
    from .join.overrides import parse_overrides

    return parse_overrides(sets, resolve_version(version) if version else None) if sets else Overrides({}, ())


def _document_versions(
    documents: Sequence[Document], deployments: Sequence[Deployment], stated: str | None
) -> dict[int, Version]:
    """A broker's or topic's version is its cluster's, a Connect worker's its image's; the library of any
    other client is its own, so only a stated version binds it, and `[[client]] version` before that. A row of
    a table states its own."""
    versions: dict[int, Version] = {}
    alone = choose_version(stated, ())[0]
    for document in documents:
        own = document.component in ("broker", "connect", "connect-standalone") or document.format == "row"
        library = stated_version(document) if document.client != "librdkafka" else None
        if library is not None:
            versions[id(document)] = choose_version(library, ())[0]
        else:
            versions[id(document)] = choose_version(stated, [document])[0] if own else alone
    if stated is None:
        for deployment in deployments:
            if deployment.cluster:
                version = choose_version(None, deployment.cluster)[0]
                for member in (*deployment.cluster, deployment.topic):
                    if member is not None:
                        versions[id(member)] = version
    return versions
