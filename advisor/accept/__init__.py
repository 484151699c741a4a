"""Would Kafka start with this? Validity, cross-key checks and silent rewrites, by release.

`would_accept` answers for the Java components, `would_accept_librdkafka` for clients built on librdkafka.
A value that is no text (templated) is taken as present and unknowable: whatever depends on it is left open,
never a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.catalog import Version, resolve_version

from .definition import Config, Skip, definition_reasons
from .results import Accepted, Reason, Rejected, Rewrite, discreet_reason, discreet_rewrite, hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Check = Callable[[Config], Iterable[Reason]]
    Watch = Callable[[Config], Iterable[Rewrite]]

__all__ = [
    "Accepted",
    "Reason",
    "Rejected",
    "Rewrite",
    "looks_like_class",
    "would_accept",
    "would_accept_librdkafka",
]

# Component -> the module that knows its further checks; imported when first asked for.
_MODULES = {
    "producer": "producer",
    "consumer": "consumer",
    "admin": "admin",
    "broker": "broker",
    "topic": "topic",
    "connect": "connect",
    "connect-standalone": "connect",
    "streams": "streams",
    "group": "group",
}
_loaded: dict[str, tuple[tuple[Check, ...], tuple[Watch, ...]]] = {}


def would_accept(component: str, version: str | Version, config: Mapping[str, object]) -> Accepted | Rejected:
    """The verdict of this release's own classes on `config`, complete as given."""
    resolved = resolve_version(version)
    checks, watches = _parts(component)
    if component == "broker":
        from .broker import prepare

        config = prepare(config, resolved.number)
    judged = Config(component, resolved, config)
    reasons = definition_reasons(judged)
    for check in checks:
        try:
            reasons.extend(check(judged))
        except Skip:
            continue
    secrets = hidden(config)
    if reasons:
        if secrets:
            reasons = [discreet_reason(reason, secrets) for reason in reasons]
        return Rejected(tuple(dict.fromkeys(reasons)))
    rewrites: list[Rewrite] = []
    for watch in watches:
        try:
            rewrites.extend(watch(judged))
        except Skip:
            continue
    if secrets:
        rewrites = [discreet_rewrite(rewrite, secrets) for rewrite in rewrites]
    return Accepted(tuple(rewrites))


def _parts(component: str) -> tuple[tuple[Check, ...], tuple[Watch, ...]]:
    found = _loaded.get(component)
    if found is None:
        name = _MODULES.get(component)
        if name is None:
            found = ((), ())
        else:
            from importlib import import_module

            module = import_module("." + name, __name__)
            found = (module.CHECKS, module.REWRITES)
        _loaded[component] = found
    return found


def would_accept_librdkafka(role: str, config: Mapping[str, object]) -> Accepted | Rejected:
    """The verdict of librdkafka; `role` is producer, consumer or admin."""
    from .librdkafka import judge

    return judge(role, config)


def looks_like_class(name: str) -> str | None:
    """The class of Kafka's that a wrong class name probably means."""
    from .classes import looks_like_class as look

    return look(name)
