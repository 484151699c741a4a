"""A topic's settings, as the controller checks them."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.catalog import fate, suggest

from ..results import Reason, Rewrite
from ..value.definition import Config

_MIN_LAG, _MAX_LAG = "min.compaction.lag.ms", "max.compaction.lag.ms"


def unknown_keys(config: Config) -> Iterator[Reason]:
    """Only topics refuse keys they do not know."""
    for key in config.raw:
        if config.knows(key):
            continue
        past = fate("topic", key, config.version)
        if past.status == "removed":
            yield Reason(
                "removed", (key,), f"{key} is gone since the release after {past.until}; topics refuse it"
            )
        elif past.status == "not-yet":
            yield Reason(
                "unknown-key",
                (key,),
                f"{key} exists from {past.since} on; topics refuse keys they do not know",
            )
        else:
            near = suggest("topic", key, config.version)
            hint = f"; {near} may be meant" if near else ""
            yield Reason("unknown-key", (key,), f"{key} is no topic setting, and topics refuse those{hint}")


def compaction_lag(config: Config) -> Iterator[Reason]:
    if config.knows(_MAX_LAG) and config.get(_MIN_LAG) > config.get(_MAX_LAG):
        yield Reason("cross-key", (_MIN_LAG, _MAX_LAG), f"{_MIN_LAG} must not be above {_MAX_LAG}")


def tiered_storage(config: Config) -> Iterator[Reason]:
    """Whether tiered storage is on is said by the brokers; a plain cluster has it off."""
    if config.since(3, 6) and config.get("remote.storage.enable"):
        yield Reason(
            "cross-key",
            ("remote.storage.enable", "remote.log.storage.system.enable"),
            "remote.storage.enable needs brokers with remote.log.storage.system.enable=true",
            "broker",
        )


def tiered_contents(config: Config) -> Iterator[Reason]:
    """LogConfig.validateTopicLogConfigValues: a tiered topic is not compacted, and what is kept locally is a
    part of what is kept. What is left to the brokers' defaults is not held against each other."""
    if not config.since(3, 6) or not config.get("remote.storage.enable"):
        return
    if "compact" in (config.text("cleanup.policy") or "").lower():
        yield Reason(
            "cross-key",
            ("cleanup.policy", "remote.storage.enable"),
            "a topic with remote.storage.enable cannot be compacted",
        )
    for unit in ("ms", "bytes"):
        total, local = f"retention.{unit}", f"local.retention.{unit}"
        if not (config.has(total) and config.has(local)) or config.get(local) == -2:
            continue
        if config.get(total) > -1 and not 0 <= config.get(local) <= config.get(total):
            yield Reason("cross-key", (local, total), f"{local} must lie within {total}")


CHECKS = (unknown_keys, compaction_lag, tiered_storage, tiered_contents)


def format_ignored(config: Config) -> Iterator[Rewrite]:
    key = "message.format.version"
    if config.knows(key) and config.has(key) and config.since(3, 0):
        yield Rewrite(
            key, config.text(key), None, (), "brokers whose protocol version is 3.0 or newer ignore it"
        )


REWRITES = (format_ignored,)
