"""Spring's listeners put together with what configures them: which consumers result, and how many.

A `listener` document (of Java or Kotlin code) says what a method reads; its consumer's settings are in the
application's file, or in a map that the code fills. Both are of one module: what lies under the same folder
as `src/`. As Spring does it: the group is the annotation's, else the application's; `properties` of the
annotation go over all others; `concurrency` is the annotation's, else the factory's, else the application's,
else 1, and the listeners of one group add up. A consumer that has listeners becomes one document for each
group, and the listener documents go. Without settings in sight a listener is a consumer by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...model import Document, Fact, Setting
from ...syntax.numbers import integer
from ...tuples import NamedTuple

LISTENER = "listener"
_SOURCE = re.compile(r"(?:^|/)src/")
_BOOT_FACTORY = "kafkaListenerContainerFactory"


def with_listeners(documents: Sequence[Document], joined: bool = True) -> list[Document]:
    """The documents without listeners, which have become consumers. Not `joined`: each by itself."""
    modules: dict[str, list[Document]] = {}
    for document in documents:
        if document.component == LISTENER:
            modules.setdefault(_module(document) if joined else document.file, []).append(document)
    taken: dict[int, list[Document]] = {}
    alone: list[Document] = []
    for name, found in modules.items():
        bases = [one for one in documents if joined and _module(one) == name]
        for base, made in _consumers(found, bases):
            if base is None:
                alone += made
            else:
                taken.setdefault(id(base), []).extend(made)
    result: list[Document] = []
    for document in documents:
        if document.component != LISTENER:
            result += taken.get(id(document), [document])
    return result + alone


def _module(document: Document) -> str:
    found = _SOURCE.search(document.file)
    return document.file[: found.start()] if found is not None else document.file.rpartition("/")[0]


def _hint(document: Document, kind: str) -> str:
    return next((value for name, value in document.hints if name == kind), "")


class _Listened(NamedTuple):
    """A listener and the factory that makes its container, if that is in sight."""

    listener: Document
    factory: Document | None


def _consumers(
    found: Sequence[Document], neighbours: Sequence[Document]
) -> Iterator[tuple[Document | None, list[Document]]]:
    """Each configuration that listeners use, and the consumers that it becomes."""
    factories = {_hint(one, "factory-of"): one for one in found if _hint(one, "factory-of")}
    listened = [
        _Listened(one, factories.get(_hint(one, "factory"))) for one in found if not _hint(one, "factory-of")
    ]
    boot = [one for one in neighbours if one.component == "consumer" and one.format != "java-source"]
    code = [one for one in neighbours if one.component == "consumer" and one.format == "java-source"]
    by_base: dict[int, tuple[Document | None, list[_Listened]]] = {}
    for one in listened:
        for base in _bases(one, boot, code) or [None]:
            by_base.setdefault(id(base), (base, []))[1].append(one)
    for base, users in by_base.values():
        yield base, list(_by_group(base, users, boot))


def _bases(one: _Listened, boot: list[Document], code: list[Document]) -> list[Document | None]:
    """What configures a listener's consumer: the map that its factory is made of, else the application."""
    if one.factory is None and _hint(one.listener, "factory") != _BOOT_FACTORY:
        return []  # a factory that nobody here has seen
    if one.factory is not None and code:
        named = [each for each in code if _hint(each, "bean") == _hint(one.factory, "consumer-factory")]
        chosen = named or code
        return [chosen[0]] if len(chosen) == 1 else []
    return list(boot)


def _by_group(
    base: Document | None, users: Sequence[_Listened], boot: Sequence[Document]
) -> Iterator[Document]:
    held = {one.key: one for one in base.settings} if base is not None else {}
    if base is not None and _hint(base, "laid-over") and len(boot) == 1:
        held = {one.key: one for one in boot[0].settings} | held
    groups: dict[str, list[_Listened]] = {}
    for one in users:
        groups.setdefault(_group_of(one.listener, held), []).append(one)
    for group, together in groups.items():
        yield _consumer(base, held, group, together, len(groups) > 1)


def _group_of(listener: Document, held: dict[str, Setting]) -> str:
    own = next((one for one in listener.settings if one.key == "group.id"), None) or held.get("group.id")
    return str(own.value) if own is not None else ""


def _consumer(
    base: Document | None,
    held: dict[str, Setting],
    group: str,
    together: Sequence[_Listened],
    several: bool,
) -> Document:
    settings = dict(held)
    for one in together:
        for setting in one.listener.settings:
            before = settings.get(setting.key)
            # Two listeners of one group may differ; then the first speaks for the group.
            if before is None or before.origin.note != "@KafkaListener":
                settings[setting.key] = setting
    facts = [one for one in (base.facts if base is not None else ()) if one.name != "group.members"]
    facts += [
        fact for one in together for fact in one.listener.facts if fact.name == "consumer.subscription"
    ][:1]
    facts += _members(base, together)
    hints = [hint for hint in (base.hints if base is not None else ()) if hint[0] not in ("group", "topic")]
    hints += [hint for one in together for hint in one.listener.hints if hint[0] == "topic"]
    if group and not group.startswith("unknown"):
        hints.append(("group", group))
    first = together[0].listener
    home = base if base is not None else first._replace(component="consumer", hints=())
    title = f"{home.name} {group}" if several and group and base is not None else home.name
    return home._replace(
        name=title,
        settings=tuple(settings.values()),
        facts=tuple(facts),
        hints=tuple(dict.fromkeys(hints)),
    )


def _members(base: Document | None, together: Sequence[_Listened]) -> Iterator[Fact]:
    """How many consumers the group has: those of all its listeners. Nothing where one is not known."""
    common = next(
        (one for one in (base.facts if base is not None else ()) if one.name == "group.members"), None
    )
    total = 0
    origin = None
    for one in together:
        if any(fact.name == "listener.starts" for fact in one.listener.facts):
            return
        stated = _stated(one.listener) or _stated(one.factory) or common
        number = 1 if stated is None else integer(stated.value)
        if number is None or number < 1:
            return
        total += number
        origin = origin or (stated.origin if stated is not None else None)
    if origin is None:
        return  # nobody says how many: one for each pod
    note = f"{len(together)} listeners" if len(together) > 1 else origin.note
    yield Fact("group.members", str(total), origin._replace(note=note))


def _stated(document: Document | None) -> Fact | None:
    if document is None:
        return None
    return next((fact for fact in document.facts if fact.name == "listener.concurrency"), None)
