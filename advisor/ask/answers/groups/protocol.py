"""members-admitted, asked about the consumer protocol (KIP-848): do the brokers offer it?

Brokers before 3.7 do not know it. From 3.7 on group.coordinator.rebalance.protocols names it, by default from
4.0 on, and only in KRaft mode; a member of it is otherwise answered UNSUPPORTED_VERSION, which it does not
survive (KafkaApis.isConsumerGroupProtocolEnabled).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....catalog import lookup
from ....context import Context, Hit, Judgement
from ....join.reader import Reader
from ....model import Edit
from ....sim.groups.roll import CONSUMER, Brokers, Kind, roll
from ..roll_trace import roll_trace
from .settings import Asked

PROTOCOLS = "group.coordinator.rebalance.protocols"
MIGRATION_POLICY = "group.consumer.migration.policy"
_FIRST = (3, 7)


def brokers_of(look: Reader) -> Brokers | None:
    """What the brokers make of the consumer protocol; None where a template hides it."""
    texts = []
    for key in (PROTOCOLS, MIGRATION_POLICY):
        text, setting = look.text("broker", key)
        if text is None and setting is not None:
            return None
        texts.append((text or look.default("broker", key) or "").lower())
    protocols, policy = texts
    upgrades, downgrades = (policy in (way, "bidirectional") for way in ("upgrade", "downgrade"))
    number = look.version.number
    shuts = policy == "disabled" and (number == (4, 3) or number > (4, 3, 0))  # since 4.3.1
    return Brokers("consumer" in protocols and not uses_zookeeper(look), upgrades, downgrades, not shuts)


def uses_zookeeper(look: Reader) -> bool:
    mode = look.fact("cluster.mode")
    return mode is not None and mode.value == "zk"


def refusal(look: Reader) -> str:
    """Why brokers do not offer it."""
    if uses_zookeeper(look):
        return "brokers that use ZooKeeper do not offer the consumer protocol"
    if look.version.number < (4, 0) or not look.is_set("broker", PROTOCOLS):
        return f"brokers of Kafka {look.version.asked} do not offer the consumer protocol"
    return f"{PROTOCOLS} does not name it"


def judge(group: Asked, context: Context) -> Iterable[Judgement]:
    look, key = group.look, "group.protocol"
    protocol, _ = look.text("consumer", key)
    if not group.librdkafka and lookup("consumer", key, context.version_of(group.document)) is None:
        return  # a client that does not know the key goes on with the classic protocol
    brokers = brokers_of(look)
    if (protocol or "").lower() != CONSUMER or brokers is None:
        return
    if brokers.consumer_protocol:
        yield Judgement("holds", bounds="brokers that offer the consumer protocol")
        return
    hidden = not look.in_sight("broker", PROTOCOLS) and look.version.number >= _FIRST
    if hidden and not uses_zookeeper(look):
        reason = f"{key}=consumer is refused unless the brokers' {PROTOCOLS} names consumer"
        yield Judgement("unknown", reason=reason, depends_on=(f"broker.{PROTOCOLS}",))
        return
    trace = context.remember("protocol", repr(brokers), lambda: _refused(brokers))
    hit = Hit(
        group.at(key),
        (key,),
        {"group": group.name, "reason": refusal(look)},
        (*group.shown(key), *group.shown(PROTOCOLS, component="broker")),
        edits=group.edits(Edit("protocol", "consumer", key, "classic")),
        advice=("or upgrade the brokers to 4.0 or later (KRaft) before the consumers",),
    )
    yield Judgement("broken", hit, tuple(trace))


def _refused(brokers: Brokers) -> list[dict[str, Any]]:
    """A member that restarts with the protocol; the one that stopped is not shown."""
    run = roll(Kind(), Kind(protocol=CONSUMER), 1, 2, brokers)
    return [{**step, "step": 1} for step in roll_trace(run)[1:]]
