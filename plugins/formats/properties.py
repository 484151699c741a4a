"""Java properties files of Kafka: brokers, clients, Connect, MirrorMaker 2, Streams, topics.

Other tools use the suffix too, so a file is claimed for the Kafka keys in it, fewer if its name tells
what it is. Who reads it is inferred (see roles); a file for producer and consumer gives two documents.

A topic's file is one named topic-orders.properties, orders.topic.properties or topics/orders.properties,
or one that holds topic keys only. The topic is called what `topic.name`, `topic` or `name` says, else
what the file's name says. `partitions` and `replication.factor` (also spelt with a dash) are facts there.

Of equal keys the later wins, as in Java. Lines of a template language are no entries: the file is then
`partial`, because what it becomes is decided elsewhere, and a key that it sets twice is unknown.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from advisor.api import (
    Document,
    Dropped,
    Entry,
    Fact,
    Loaded,
    LoadError,
    Location,
    Origin,
    Secret,
    Setting,
    Source,
    Unknown,
    known_anywhere,
    parse_properties,
    pattern,
    setting,
    value_of,
)

from . import roles
from .java_puts import is_java, java_puts

# So low a claim is told, and believed where the user names the file.
_DOUBTFUL = 3
# Keys that any program might have.
_GENERIC = frozenset(
    ("client.id", "group.id", "port", "host.name", "retries", "listeners", "metadata.max.age.ms")
)
_GENERIC_PREFIXES = ("ssl.", "sasl.", "security.", "metric")
_SURE = frozenset(
    (
        "process.roles",
        "broker.id",
        "connector.class",
        "offset.storage.file.filename",
        "config.storage.topic",
        "offset.storage.topic",
        "inter.broker.listener.name",
        "log.dirs",
    )
)
# Programs around Kafka that mix keys of their own with those of the clients they make.
_OTHERS = ("ksql.", "kafkastore.", "confluent.controlcenter.", "metric.sampler.", "webserver.http.")
# Keys of vendors and of clients' plugins: they neither make a file Kafka's nor speak against it.
_NEUTRAL = pattern(
    r"confluent\.|schema\.registry\.|basic\.auth\.|(?:key|value)\.(?:converter|serializer|deserializer)\."
    r"|listener\.name\.|config\.providers|transforms|errors\.|kafka\.|cruise\.control\.|plugin\."
    r"|internal\.|avro\.|specific\.avro|auto\.register\.|ksql\.|.*\.override\."
)
SUFFIXES = (".properties", ".delta", ".config", ".conf", ".props")
# The last three say little: their text must be Kafka's nearly throughout.
_LOOSE = SUFFIXES[2:]
_TEMPLATE_SUFFIX = pattern(r"\.(?:j2|erb|tmpl|tpl|template|ftl|mustache)$", re.IGNORECASE)
_CLIENT_NAME = pattern(r"(?:^|[^a-z])(?:kafka|client|clients|librdkafka|connect|mm2|mirror)(?:[^a-z]|$)")

# Statements and comments of Jinja and ERB; an ERB output (`<%=`) is a value, not a statement.
_STATEMENTS = (("{%", "%}"), ("{#", "#}"), ("<%", "%>"))
# A line that is one Go template action, `{{- if .Values.tls }}`; `{{ key }}={{ value }}` is none.
_ACTION = pattern(r"\{\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}")
_TEMPLATE_MARKS = ("{%", "{{", "{#", "<%", "${")
# The head of a section, as Python's configparser reads them.
_SECTION = pattern(r"\[[\w .:-]+\]")
_ADDRESS = pattern(r"[\w.-]+:[0-9]+|\[[0-9a-fA-F:.]+\]:[0-9]+")
_KEY_LINE = pattern(r"^[ \t\f]*([A-Za-z][\w.-]*)[ \t\f]*[=:]", re.MULTILINE)

Settled = tuple[tuple[Setting, ...], tuple[Dropped, ...]]
Settle = Callable[[str, Sequence[Entry]], Settled]

# The text that was claimed last is the text that is loaded next: it is parsed once.
_last: list[tuple[str, list[Entry], str | None]] = []


def claim(name: str, text: str) -> int:
    """How surely the text is a Kafka properties file, 0 to 100."""
    plain = _TEMPLATE_SUFFIX.sub("", name).lower()
    if not plain.endswith(SUFFIXES):
        return 0
    loose = plain.endswith(_LOOSE)
    if loose and re.search(r"[{[][ \t]*$", text, re.MULTILINE):
        return 0  # a nested language: HOCON, nginx, Logstash
    try:
        keys = {entry.key for entry in _entries(text)[0]}
    except LoadError:
        keys = set(_KEY_LINE.findall(text))
    if not keys:
        return 0
    spoken = _spoken(frozenset(keys))
    if spoken.foreign:
        return 0
    if spoken.topic and roles.topic_in_name(plain) is not None:
        return 85
    score, share = spoken.score, spoken.share
    if score and "org.apache.kafka." in text:
        score += 1
    # Kafka's words among many that are nobody's: another program's file, or one with many slips of the pen.
    doubtful = _DOUBTFUL if not loose and (spoken.sure or score >= 2 or "bootstrap.servers" in keys) else 0
    if not loose and spoken.sure and (score >= 2 or share >= 0.5):
        return 90 if share >= 0.3 else doubtful
    told = roles.named_role(plain) is not None or bool(_CLIENT_NAME.search(plain.rpartition("/")[2]))
    if loose:
        return 70 if score >= 3 and share >= 0.75 else 55 if told and score >= 1 and share >= 0.9 else 0
    if score >= 2 and share >= 0.4:
        return min(90, int(60 + 5 * score))
    told = told or plain.endswith(".delta")
    return 55 if told and score >= 1 and share >= 0.3 else doubtful


class _Spoken(NamedTuple):
    """What a set of keys says of the file that holds them."""

    foreign: bool
    topic: bool
    score: float
    share: float
    sure: bool


# Many files of one repository have the same keys.
_heard: dict[frozenset[str], _Spoken] = {}


def _spoken(keys: frozenset[str]) -> _Spoken:
    found = _heard.get(keys)
    if found is None:
        if len(_heard) > 5_000:
            _heard.clear()
        clusters = "clusters" in keys and any(map(roles.REPLICATION.match, keys))
        found = _heard[keys] = _Spoken(
            any(key.startswith(_OTHERS) for key in keys),
            _is_topic(keys),
            *_evidence(keys),
            not _SURE.isdisjoint(keys) or clusters,
        )
    return found


def _is_topic(keys: frozenset[str]) -> bool:
    """Nothing but what a topic has, and at least one thing that no other program would say."""
    named = [key for key in keys if key in roles.TOPIC_FACTS or "topic" in roles.components(key)]
    return len(named) >= 1 and len(named) >= 0.6 * len(keys - set(roles.TOPIC_NAME_KEYS))


def _evidence(keys: frozenset[str]) -> tuple[float, float]:
    """How much the keys speak for Kafka, and which share of those that speak at all are Kafka's."""
    score = 0.0
    known = counted = 0
    for key in keys:
        said = _said.get(key)
        if said is None:
            if len(_said) > 50_000:
                _said.clear()
            said = _said[key] = _says(key)
        score += said
        known += said > 0
        counted += said >= 0
    if "connector.class" in keys:
        # A connector's own keys are its author's: nothing they say counts against it.
        return score + 1, 1.0
    return score, known / counted if counted else 0.0


