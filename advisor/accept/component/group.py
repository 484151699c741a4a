"""A group's settings (4.0 on): kept by the brokers, which also say within which bounds."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.catalog import keys, suggest

from ..results import Reason
from ..value.definition import Config, Skip

# Settings of a group that its brokers bound with a min and a max of the same name.
_BOUNDED = (
    "heartbeat.interval.ms",
    "session.timeout.ms",
    "assignment.interval.ms",
    "record.lock.duration.ms",
    "delivery.count.limit",
    "partition.max.record.locks",
)


def unknown_keys(config: Config) -> Iterator[Reason]:
    for key in config.raw:
        if not config.knows(key):
            near = suggest("group", key, config.version)
            hint = f"; {near} may be meant" if near else ""
            yield Reason("unknown-key", (key,), f"{key} is no group setting, and groups refuse those{hint}")


def bounds(config: Config) -> Iterator[Reason]:
    """Against the brokers' default bounds, which may have been widened."""
    broker = keys("broker", config.version)
    for key in config.raw:
        kind, _, rest = key.partition(".")
        low, high = broker.get(f"group.{kind}.min.{rest}"), broker.get(f"group.{kind}.max.{rest}")
        if rest not in _BOUNDED or low is None or high is None:
            continue
        try:
            value = config.get(key)
        except Skip:
            continue
        if not low.default <= value <= high.default:
            detail = f"{key} must lie within the brokers' bounds, by default {low.default} to {high.default}"
            yield Reason("range", (key, low.name, high.name), detail, "broker")


def heartbeat(config: Config) -> Iterator[Reason]:
    for kind in ("consumer", "share", "streams"):
        beat, session = f"{kind}.heartbeat.interval.ms", f"{kind}.session.timeout.ms"
        if not config.knows(beat) or not (config.has(beat) or config.has(session)):
            continue
        try:
            if config.get(beat) >= config.get(session):
                yield Reason("cross-key", (beat, session), f"{beat} must be below {session}")
        except Skip:
            continue


CHECKS = (unknown_keys, bounds, heartbeat)
REWRITES: tuple[()] = ()
