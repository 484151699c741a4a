"""One file -> Documents: the surest format reads it; what cannot be read says why."""

import os
from collections.abc import Callable, Mapping
from functools import cache

from ..guard.calls import PluginError, place_of
from ..hookspecs import FormatSpec
from ..model import Document, Fact, LoadError, Origin, Source, UsageError
from ..registry import Registry, function, is_foreign
from ..tuples import NamedTuple
from .aliases import with_kafka_names, with_service
from .files import BYTES_MAX, TooLarge, Unreadable, decode, read_bytes, read_head, read_lines
from .project import Project
from .template.branches import is_template_text, unsettled
from .text_shapes import Read, TextShapes
from .unread import TEMPLATES, may_configure, why_unread

# A claim so low: some of it is Kafka's, most is not. It is read if the user names the file, and never hidden.
DOUBTFUL = 5
NOTHING_UNSAVED: Mapping[str, bytes] = {}
_TEST = "a test"
_TEST_FOLDERS = ("src/test", "src/it", "src/integrationTest", "src/testFixtures", "molecule")


class FileRecord(NamedTuple):
    """A file of the report. `text` is kept for inline suppressions and fixes; it is never printed."""

    file: str
    path: str
    format: str | None
    status: str
    reason: str | None
    documents: tuple[Document, ...]
    error: LoadError | None
    target: bool
    named: bool
    text: str
    # Formats of plugins that failed on it before another format read it, one line each.
    failures: tuple[str, ...] = ()


def load_file(
    path: str,
    root: str,
    registry: Registry,
    project: Project,
    target: bool,
    named: bool,
    beside: Callable[[str], None] = lambda path: None,
    shapes: TextShapes | None = None,
    unsaved: Mapping[str, bytes] = NOTHING_UNSAVED,
) -> FileRecord | None:
    """None for a walked file that no format wants. `beside` is told each other file that is looked at. With
    `shapes`, texts that differ in names alone are read once. `unsaved`: what an editor has, by real path."""
    name = os.path.basename(path).lower()
    offered = by_suffix(name, registry)
    wanted = named or bool(offered)
    if not wanted and not may_configure(name):
        return None
    record = FileRecord(relative(path, root), path, None, "skipped", None, (), None, target, named, "")
    held = unsaved.get(os.path.realpath(path)) if unsaved else None
    try:
        data = read_bytes(path, root=root) if held is None else held
    except TooLarge as error:
        return _load_large(record, root, registry, project, error) if wanted else None
    except Unreadable as error:
        if not wanted:
            return None
        return record._replace(reason=str(error), error=LoadError(str(error)))
    loaded = None
    if wanted:
        read = _sibling_reader(path, root, beside, unsaved)
        loaded = load_bytes(record, data, registry, project, read, shapes, offered)
    if loaded is None:
        reason = why_unread(name, data)
        return None if reason is None else record._replace(reason=_TEST if is_test(record.file) else reason)
    if not named and is_test(record.file) and (loaded.documents or loaded.error is not None):
        return record._replace(format=loaded.format, reason=_TEST)
    return loaded


def is_test(file: str) -> bool:
    """A file that only a project's own tests take, by the folders of Maven, Gradle and Ansible's Molecule:
    what it says is made to be tried, and often to be wrong."""
    if "src/" not in file and "molecule/" not in file:
        return False
    return any(f"/{folder}/" in f"/{file}" for folder in _TEST_FOLDERS)