_said: dict[str, float] = {}


def _says(key: str) -> float:
    """1 for a key of Kafka, less for one that any program might have, 0 for a stranger, negligibly
    below 0 for one that speaks neither way."""
    bare = key
    for prefix in roles.CLIENT_PREFIXES:
        if key.startswith(prefix) and known_anywhere(key[len(prefix) :]):
            bare = key[len(prefix) :]
    if (
        known_anywhere(bare)
        or key in ("connector.class", "tasks.max", "clusters")
        or roles.REPLICATION.match(key)
    ):
        return 0.4 if bare in _GENERIC or bare.startswith(_GENERIC_PREFIXES) else 1.0
    return -1e-9 if _NEUTRAL.match(key) or key.endswith(".bootstrap.servers") else 0.0


def load(source: Source) -> Loaded:
    entries, reason = _entries(source.text)
    found = roles.infer((entry.key for entry in entries), _TEMPLATE_SUFFIX.sub("", source.file))
    settle = settle_template if reason is not None else settle_plain
    documents = tuple(_document(source.file, entries, role, len(found) > 1, settle) for role in found)
    return Loaded(documents, "audited" if reason is None else "partial", reason)


def _entries(text: str) -> tuple[list[Entry], str | None]:
    """The entries, and why they are not all, if so."""
    if _last and _last[0][0] is text:
        return _last[0][1:]
    reason = None
    if "new Properties()" in text and is_java(text):
        found = java_puts(text), "it is Java code: only what it puts into its Properties is read"
        _last[:] = [(text, *found)]
        return found
    if "{%" in text or "{{" in text or "<%" in text or "{#" in text:
        plain = _without_statements(text)
        if plain != text:
            reason = "it holds lines of a template language, which decide elsewhere what is configured"
    else:
        plain = text
    entries = parse_properties(plain)
    if plain.lstrip().startswith("[") or "\n[" in plain:
        within = [entry for entry in entries if not _SECTION.fullmatch(f"{entry.key} {entry.value}".strip())]
        if len(within) < len(entries):
            entries, reason = within, "it has sections: which of them a program takes is not known"
    if "{" in text or "<%" in text:
        plain_keys = [entry for entry in entries if not any(mark in entry.key for mark in _TEMPLATE_MARKS)]
        if len(plain_keys) < len(entries):
            entries = plain_keys
            reason = "it holds keys that a template language fills in"
    _last[:] = [(text, entries, reason)]
    return entries, reason


