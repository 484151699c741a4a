"""load -> link -> ask -> find: one audit, from paths to findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .asking import Asker, Choice
from .cache import Cache, open_cache
from .catalog import Version, resolve_version
from .files import PROJECT_FILE, Scope, Unreadable, Workspace, find_scope, leave_out, read_bytes
from .link import Overrides, apply_overrides, link, with_own_ids
from .loading import FileRecord, load_file, relative
from .model import Deployment, Document, Finding, UsageError
from .packs import Rule, load_packs
from .profiles import Profile, profile_of
from .project import EMPTY, Project, load_project
from .registry import Registry, load_registry
from .suppress import Suppressions
from .text_shapes import TextShapes
from .versions import choose_version

if TYPE_CHECKING:
    from .kept import Answers


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
        """In the order of the report: by file, line, code."""
        found = [(root, finding) for root in self.roots for finding in root.findings]
        found.sort(key=_order)
        return found


def _order(pair: tuple[Root, Finding]) -> tuple[str, int, str, str, tuple[str, ...]]:
    root, finding = pair
    return root.prefix + finding.at.file, finding.at.line or 0, finding.code, finding.resource, finding.keys


def audit(options: Options, progress: Callable[[str], None] = lambda text: None) -> Audit:
    cache = open_cache(options.cache)
    scope = leave_out(find_scope(options.paths, options.link), options.without)
    projects = [_project(workspace, cache) for workspace in scope.workspaces]
    registry = load_registry(
        options.plugins, sorted({name for project in projects for name in project.plugins})
    )
    choice = Choice(options.select, options.ignore)
    roots = []
    for workspace, project in zip(scope.workspaces, projects, strict=True):
        rules = load_packs(registry.packs, _pack_files(options, workspace, project), cache)
        choice.check(rules)
        run = _Run(options, scope, registry, rules, choice, cache, progress)
        roots.append(_audit_root(run, workspace, project))
    notes = (cache.note,) if cache.note else ()
    return Audit(scope, tuple(roots), registry, _headline_version(options, roots), notes)


def _headline_version(options: Options, roots: Sequence[Root]) -> str:
    """The one version the report opens with: stated, else the first deployment's."""
    stated = [root.project.kafka_version for root in roots if root.project.kafka_version]
    found = [deployment.version for root in roots for deployment in root.deployments]
    return options.kafka_version or (stated or found or [choose_version(None, ())[0].asked])[0]


def _project(workspace: Workspace, cache: Cache) -> Project:
    if not workspace.has_project:
        return EMPTY
    path = os.path.join(workspace.root, PROJECT_FILE)
    try:
        return load_project(path, read_bytes(path), cache)
    except Unreadable as error:
        raise UsageError(f"{path}: {error}") from None


def _pack_files(options: Options, workspace: Workspace, project: Project) -> list[str]:
    return [*options.rules, *(os.path.join(workspace.root, name) for name in project.rules)]


class _Run(NamedTuple):
    options: Options
    scope: Scope
    registry: Registry
    rules: tuple[Rule, ...]
    choice: Choice
    cache: Cache
    progress: Callable[[str], None]


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
    projects = [_project(workspace, cache) for workspace in scope.workspaces]
    registry = load_registry(
        options.plugins, sorted({name for project in projects for name in project.plugins})
    )
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
        if number % 500 == 0:
            progress(f"read {number} of {len(workspace.files)} files")
        record = load_file(path, workspace.root, registry, project, target, named, shapes)
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
    if any(record.format == "kubernetes" for record in records):
        from .workloads import placed

        loaded = placed(loaded)
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


def _audit_root(run: _Run, workspace: Workspace, project: Project) -> Root:
    linked = _linked(run.options, run.registry, workspace, project, run.progress)
    asking = Asking(run.options, run.registry, run.rules, run.choice, run.cache)
    asked = ask_linked(asking, project, linked)
    inside = relative(workspace.root, run.scope.base)
    return Root(
        "" if inside == "." else f"{inside}/",
        workspace,
        project,
        linked.records,
        linked.deployments,
        asked.profiles,
        asked.versions,
        asked.findings,
        asked.answers,
        linked.ignored,
    )


class Asking(NamedTuple):
    """With what the rules of a run are asked, the same for every root."""

    options: Options
    registry: Registry
    rules: tuple[Rule, ...]
    choice: Choice
    cache: Cache


class Asked(NamedTuple):
    """What the rules answered for one root."""

    profiles: Mapping[str, Profile]
    versions: Mapping[int, Version]
    findings: tuple[Finding, ...]
    answers: Mapping[str, Answers]


def ask_linked(asking: Asking, project: Project, linked: Linked, alone: bool = True) -> Asked:
    """Every rule asked of what was read and joined. Not `alone`: of deployments only."""
    options, registry, rules, choice, cache = asking
    records, documents, deployments, _ = linked
    versions = _document_versions(documents, deployments, options.kafka_version or project.kafka_version)
    profiles = {
        deployment.id: profile_of(deployment, options.profile or project.profile)
        for deployment in deployments
    }
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
        Suppressions(project, records, options.today),
        cache,
    )
    return Asked(profiles, versions, tuple(asker.findings()), asker.answers)


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
    from .overrides import parse_overrides

    return parse_overrides(sets, resolve_version(version) if version else None) if sets else Overrides({}, ())


def _document_versions(
    documents: Sequence[Document], deployments: Sequence[Deployment], stated: str | None
) -> dict[int, Version]:
    """A broker's or topic's version is its cluster's; a client's library is its own, so only a stated
    version binds it."""
    versions: dict[int, Version] = {}
    alone = choose_version(stated, ())[0]
    for document in documents:
        own = document.component == "broker"
        versions[id(document)] = choose_version(stated, [document])[0] if own else alone
    if stated is None:
        for deployment in deployments:
            if deployment.cluster:
                version = resolve_version(deployment.version)
                for member in (*deployment.cluster, deployment.topic):
                    if member is not None:
                        versions[id(member)] = version
    return versions