def load_bytes(
    record: FileRecord,
    data: bytes,
    registry: Registry,
    project: Project,
    read: Callable[[str], str | None],
    shapes: TextShapes | None = None,
    offered: list[FormatSpec] | None = None,
) -> FileRecord | None:
    """The record of a file whose bytes are had already; `read` gives the text of a file beside it. `offered`
    are the formats that its name suggests, if they are known."""
    named = record.named
    offered = offered or _offered(record, registry)
    if not named:
        # Most files of a repository are nobody's: they cost a look at their bytes and no more.
        offered = [spec for spec in offered if not spec.markers or is_marked(data, spec.markers)]
        if not offered:
            return None
    encodings = [spec.fallback_encoding for spec in offered if spec.fallback_encoding]
    try:
        text = decode(data, encodings[0] if encodings else None)
    except Unreadable as error:
        if not named and not may_configure(record.file):
            return None  # what a program has printed, or code: nobody's configuration
        return record._replace(reason=str(error), error=LoadError(str(error)))
    if not text.strip():
        return record._replace(reason="empty") if named else None
    reader = _Reader(offered, named)
    try:
        if shapes is not None and reader.is_ours:
            found = shapes.read(record.file, text, read, reader.read, named)
        else:
            found = reader.read(Source(record.file, text, read))
    except LoadError as error:
        refused = reader.refused(record, error)
        if "{{" in text and record.file.lower().endswith((".yml", ".yaml")):
            filled_in = _with_places(record, text, reader, read)
            made = filled_in and load_bytes(record, filled_in.encode(), registry, project, read, shapes)
            if made:
                documents = tuple(one._replace(partial=True) for one in made.documents)
                reason = "places in it are filled in elsewhere"
                return made._replace(text=text, documents=documents, status="partial", reason=reason)
        if not is_template_text(text) and not record.file.lower().endswith(TEMPLATES):
            return refused
        # A chart or a playbook makes the file that Kafka's tools read: this one is not wrong.
        return refused._replace(error=None, reason=f"a template, not readable as it stands: {error.message}")
    except PluginError as error:
        return reader.refused(record, LoadError(str(error)))
    except UsageError:
        raise
    except Exception as error:  # A plugin's mistake is told as such; the other files are still audited.
        what = LoadError(f"its reader failed: {type(error).__name__} {place_of(error)}")
        return reader.refused(record, what)
    loaded, failures = found.loaded, found.failures
    if loaded is None:
        if found.format is not None:
            reason = "it is hardly a configuration of Kafka's; name the file to have it audited"
        else:
            reason = failures[0] if failures else "no format recognises it as a Kafka configuration"
            if not failures and not named:
                return None
        return record._replace(format=found.format, reason=reason, failures=failures)
    documents = unsettled(loaded.documents, record.file, text)
    if loaded.status == "partial":
        documents = tuple(document._replace(partial=True) for document in documents)
    documents = tuple(one if one.name.strip() else one._replace(name=_stem(record.file)) for one in documents)
    documents = _settled(documents, registry, project)
    file, path, _, _, _, _, _, target, _, _, _ = record
    return FileRecord(
        file, path, found.format, loaded.status, loaded.reason, documents, None, target, named, text, failures
    )


def _with_places(
    record: FileRecord, text: str, reader: "_Reader", read: Callable[[str], str | None]
) -> str | None:
    """The text with each `{{...}}` of it, a place that somebody fills in, as one value; None if that does not
    make it readable."""
    from .template.yaml_actions import without_actions

    plain = without_actions(text)
    try:
        found = reader.read(Source(record.file, plain, read)) if plain != text else None
    except (LoadError, PluginError):
        return None
    return plain if found is not None and found.loaded is not None and found.loaded.documents else None


def _stem(file: str) -> str:
    """A document whose name is filled in elsewhere goes by its file's."""
    base = file.rpartition("/")[2]
    return base.partition(".")[0] or base


def _offered(record: FileRecord, registry: Registry) -> list[FormatSpec]:
    """The formats that a file's name suggests; of a name that suggests none, all."""
    return by_suffix(os.path.basename(record.path).lower(), registry) or list(registry.formats)


def by_suffix(name: str, registry: Registry) -> list[FormatSpec]:
    """A template is offered to the formats of what it makes: server.properties.j2 is read as properties."""
    found = [spec for spec in registry.formats if name.endswith(spec.suffixes)]
    made = _made_name(name)
    if made != name:
        found += [spec for spec in registry.formats if made.endswith(spec.suffixes) and spec not in found]
    return found


def _made_name(name: str) -> str:
    if not name.endswith(TEMPLATES):
        return name
    return next(name[: -len(end)] for end in TEMPLATES if name.endswith(end))


def is_marked(data: bytes, markers: tuple[str, ...]) -> bool:
    """Whether the bytes may hold one of the markers, also in an encoding that is then refused by name."""
    for encoded in _encoded(markers):
        if encoded in data:
            return True
    return b"\0" in data[:64] and any(
        marker.encode(coding) in data for marker in markers for coding in ("utf-16-le", "utf-16-be")
    )


@cache
def _encoded(markers: tuple[str, ...]) -> tuple[bytes, ...]:
    """Of a marker that is not ASCII the encoding is not known: any file may hold it."""
    return tuple(marker.encode() if marker.isascii() else b"" for marker in markers)


