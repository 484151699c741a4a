"""The values Kafka ends up with: what was written, what it inherits, what is left to a default.

One walk over the catalog's resolution table answers for documents alone and for deployments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..catalog import Version, keys, librdkafka, librdkafka_aliases, resolution
from ..hookspecs import ClientSpec
from ..model import Deployment, Document, Origin, Setting, Value
from ..syntax.numbers import LONG, TYPES, integer
from . import asked_keys
from .controllers import READ_BY_CONTROLLERS, controllers_apart, first_setting

Layers = Mapping[str, Mapping[str, Setting]]


def by_key(document: Document | None) -> dict[str, Setting]:
    """The settings of a document, for whoever looks for some of them by their keys."""
    found = {setting.key: setting for setting in document.settings} if document is not None else {}
    return asked_keys.noting(found)


def effective(
    component: str, key: str, version: Version, layers: Layers, defaults: Mapping[str, str] = {}
) -> tuple[Setting | None, bool]:
    """The setting in force and whether somebody wrote it. `layers` holds the settings of each component
    in sight; `defaults` are the client family's own."""
    table = resolution(version, component, key)
    asked_keys.note(key)
    for source, name, factor in table.sources:
        given = _written(layers, source, name)
        if given is not None:
            if name == key and source == component:
                return given, True
            return Setting(key, _scaled(given.value, factor), _through(given, source, name)), True
    if key in defaults:
        return Setting(key, defaults[key], Origin("default", None, "default of the client library")), False
    if table.default is None:
        return None, False
    return _default(component, key, version), False


def _written(layers: Layers, source: str, name: str) -> Setting | None:
    """Not noted as asked for: which names a key is written under is said by the resolution table."""
    layer = layers.get(source)
    if layer is None:
        return None
    return dict.get(layer, name) if isinstance(layer, dict) else layer.get(name)


@cache
def _default(component: str, key: str, version: Version) -> Setting:
    """Of a key that the release knows: there are as many as the catalog has."""
    default = resolution(version, component, key).default
    return Setting(key, shown_default(default), _default_origin(key, version))


def bounds_of(component: str, key: str, version: Version) -> tuple[int, int]:
    """What Kafka's type of the key can hold: a number beyond is refused before anything looks at it."""
    known = keys(component, version).get(key)
    return LONG if known is None else TYPES.get(known.type, LONG)


def _scaled(value: Value, factor: int) -> Value:
    if factor == 1 or not isinstance(value, str):
        return value
    number = integer(value.strip())
    if number is None:
        return value
    return str(number * factor) if number >= 0 else str(number)


def _through(given: Setting, source: str, name: str) -> Origin:
    return given.origin._replace(note=f"{source} {name}")


def _default_origin(key: str, version: Version) -> Origin:
    if key == "unclean.leader.election.enable" and version.number < (0, 11):
        return Origin("default", None, "default before 0.11")
    return Origin("default", None, f"default of {version.release.rpartition('.')[0]}")


def shown_default(default: Any) -> str:
    """A default as one would write it in a file."""
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, (list, tuple)):
        return ",".join(str(item) for item in default)
    return str(default)


def client_layers(document: Document) -> dict[str, dict[str, Setting]]:
    """A client's settings under Kafka's own names: librdkafka's aliases are followed, both ways."""
    settings = {setting.key: setting for setting in document.settings}
    if document.client == "librdkafka":
        for key, setting in list(settings.items()):
            known = librdkafka(key)
            if known is not None and known.alias_of:
                settings.setdefault(known.alias_of, setting)
            for alias in librdkafka_aliases(key):
                settings.setdefault(alias, setting)
    return {document.component: asked_keys.noting(settings)}


# Every rule asks for them, one deployment after another: those of the last one are kept.
_last: tuple[Deployment | None, dict[str, dict[str, Setting]], bool] = (None, {}, False)


def deployment_layers(deployment: Deployment) -> dict[str, dict[str, Setting]]:
    global _last
    if _last[0] is not deployment or _last[2] is not asked_keys.is_noting():
        _last = (deployment, _layers(deployment), asked_keys.is_noting())
    return dict(_last[1])


def _layers(deployment: Deployment) -> dict[str, dict[str, Setting]]:
    layers: dict[str, dict[str, Setting]] = {}
    if deployment.producer is not None:
        layers |= client_layers(deployment.producer)
    for group in deployment.groups[:1]:
        layers |= client_layers(group)
    layers["topic"] = by_key(deployment.topic)
    layers["broker"] = asked_keys.noting(_broker_layer(deployment.cluster))
    return layers


def _broker_layer(cluster: Sequence[Document]) -> dict[str, Setting]:
    """What the brokers of a cluster go by, of several that differ the first one; of the keys that controllers
    read, what they have."""
    controllers = controllers_apart(cluster)
    found: dict[str, Setting] = {}
    for document in (*(one for one in cluster if one not in controllers), *controllers):
        for setting in document.settings:
            found.setdefault(setting.key, setting)
    if controllers:
        for key in READ_BY_CONTROLLERS:
            theirs = first_setting(controllers, key)
            if theirs is not None:
                found[key] = theirs
            else:
                found.pop(key, None)
    return found


def shows_brokers(deployment: Deployment) -> bool:
    """Are settings of brokers in sight? A node pool counts brokers and says nothing of their settings; a
    broker that is only assumed has Kafka's defaults."""
    return any(document.settings or document.format == "assumed" for document in deployment.cluster)


def family_defaults(document: Document, clients: Mapping[str, ClientSpec]) -> Mapping[str, str]:
    spec = clients.get(document.client)
    return spec.defaults if spec is not None else {}


def all_effective(
    component: str, version: Version, layers: Layers, defaults: Mapping[str, str] = {}
) -> Iterator[Setting]:
    """Every key of a component with its value in force, sorted; keys the release does not know last."""
    told: set[Setting] = set()  # one of librdkafka's stands under several names
    for key in sorted(keys(component, version)):
        found, _ = effective(component, key, version, layers, defaults)
        if found is not None and found not in told:
            told.add(found)
            yield found
    for key, setting in sorted(layers.get(component, {}).items()):
        if key not in keys(component, version) and setting not in told:
            told.add(setting)
            yield setting