def _without_statements(text: str) -> str:
    """The text with the lines of a template language emptied, so that the others keep their numbers."""
    lines = text.split("\n")
    last = {closer: text.count("\n", 0, max(text.rfind(closer), 0)) for _, closer in _STATEMENTS}
    until, awaited = -1, ""
    for number, line in enumerate(lines):
        stripped = line.strip()
        if number <= until:
            # Inside a statement of several lines, up to the line that closes it.
            until = number if awaited in line else until
            lines[number] = ""
        elif stripped.startswith("{{"):
            if _ACTION.fullmatch(stripped):
                lines[number] = ""
        elif stripped.startswith(("{%", "{#", "<%")) and not stripped.startswith("<%="):
            awaited = next(closer for opener, closer in _STATEMENTS if stripped.startswith(opener))
            if awaited not in stripped:
                until = last[awaited]
            if stripped.endswith(awaited) or until > number:
                lines[number] = ""
    return "\n".join(lines)


def _document(
    file: str, entries: Sequence[Entry], role: roles.Role, shared: bool, settle: Settle
) -> Document:
    if role.component == "topic":
        return _topic(file, entries, settle)
    mine = [entry for entry in entries if not shared or roles.belongs(entry.key, role.component)]
    settings, dropped = settle(file, mine)
    stem = stem_of(file)
    # Without any key that a broker must have for itself: a part of its settings, as a service takes them.
    part = role.component == "broker" and not any(roles.is_brokers_own(entry.key) for entry in mine)
    return Document(
        file,
        "properties",
        role.component,
        f"{stem} {role.component}" if shared else stem,
        settings,
        role.client,
        mine[0].line if mine else None,
        facts(role.component, settings),
        dropped,
        hints(role.component, settings),
        part,
    )


def settle_plain(file: str, entries: Sequence[Entry]) -> Settled:
    """The settings that stand, in the order of the file, and the earlier ones of equal keys."""
    last = {entry.key: entry for entry in entries}
    if len(last) == len(entries):
        return tuple(setting(entry.key, entry.value, file, entry.line) for entry in entries), ()
    settings, dropped = [], []
    for entry in entries:
        winner = last[entry.key]
        if winner is entry:
            settings.append(setting(entry.key, entry.value, file, entry.line))
        if winner.value.strip() == entry.value.strip():
            continue
        where = Location(file, entry.line)
        detail = f"line {winner.line} sets {entry.key} again, and the later line wins"
        dropped.append(Dropped(entry.key, value_of(entry.key, entry.value), where, "overridden", detail))
    return tuple(settings), tuple(dropped)


def settle_template(file: str, entries: Sequence[Entry]) -> Settled:
    """The same for a text with conditions: equal keys may be the two branches of one."""
    settings: dict[str, Setting] = {}
    for entry in entries:
        one = setting(entry.key, entry.value, file, entry.line)
        before = settings.get(entry.key)
        if before is not None and before.value != one.value and not isinstance(one.value, Secret):
            texts = [v.template if isinstance(v, Unknown) else str(v) for v in (before.value, one.value)]
            one = one._replace(value=Unknown(" or ".join(texts)))
        settings[entry.key] = one
    return tuple(settings.values()), ()