def _load_large(
    record: FileRecord, root: str, registry: Registry, project: Project, error: TooLarge
) -> FileRecord | None:
    """A file that is not held in memory: a format that reads line by line may have it. A walked one is told
    as too large only if its beginning is that of something we read."""
    offered = _offered(record, registry)
    try:
        head = read_head(record.path, root)
        for spec in offered:
            if spec.stream is not None and record.named:
                lines = enumerate(read_lines(record.path, root), 1)
                loaded = function(spec.stream, "loaded")(record.file, lines)
                if loaded.documents:
                    documents = _settled(loaded.documents, registry, project)
                    return record._replace(
                        format=spec.name, status=loaded.status, reason=loaded.reason, documents=documents
                    )
    except (OSError, Unreadable, PluginError) as failure:
        return record._replace(reason=str(failure), error=LoadError(str(failure)))
    if not record.named and not any(not spec.markers or is_marked(head, spec.markers) for spec in offered):
        return None
    return record._replace(reason=str(error), error=LoadError(str(error)))


def _settled(documents: tuple[Document, ...], registry: Registry, project: Project) -> tuple[Document, ...]:
    """Each under its client's family, in Kafka's names."""
    services = [(part, spec.name) for spec in registry.clients.values() for part in spec.servers]
    if services:
        documents = tuple(with_service(document, services) for document in documents)
    if project.clients:
        documents = tuple(_with_family(document, project) for document in documents)
    return tuple(with_kafka_names(document, registry.clients) for document in documents)


class _Reader:
    """Reads texts of one file, or of files like it, in the surest of the formats that are offered."""

    def __init__(self, offered: list[FormatSpec], named: bool) -> None:
        self._offered, self._named = offered, named
        # Of the text that is being read.
        self._format: str | None = None
        self._failures: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """The format of a plugin may make something of any name."""
        return not any(is_foreign(spec.load) or is_foreign(spec.claim) for spec in self._offered)

    def read(self, source: Source) -> Read:
        failures: list[str] = []
        name = _made_name(source.file.rpartition("/")[2].lower())
        spec, claim = _surest(name, source.text, self._offered, failures)
        self._format, self._failures = spec.name if spec is not None else None, tuple(failures)
        if spec is None or (claim <= DOUBTFUL and not self._named):
            return Read(self._format, None, self._failures)
        return Read(self._format, function(spec.load, "loaded")(source), self._failures)

    def refused(self, record: FileRecord, error: LoadError) -> FileRecord:
        return record._replace(
            format=self._format, reason=error.message, error=error, failures=self._failures
        )


def relative(path: str, base: str) -> str:
    """POSIX, relative to a folder."""
    if path.startswith(base + os.sep):
        return path[len(base) + 1 :].replace(os.sep, "/")
    return os.path.relpath(path, base).replace(os.sep, "/")


def _surest(
    name: str, text: str, offered: list[FormatSpec], failures: list[str]
) -> tuple[FormatSpec | None, int]:
    """One that fails to say is passed over, and told: the others can read the file all the same."""
    best, best_claim = None, 0
    for spec in offered:
        if spec.markers and not any(marker in text for marker in spec.markers):
            continue
        try:
            claim = function(spec.claim, "claim")(name, text)
        except PluginError as error:
            if not error.again:
                failures.append(str(error))
            continue
        if claim > best_claim:
            best, best_claim = spec, claim
    return best, best_claim


def _sibling_reader(
    path: str, root: str, beside: Callable[[str], None], unsaved: Mapping[str, bytes]
) -> Callable[[str], str | None]:
    folder = os.path.dirname(path)

    def read(relative: str) -> str | None:
        try:
            real = os.path.realpath(os.path.join(folder, relative))
            beside(real)
            if not real.startswith(os.path.realpath(root).rstrip(os.sep) + os.sep):
                return None
            data = unsaved[real] if real in unsaved else read_bytes(real, BYTES_MAX)
            return decode(data, "iso-8859-1")
        except (Unreadable, ValueError):  # ValueError: no path can hold a NUL
            return None

    return read


def _with_family(document: Document, project: Project) -> Document:
    """What kafka-advisor.toml says of a client wins over what its keys suggest. The first that says a thing
    is believed."""
    from fnmatch import fnmatchcase

    said: dict[str, str] = {}
    for client in project.clients:
        if fnmatchcase(document.file, client["path"]):
            said = {**client, **said}
    if said.get("family"):
        document = document._replace(client=said["family"])
    if said.get("version"):
        fact = Fact("client.version", said["version"], Origin("project", None, "[[client]]"))
        document = document._replace(facts=(*document.facts, fact))
    if said.get("subscription"):
        fact = Fact("consumer.subscription", said["subscription"], Origin("project", None, "[[client]]"))
        document = document._replace(facts=(*document.facts, fact))
    return document
