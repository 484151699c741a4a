"""`--set component.key=value` and `--set fact.X=value`, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog import COMPONENTS, Version, is_known, librdkafka, resolve_version, suggest
from ..model import Fact, Origin, Setting, UsageError
from ..read.values import value_of
from .link import Overrides, stated_fact
from .versions import choose_version

# Keys that went before the oldest release of the catalog, and that the simulator still acts on.
_OLDER = {("broker", "replica.lag.max.messages")}


def parse_overrides(sets: Sequence[str], version: Version | None) -> Overrides:
    version = version or resolve_version(choose_version(None, ())[0])
    settings: dict[str, dict[str, Setting]] = {}
    facts: list[Fact] = []
    for text in sets:
        name, equals, value = text.partition("=")
        component, _, key = name.strip().partition(".")
        if not equals or not key:
            raise UsageError(f"--set {name}: write component.key=value or fact.name=value")
        if component == "fact":
            facts.append(stated_fact(key, value.strip()))
            continue
        if component not in COMPONENTS:
            raise UsageError(
                f"--set {name}: no component {component!r}; one of {', '.join(COMPONENTS)}, fact"
            )
        old = version.number < (2, 0) and (component, key) in _OLDER
        if not old and not is_known(component, key, version) and librdkafka(key) is None:
            near = suggest(component, key, version)
            hint = f"; did you mean {component}.{near}?" if near else ""
            raise UsageError(f"--set {name}: Kafka {version.asked} has no {component} setting {key!r}{hint}")
        # The catalog does not know an older key, which says nothing against showing its value.
        given = value.strip() if old else value_of(key, value)
        settings.setdefault(component, {})[key] = Setting(key, given, Origin("set", None, "--set"))
    return Overrides(settings, tuple(facts))
