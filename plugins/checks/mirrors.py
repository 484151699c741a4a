"""MirrorMaker flows that feed each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from advisor.api import Hit, Location

if TYPE_CHECKING:
    from advisor.api import Context, Document, Setting

_ENABLED = ".enabled"
_POLICY = "replication.policy.class"
# It names a copy as its source is named, so that nothing tells the two apart (its topicSource is null, and
# MirrorSourceConnector.isCycle asks for no more).
_SAME_NAMES = "IdentityReplicationPolicy"


def mirrors_in_a_circle(document: Document, context: Context) -> Iterable[Hit]:
    if document.component != "mm2":
        return
    settings = {one.key: one for one in document.settings}
    enabled = [
        key.removesuffix(_ENABLED).split("->")
        for key, one in settings.items()
        if key.endswith(_ENABLED) and _text(one).lower() == "true"
    ]
    flows = [(flow[0], flow[1]) for flow in enabled if len(flow) == 2 and all(flow)]
    for source, target in flows:
        if source >= target or (target, source) not in flows:
            continue
        there, back = f"{source}->{target}", f"{target}->{source}"
        policies = [settings.get(f"{flow}.{_POLICY}") or settings.get(_POLICY) for flow in (there, back)]
        both = _both(_topics(settings, there), _topics(settings, back))
        policy = policies[0]
        if policy is None or not both or not all(_text(one).endswith(_SAME_NAMES) for one in policies):
            continue
        yield Hit(
            policy.origin.at or Location(document.file, document.line),
            (policy.key,),
            {"there": there, "back": back, "topics": both},
            (("mm2", policy),),
            advice=(
                "enable one direction, or leave replication.policy.class to its default, which puts the "
                "name of the source before that of the copy",
            ),
        )


def _text(setting: Setting | None) -> str:
    return setting.value.strip() if setting is not None and isinstance(setting.value, str) else ""


def _topics(settings: Mapping[str, Setting], flow: str) -> list[str]:
    given = settings.get(f"{flow}.topics") or settings.get("topics")
    return [one.strip() for one in (_text(given) or ".*").split(",") if one.strip()]


def _both(one: list[str], other: list[str]) -> str:
    """What surely goes both ways: patterns that are equal, or a name that a pattern of the other takes."""
    if ".*" in one or ".*" in other:
        return ", ".join(other if ".*" in one else one)
    plain = re.compile(r"[\w-]+")
    shared = [name for name in one if name in other]
    shared += [
        name
        for names, patterns in ((one, other), (other, one))
        for name in names
        if name not in shared and plain.fullmatch(name) and any(_takes(each, name) for each in patterns)
    ]
    return ", ".join(shared)


def _takes(pattern: str, name: str) -> bool:
    """`orders.*` takes every name that begins so; other patterns are not tried."""
    return (
        pattern.endswith(".*")
        and name.startswith(pattern[:-2])
        and re.fullmatch(r"[\w-]*", pattern[:-2]) is not None
    )
