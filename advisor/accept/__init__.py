"""Would Kafka start with this? Validity, cross-key checks and silent rewrites, by release.

`would_accept` answers for the Java components, `would_accept_librdkafka` for clients built on librdkafka.
A value that is no text (templated) is taken as present and unknowable: whatever depends on it is left open,
never a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.catalog import Version, resolve_version

from .results import Accepted, Reason, Rejected, Rewrite, discreet_reason, discreet_rewrite, hidden
from .value.definition import Config, Skip, definition_reasons

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
    if not all(isinstance(value, str) for value in config.values()):
        return _judged(component, resolved, config)
    # Brokers of a cluster are alike, and a fix is asked about what it leaves as it was.
    mark = component, resolved, tuple(config.items())
    found = _whole.get(mark)
    if found is None:
        if len(_whole) >= _WHOLE_MAX:
            _whole.clear()
        found = _whole[mark] = _judged(component, resolved, config)
    return found


_WHOLE_MAX = 2_000
_whole: dict[tuple[str, Version, tuple[tuple[str, object], ...]], Accepted | Rejected] = {}


def _judged(component: str, resolved: Version, config: Mapping[str, object]) -> Accepted | Rejected:
    checks, watches = _parts(component)
    if component == "broker":
        from .component.broker import prepare

        config = prepare(config, resolved.number)
    judged = Config(component, resolved, config)
    reasons = definition_reasons(judged)
    if not reasons:
        remembered = _remembered(component, resolved.release, config)
        if remembered is not None:
            return remembered
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
    accepted = Accepted(tuple(rewrites))
    if component in _SELECTIVE:
        _remember(component, resolved.release, config, judged.read, accepted)
    return accepted


# Most configurations of a fleet differ in names and addresses only. What the checks answer depends on the
# keys they read, so an accepted configuration answers for every other with the same values there. Only for
# components whose checks ask for keys by name; values that are no text are never remembered.
_SELECTIVE = ("producer", "consumer", "admin")
_REMEMBERED_MAX = 20_000
_read: dict[tuple[str, str], set[str]] = {}
_accepted: dict[tuple[str, str], dict[frozenset[tuple[str, object]], Accepted]] = {}


def _remembered(component: str, release: str, config: Mapping[str, object]) -> Accepted | None:
    mark = component, release
    known = _accepted.get(mark)
    return None if known is None else known.get(_projected(config, _read[mark]))


def _projected(config: Mapping[str, object], read: set[str]) -> frozenset[tuple[str, object]]:
    return frozenset([item for item in config.items() if item[0] in read])


def _remember(
    component: str, release: str, config: Mapping[str, object], read: set[str], accepted: Accepted
) -> None:
    mark = component, release
    before = _read.setdefault(mark, set())
    known = _accepted.setdefault(mark, {})
    if not read <= before or len(known) > _REMEMBERED_MAX:
        # A key that no earlier run read: what was remembered did not look at it.
        before |= read
        known.clear()
    projected = _projected(config, before)
    if all(isinstance(value, str) for _, value in projected):
        known[projected] = accepted


def _parts(component: str) -> tuple[tuple[Check, ...], tuple[Watch, ...]]:
    found = _loaded.get(component)
    if found is None:
        name = _MODULES.get(component)
        if name is None:
            found = ((), ())
        else:
            from importlib import import_module

            module = import_module(f".component.{name}", __name__)
            found = (module.CHECKS, module.REWRITES)
        _loaded[component] = found
    return found


def would_accept_librdkafka(role: str, config: Mapping[str, object]) -> Accepted | Rejected:
    """The verdict of librdkafka; `role` is producer, consumer or admin."""
    from .component.librdkafka import judge

    return judge(role, config)


def looks_like_class(name: str) -> str | None:
    """The class of Kafka's that a wrong class name probably means."""
    from .value.classes import looks_like_class as look

    return look(name)
