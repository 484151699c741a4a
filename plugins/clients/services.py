"""Services that speak Kafka's protocol and are not Kafka: what they refuse, cut off or pass over.

Each fact names its source. What a service documents for some of its tiers alone is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from advisor.api import Accepted, Config, Reason, Rejected, Rewrite, integer


class _Limit(NamedTuple):
    """The most that a client may ask of the service. `default` is Kafka's own, which is beyond it. `refused`:
    the service ends the connection; else it goes its own way, whatever is set."""

    component: str
    key: str
    most: int
    default: str
    what: str
    refused: bool = False


_CUT = "Azure cuts connections that are idle for 240 s, and the next batch expires on a dead one"
# learn.microsoft.com, Event Hubs: "Recommended configurations for Apache Kafka clients"
_EVENT_HUBS = (
    _Limit("producer", "connections.max.idle.ms", 239_999, "540000", _CUT),
    _Limit("consumer", "connections.max.idle.ms", 239_999, "540000", _CUT),
    _Limit("producer", "metadata.max.age.ms", 239_999, "300000", _CUT),
    _Limit("consumer", "metadata.max.age.ms", 239_999, "300000", _CUT),
    _Limit(
        "producer",
        "max.request.size",
        1_046_528,
        "1048576",
        "Event Hubs closes the connection of a larger request than 1046528 bytes",
        refused=True,
    ),
)


def event_hubs(component: str, config: Config) -> Accepted | Rejected:
    reasons, rewrites = [], []
    for limit in _EVENT_HUBS:
        if limit.component != component:
            continue
        given = config.get(limit.key)
        number = _number(limit.default if given is None else given)
        if number is None or number <= limit.most:
            continue
        if given is not None and limit.refused:
            reasons.append(Reason("range", (limit.key,), limit.what))
            continue
        is_set = f"{limit.key} is {number}" + ("" if given is not None else " by default")
        detail = f"{is_set}: {limit.what}; set it to {limit.most} or less"
        rewrites.append(Rewrite(limit.key, None, None, ("bootstrap.servers",), detail))
    return Rejected(tuple(reasons)) if reasons else Accepted(tuple(rewrites))


# docs.aws.amazon.com, MSK developer guide: "Configuration properties for MSK Serverless clusters"
_MSK_TOPIC = frozenset(
    (
        "cleanup.policy",
        "compression.type",
        "max.message.bytes",
        "message.timestamp.difference.max.ms",
        "message.timestamp.type",
        "retention.bytes",
        "retention.ms",
    )
)
_MSK_MESSAGE_MAX = 8_388_608


def msk_serverless(component: str, config: Config) -> Accepted | Rejected:
    if component != "topic":
        return Accepted()
    reasons = [
        Reason("range", (key,), "Amazon MSK Serverless lets nobody set it on a topic; leave it out")
        for key in config
        if key not in _MSK_TOPIC
    ]
    size = _number(config.get("max.message.bytes"))
    if size is not None and size > _MSK_MESSAGE_MAX:
        what = f"Amazon MSK Serverless takes {_MSK_MESSAGE_MAX} at most"
        reasons.append(Reason("range", ("max.message.bytes",), what))
    return Rejected(tuple(reasons)) if reasons else Accepted()


# docs.confluent.io, "Configuration Reference for Topics in Confluent Cloud": not editable.
_CONFLUENT_FIXED = {"compression.type": "producer"}


def confluent_cloud(component: str, config: Config) -> Accepted | Rejected:
    if component != "topic":
        return Accepted()
    reasons = [
        Reason("range", (key,), f"Confluent Cloud fixes it at {fixed}; leave it out")
        for key, fixed in _CONFLUENT_FIXED.items()
        if key in config and config[key] != fixed
    ]
    return Rejected(tuple(reasons)) if reasons else Accepted()


# redpanda-data/redpanda, src/v/kafka/server/handlers/topics/types.h: accepted and not used, in every release
# since 23.
_REDPANDA_IDLE = (
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "file.delete.delay.ms",
    "flush.messages",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "message.downconversion.enable",
    "message.format.version",
    "message.timestamp.difference.max.ms",
    "preallocate",
    "segment.index.bytes",
    "segment.jitter.ms",
)


def redpanda(component: str, config: Config) -> Accepted | Rejected:
    return _idle(component, config, dict.fromkeys(_REDPANDA_IDLE, "Redpanda takes it and does not use it"))


# docs.warpstream.com, "Topic Configuration Reference" (what is not listed there is ignored without a sign)
# and "Protocol and Feature Support" (no leaders, no replicas).
_WARPSTREAM_IDLE = {
    "min.insync.replicas": "in WarpStream object storage keeps the copies",
    "unclean.leader.election.enable": "in WarpStream partitions have no leaders",
    "follower.replication.throttled.replicas": "WarpStream has no replicas",
    "leader.replication.throttled.replicas": "WarpStream has no replicas",
}


def warpstream(component: str, config: Config) -> Accepted | Rejected:
    return _idle(component, config, _WARPSTREAM_IDLE)


def _idle(component: str, config: Config, idle: Mapping[str, str]) -> Accepted | Rejected:
    if component != "topic":
        return Accepted()
    return Accepted(tuple(_passed_over(config, idle)))


def _passed_over(config: Config, idle: Mapping[str, str]) -> Iterator[Rewrite]:
    for key, why in idle.items():
        if key in config:
            yield Rewrite(key, str(config[key]), None, (), f"{why}, so it has no effect")


def _number(value: object) -> int | None:
    return integer(value.strip()) if isinstance(value, str) else None