def stem_of(file: str) -> str:
    """The file's name without its folder and its suffixes."""
    base = _TEMPLATE_SUFFIX.sub("", file.rpartition("/")[2])
    return base.rpartition(".")[0] or base


def facts(component: str, settings: Sequence[Setting]) -> tuple[Fact, ...]:
    """What a broker's keys say about its cluster."""
    if component != "broker":
        return ()
    held = {one.key: one for one in settings if one.value != ""}
    roles_set, zookeeper = held.get("process.roles"), held.get("zookeeper.connect")
    if roles_set is not None and zookeeper is not None and isinstance(roles_set.value, Unknown):
        return ()  # a template for either mode
    if roles_set is not None:
        # With both the cluster is moving to KRaft, and this node has moved.
        return (Fact("cluster.mode", "kraft", roles_set.origin),)
    return () if zookeeper is None else (Fact("cluster.mode", "zk", zookeeper.origin),)


def hints(component: str, settings: Sequence[Setting]) -> tuple[tuple[str, str], ...]:
    """Evidence for linking. A value that is filled in elsewhere is none."""
    values = {one.key: one.value for one in settings if isinstance(one.value, str)}
    found: list[tuple[str, str]] = []
    if component == "broker":
        found += [("listener", address) for address in _listeners(values)]
    elif component == "mm2":
        for key, value in values.items():
            if key.endswith(".bootstrap.servers"):
                found += [("bootstrap", address) for address in _addresses(value)]
    else:
        servers = values.get("bootstrap.servers") or values.get("metadata.broker.list") or ""
        found += [("bootstrap", address) for address in _addresses(servers)]
    if component == "consumer" and values.get("group.id", "").strip():
        found.append(("group", values["group.id"].strip()))
    if component == "streams" and values.get("application.id", "").strip():
        # Streams takes the application's id for the group's.
        found.append(("group", values["application.id"].strip()))
    if component == "connect":
        for key in ("config.storage.topic", "offset.storage.topic", "status.storage.topic"):
            found += [("topic", name) for name in _listed(values.get(key, ""))]
    if component == "connector":
        for key in ("topics", "topic", "kafka.topic"):
            found += [("topic", name) for name in _listed(values.get(key, ""))]
    return tuple(dict.fromkeys(found))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _addresses(text: str) -> list[str]:
    """Each host:port of a list, leaving out what is a placeholder for one."""
    return [part for part in _listed(text) if _ADDRESS.fullmatch(part)]


def _listeners(values: dict[str, str]) -> list[str]:
    """Addresses at which clients find the broker: advertised, or listened on under a real name."""
    hidden = set(_listed(values.get("controller.listener.names", "")))
    found = []
    for listener in _listed(values.get("advertised.listeners") or values.get("listeners") or ""):
        name, _, address = listener.partition("://")
        host = address.rpartition(":")[0]
        if name not in hidden and host not in ("0.0.0.0", "[::]") and _ADDRESS.fullmatch(address):
            found.append(address)
    return found


def _topic(file: str, entries: Sequence[Entry], settle: Settle) -> Document:
    name = roles.topic_in_name(_TEMPLATE_SUFFIX.sub("", file)) or ""
    kept: list[Entry] = []
    stated: dict[str, Fact] = {}
    for entry in entries:
        fact = roles.TOPIC_FACTS.get(entry.key)
        value = value_of(entry.key, entry.value.strip())
        if fact is not None:
            # A count that is filled in elsewhere is not one that is left to the cluster.
            count = value if isinstance(value, str) else "unknown"
            stated[fact] = Fact(fact, count, Origin("file", Location(file, entry.line)))
        elif entry.key in roles.TOPIC_NAME_KEYS:
            name = value if isinstance(value, str) and value else name
        else:
            kept.append(entry)
    settings, dropped = settle(file, kept)
    return Document(
        file,
        "properties",
        "topic",
        name or stem_of(file),
        settings,
        "java",
        entries[0].line if entries else None,
        tuple(stated.values()),
        dropped,
        (("topic", name),) if name else (),
    )
