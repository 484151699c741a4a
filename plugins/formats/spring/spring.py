"""Spring Boot's `spring.kafka.*` in application.yml, application.properties and their like.

The documents say what each Kafka client gets, in the order in which KafkaProperties builds its map: common
fields, `spring.kafka.properties`, the client's fields, the client's `properties`; the later wins. Names
that bind to nothing are kept as dropped, with the name that would work where Kafka's key can be told.

There is a document for a client if the text has something for it alone: a section, a listener or
template, or a common key that only it knows. A text with nothing but common keys gives one `admin`.
Profiles give documents of their own, named like "application [prod] producer", for the clients they
change; application-prod.yml is laid over the application.yml beside it, and each setting keeps the file
and line it was written on. spring.cloud.stream's Kafka binder is read in spring_stream.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from advisor.api import Document, Loaded, LoadError, Source

from ..properties import stem_of
from .spring_clients import documents
from .spring_fields import SECTIONS
from .spring_source import Part, Prop, parts, uniform, variants

SUFFIXES = (".yml", ".yaml", ".properties")
_FILE = re.compile(r"(application|bootstrap)(?:-([^/]+))?\.(?:yml|yaml|properties)", re.IGNORECASE)
_FLAT = re.compile(r"^[ \t]*spring\.(?:kafka|cloud\.stream\.)", re.MULTILINE | re.IGNORECASE)
# In YAML the name may be broken at any dot: `spring:`, `spring.kafka:`, `spring.cloud.stream:`.
_TOP = re.compile(r"^[ \t\"'{]*spring[\w.\[\]\"'-]*[ \t]*:", re.MULTILINE | re.IGNORECASE)
_ROOTS = frozenset(
    (
        *SECTIONS,
        "bootstrapservers",
        "clientid",
        "properties",
        "security",
        "ssl",
        "jaas",
        "listener",
        "template",
    )
)
_STREAM = ("spring", "cloud", "stream", "kafka")
_OWN_PREFIX = re.compile(r"^kafka[.:]", re.MULTILINE)

# Each profile costs as much as the file: no application has this many.
PROFILES_MAX = 50

_last: list[tuple[str, str, list[Part]]] = []


def claim(name: str, text: str) -> int:
    """How surely the text configures Spring for Kafka, 0 to 100."""
    if not name.lower().endswith(SUFFIXES) or "kafka" not in text.lower():
        return 0
    if _OWN_PREFIX.search(text) and _FILE.search(name):
        try:
            if any(_own_prefix(part) for part in _parts(name, text)):
                return 40
        except LoadError:
            pass
    if "spring" not in text.lower():
        return 0
    if not (_FLAT if name.lower().endswith(".properties") else _TOP).search(text):
        return 0
    known_name = _FILE.fullmatch(name.rpartition("/")[2]) is not None
    try:
        found = any(_is_kafka(prop, known_name) for part in _parts(name, text) for prop in part.props)
    except LoadError:
        # The file is named rather than passed over, if only Spring could have written it.
        found = known_name and re.search(r"^spring\b", text, re.MULTILINE) is not None
    return 0 if not found else 96 if known_name else 92


def _is_kafka(prop: Prop, known_name: bool) -> bool:
    head = tuple(map(uniform, prop.path[:4]))
    if head[:2] == ("spring", "kafka"):
        # Test frameworks keep keys of theirs there too (spring.kafka.embedded), in files of other names.
        return known_name or (len(head) > 2 and head[2] in _ROOTS)
    return head == _STREAM


def _own_prefix(part: Part) -> bool:
    """`kafka.bootstrap-servers` and the like: Spring's fields bound to a prefix of the application's own."""
    heads = [tuple(map(uniform, prop.path[:2])) for prop in part.props]
    return any(head[0] == "kafka" and head[-1] in _ROOTS for head in heads)


def _as_spring(own: list[Part]) -> list[Part]:
    return [
        part._replace(
            props=tuple(
                prop._replace(path=("spring", *prop.path)) if uniform(prop.path[0]) == "kafka" else prop
                for prop in part.props
            )
        )
        for part in own
    ]


def _parts(file: str, text: str) -> list[Part]:
    if not _last or _last[0][0] is not text or _last[0][1] != file:
        _last[:] = [(text, file, parts(file, text))]
    return _last[0][2]


def load(source: Source) -> Loaded:
    own = _parts(source.file, source.text)
    if _OWN_PREFIX.search(source.text) and any(map(_own_prefix, own)):
        found = documents(source.file, stem_of(source.file), _as_spring(own), None, frozenset(("default",)))
        reason = "kafka.* is a prefix of the application's own: it is read as spring.kafka.* would be"
        return _loaded([document._replace(dropped=()) for document in found], reason)
    folder, _, base = source.file.rpartition("/")
    named = _FILE.fullmatch(base)
    profile = named[2] if named else None
    if named is None or profile is None:
        stem = base.rpartition(".")[0] or base
        found = documents(source.file, stem, own, None, frozenset(("default",)))
        for active in _variants(own):
            if named is None or not any(_has_own_file(source, stem, profile) for profile in active):
                found += documents(source.file, stem, own, " & ".join(active), frozenset(active))
        return _loaded(found, _unread(own))
    beside, reason = _beside(source, named[1], folder)
    # Whatever the profile's own file says needs that profile.
    own = [part if part.condition else Part(profile, part.props) for part in own]
    found = documents(source.file, named[1], [*beside, *own], profile, frozenset((profile,)))
    for active in _variants(own):
        if active != (profile,):
            label = " & ".join(dict.fromkeys((profile, *active)))
            found += documents(source.file, named[1], [*beside, *own], label, {profile, *active})
    return _loaded(found, reason or _unread([*beside, *own]))


def _variants(own: Sequence[Part]) -> list[tuple[str, ...]]:
    return variants([part.condition for part in own])[:PROFILES_MAX]


def _unread(all_parts: Sequence[Part]) -> str | None:
    """Why what is read is not all that the parts say, if so."""
    if len(variants([part.condition for part in all_parts])) > PROFILES_MAX:
        return f"it has more than {PROFILES_MAX} profiles: the rest is not read"
    binders = (*_STREAM[:3], "binders")
    for part in all_parts:
        if any(tuple(map(uniform, prop.path[:4])) == binders for prop in part.props):
            return "the binders under spring.cloud.stream.binders have environments that are not read"
    return None


def _has_own_file(source: Source, stem: str, profile: str) -> bool:
    """Whether a file of that profile, laid over this one, tells the whole of it."""
    for suffix in SUFFIXES:
        name = f"{stem}-{profile}{suffix}"
        text = source.read(name) if "/" not in name and "\\" not in name else None
        if text is not None and claim(name, text):
            return True
    return False


def _loaded(found: list[Document], reason: str | None) -> Loaded:
    if not found:
        return Loaded((), "skipped", "it holds nothing that Spring hands to a Kafka client")
    return Loaded(tuple(found), "partial" if reason else "audited", reason)


def _beside(source: Source, stem: str, folder: str) -> tuple[list[Part], str | None]:
    """The parts of the files that a profile's file is laid over, the least important first."""
    found: list[Part] = []
    reason = None
    for suffix in (".yaml", ".yml", ".properties"):
        text = source.read(stem + suffix)
        if text is None:
            continue
        try:
            found += parts(f"{folder}/{stem}{suffix}" if folder else stem + suffix, text)
        except LoadError as error:
            reason = f"{stem}{suffix} beside it cannot be read (line {error.line}: {error.message})"
    return found, reason
