"""What each Kafka client of a Spring Boot application gets from `spring.kafka.*`, and what gets lost.

Spring binds names to the fields of KafkaProperties, and each client's map is then built from the fields
in a fixed order; both steps are done here as Spring Boot 2.x to 4.x do them.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from advisor.api import (
    Document,
    Dropped,
    Fact,
    Location,
    Origin,
    Setting,
    Unknown,
    Value,
    integer,
    setting,
    value_of,
)

from .. import roles
from ..properties import hints
from . import spring_stream
from .spring_fields import ALWAYS_SET, SECTIONS, converted, field_of, meant_by
from .spring_source import Part, Prop, matches, uniform

_FILTERED = re.compile(r"@[\w.-]+@")

# How late a value enters a client's map: the latest wins.
_COMMON_FIELD, _COMMON_MAP, _FIELD, _MAP, _FACTORY = range(5)
_PLACES = {
    _COMMON_FIELD: "a field of spring.kafka",
    _COMMON_MAP: "spring.kafka.properties",
    _FIELD: "a field of spring.kafka.{}",
    _MAP: "spring.kafka.{}.properties",
    _FACTORY: "spring.kafka.{}.transaction-id-prefix",
}


class _Bound(NamedTuple):
    """A property and what it does: for `section`, at `rank`, to Kafka's `key` (None: Spring's own)."""

    prop: Prop
    section: str
    rank: int
    key: str | None
    setting: Setting | None
    canonical: bool
    part: Part

    @property
    def conditional(self) -> bool:
        return self.part.condition is not None


class _Strayed(NamedTuple):
    """A property that binds to nothing, for the section that it was meant for."""

    section: str
    dropped: Dropped
    conditional: bool


def documents(
    file: str, stem: str, all_parts: Sequence[Part], label: str | None, active: Collection[str]
) -> list[Document]:
    """One document for each client that these profiles configure."""
    held = [part for part in all_parts if matches(part.condition, active)]
    if label is not None and all(part.condition is None for part in held):
        return []
    bound: list[_Bound] = []
    strayed: list[_Strayed] = []
    for part in held:
        for prop in part.props:
            if tuple(map(uniform, prop.path[:2])) == ("spring", "kafka"):
                _bind(prop, part, bound, strayed)
    title = stem if label is None else f"{stem} [{label}]"
    boot = {side: _handed(bound, side) for side in ("producer", "consumer")}
    streaming = spring_stream.documents(file, title, held, label is not None, boot)
    found = []
    for section in _sections(bound, strayed):
        document = _document(file, title, section, bound, strayed, held, label is not None)
        if document is not None and not (section == "common" and streaming):
            found.append(document)
    return found + streaming


def _handed(bound: Sequence[_Bound], component: str) -> list[Setting]:
    """What spring.kafka gives to a client, whoever makes it."""
    mine = [one for one in bound if one.key is not None]
    mine = [one for one in mine if one.section == component or _shared(one, component)]
    return [one.setting for one in _settle(mine, component)[0] if one.setting is not None]


def _bind(prop: Prop, part: Part, bound: list[_Bound], strayed: list[_Strayed]) -> None:
    conditional = part.condition is not None
    path = prop.path[2:]
    section = uniform(path[0]) if path else ""
    rest = path[1:]
    if section not in SECTIONS:
        section, rest = "common", path
    common = section == "common"
    if rest and uniform(rest[0]) == "properties":
        key = ".".join(rest[1:])
        if not key:
            return
        if prop.listed:
            strayed.append(_listed(prop, section, key, conditional))
            return
        rank = _COMMON_MAP if common else _MAP
        bound.append(_Bound(prop, section, rank, key, _setting(prop, key, prop.text), True, part))
        return
    found = field_of(section, rest)
    if found is None and common and rest and uniform(rest[0]) == "jaas":
        return  # options of the login module: a map of its own
    if found is None:
        stray = _stray(prop, section, rest, conditional)
        if stray is not None:
            strayed.append(stray)
        return
    name, field = found
    one = None
    rank = _COMMON_FIELD if common else _FACTORY if field.key == "transactional.id" else _FIELD
    if field.key is not None:
        text = converted(field.kind, prop.text)
        notes = [f"written {prop.text}"] if field.kind in ("bytes", "millis") and text != prop.text else []
        notes += [field.note] if field.note else []
        one = _setting(prop, field.key, text, "; ".join(notes))
    canonical = ".".join(rest) == name
    bound.append(_Bound(prop, section, rank, field.key, one, canonical, part))


def _setting(prop: Prop, key: str, text: str, note: str = "") -> Setting:
    one = setting(key, text, prop.file, prop.line, note)
    return one._replace(value=Unknown(text)) if _FILTERED.fullmatch(text) else one


def _listed(prop: Prop, section: str, key: str, conditional: bool) -> _Strayed:
    detail = f"a list under properties becomes {key}.0, {key}.1 and so on, which Kafka does not know"
    right = f"{prop.name}: one text with commas"
    where = Location(prop.file, prop.line)
    dropped = Dropped(prop.name, value_of(key, prop.text), where, "binds-to-nothing", detail, right)
    return _Strayed(section, dropped, conditional)


def _stray(prop: Prop, section: str, rest: tuple[str, ...], conditional: bool) -> _Strayed | None:
    guess = meant_by(section, rest) if rest else None
    if guess is None:
        return None  # an application's own, such as spring.kafka.topic.name: it reads them itself
    meant_for, right = guess or (section, None)
    if right is not None and section not in ("common", meant_for):
        # Copied from another client's part: whether that client is to have it, its owner must say.
        right = f"{right} (if it is meant for the {meant_for})"
    # It is told where it is written; a common name belongs to the client that has the key.
    home = meant_for if section == "common" else section
    place = "spring.kafka" if section == "common" else f"spring.kafka.{section}"
    detail = f"{place} has no field {'.'.join(rest)}, so Spring Boot gives it to no client"
    key = right.rpartition("properties.")[2] if right else prop.name
    where = Location(prop.file, prop.line)
    # Boot's fields take 30s and 16KB, Kafka's keys plain numbers.
    kind = "millis" if key.endswith(".ms") else "bytes" if key.endswith(".bytes") else "text"
    text = converted(kind, prop.text)
    dropped = Dropped(prop.name, value_of(key, text), where, "binds-to-nothing", detail, right)
    return _Strayed(home, dropped, conditional)


def _sections(bound: Sequence[_Bound], strayed: Sequence[_Strayed]) -> list[str]:
    """The clients that the properties speak of; "common" if they speak of none."""
    spoken = {one.section for one in bound} | {one.section for one in strayed}
    for one in bound:
        if one.section != "common":
            continue
        first = uniform(one.prop.path[2])
        if first == "template":
            spoken.add("producer")
        elif first in ("listener", "retry"):
            spoken.add("consumer")
        elif one.key is not None and one.rank == _COMMON_MAP:
            own = [side for side in ("producer", "consumer") if not roles.belongs(one.key, side)]
            if len(own) == 1:
                spoken.add("consumer" if own == ["producer"] else "producer")
    found = [section for section in SECTIONS if section in spoken]
    return found or (["common"] if "common" in spoken else [])


def _document(
    file: str,
    title: str,
    section: str,
    bound: Sequence[_Bound],
    strayed: Sequence[_Strayed],
    held: Sequence[Part],
    profiled: bool,
) -> Document | None:
    component = "admin" if section == "common" else section
    mine = [one for one in bound if one.section == section or _shared(one, component)]
    lost = [one for one in strayed if one.section in (section, "common") and one.conditional >= profiled]
    if profiled and not lost and not any(one.conditional for one in mine):
        return None  # the profile leaves this client as it is
    standing, dropped = _settle([one for one in mine if one.key is not None], component)
    dropped += [one.dropped for one in lost]
    settings = [one.setting for one in standing if one.setting is not None]
    if section == "streams" and not any(one.key == "application.id" for one in settings):
        settings += _application_name(held)
    facts, topics = _listener(mine, component)
    told = [_at(one) for one in mine if one.conditional >= profiled] + [one.dropped.at for one in lost]
    lines = [where.line for where in told if where.file == file and where.line is not None]
    return Document(
        file,
        "spring",
        component,
        title if section == "common" else f"{title} {component}",
        tuple(settings),
        "spring",
        min(lines, default=None),
        facts,
        tuple(dropped),
        hints(component, settings) + topics,
    )


def _shared(one: _Bound, component: str) -> bool:
    """Whether a common property is worth telling this client: not if only another client knows the key."""
    if one.section != "common":
        return False
    if one.key is None:
        first = uniform(one.prop.path[2])
        return component == {"template": "producer", "listener": "consumer", "retry": "consumer"}.get(first)
    if component in ("producer", "consumer"):
        # Every client gets it; a key that another kind of client knows was meant for that one.
        known = roles.components(one.key)
        return roles.belongs(one.key, component) and (component in known or known.isdisjoint(_CLIENTS))
    return True


_CLIENTS = ("producer", "consumer", "admin", "streams")


def _settle(mine: Sequence[_Bound], component: str) -> tuple[list[_Bound], list[Dropped]]:
    """Which of the values for each key reaches Kafka, and which are written over.

    First each property takes its value from the last source that has it, as Spring's Environment does;
    only then do the properties that set one key compete.
    """
    dropped: list[Dropped] = []
    slots: dict[tuple[int, str], _Bound] = {}
    for one in mine:
        slot = one.rank, one.key or ""
        before = slots.get(slot)
        if before is None:
            slots[slot] = one
            continue
        one_source = one.part is before.part
        # In one source equal names replace each other; of different spellings of a name the dashed one
        # is found first, and so is the first of those that lead into a map.
        earlier_wins = one_source and one.prop.name != before.prop.name and before.canonical
        winner, loser = (before, one) if earlier_wins else (one, before)
        slots[slot] = winner
        same = one_source or one.part.condition == before.part.condition
        if same and _value(winner) != _value(loser):
            dropped.append(_overridden(loser, f"{_at(winner)} sets the same property"))
    standing: dict[str, _Bound] = {}
    for rank, key in sorted(slots, key=lambda slot: slot[0]):
        one = slots[rank, key]
        before = standing.get(key)
        # A profile is there to write over what holds without it.
        meant = before is not None and one.part.condition != before.part.condition
        if before is not None and _value(before) != _value(one) and not meant:
            place = _PLACES[rank].format(component)
            dropped.append(_overridden(before, f"{place} ({_at(one)}) is written over it"))
        standing[key] = one
    for key, name in ALWAYS_SET.get(component, {}).items():
        if key in standing and standing[key].rank < _FIELD:
            right = f"spring.kafka.{component}.{name}"
            detail = f"Spring Boot always writes its own default of {right} over it"
            dropped.append(_overridden(standing.pop(key), detail, right))
    order = {id(one): number for number, one in enumerate(mine)}
    return sorted(standing.values(), key=lambda one: order[id(one)]), dropped


def _value(one: _Bound) -> Value | None:
    return None if one.setting is None else one.setting.value


def _overridden(one: _Bound, detail: str, meant: str | None = None) -> Dropped:
    assert one.setting is not None
    return Dropped(one.key or one.prop.name, one.setting.value, _at(one), "overridden", detail, meant)


def _at(one: _Bound) -> Location:
    return Location(one.prop.file, one.prop.line)


def _application_name(held: Sequence[Part]) -> list[Setting]:
    """The name of the application, which Spring Boot gives to Streams that has no id of its own."""
    found = [
        prop
        for part in held
        for prop in part.props
        if tuple(map(uniform, prop.path)) == ("spring", "application", "name") and prop.text
    ]
    return [_setting(prop, "application.id", prop.text, "spring.application.name") for prop in found[-1:]]


def _listener(mine: Sequence[_Bound], component: str) -> tuple[tuple[Fact, ...], tuple[tuple[str, str], ...]]:
    """What the listener container and the template say that is no key of Kafka."""
    facts: dict[str, Fact] = {}
    topics: list[tuple[str, str]] = []
    for one in mine:
        name = tuple(map(uniform, one.prop.path[2:]))
        value = value_of(one.prop.path[-1], one.prop.text.strip())
        origin = Origin("file", Location(one.prop.file, one.prop.line))
        if not isinstance(value, str) or not value:
            continue
        if component == "consumer" and name == ("listener", "concurrency") and integer(value) is not None:
            facts["group.members"] = Fact("group.members", value, origin)
        elif component == "consumer" and name == ("listener", "ackmode"):
            mode = value.lower().replace("-", "_")
            facts["listener.ack_mode"] = Fact("listener.ack_mode", mode, origin)
        elif component == "consumer" and name == ("listener", "type"):
            facts["listener.type"] = Fact("listener.type", value.lower(), origin)
        elif component == "producer" and name == ("template", "defaulttopic"):
            topics.append(("topic", value))
    return tuple(facts.values()), tuple(topics)
