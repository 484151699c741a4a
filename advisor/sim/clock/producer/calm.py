"""Stretches in which the fate of what is sent is certain: it may be taken in one stride.

A broker that takes itself for the leader stores what it is sent, and whoever fetches from it has it at once.
With acks=all it answers when the whole of its ISR does so; else nobody is waited for. So it goes on until
something happens: under a leader in office, under one that is cut off alone, and under one that was voted out
and does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...partition.replication import source
from ...partition.state import members, presumes_leadership
from ..replicas import Replicas

if TYPE_CHECKING:
    from .client import Client


def copiers(cluster: Replicas, leader: int) -> int:
    """Who fetches from that broker, as a mask."""
    found = 0
    for broker in cluster.brokers:
        if (
            broker != leader
            and cluster.acts(broker)
            and cluster.linked(leader, broker)
            and source(cluster.model, cluster.state, broker) == leader
        ):
            found |= 1 << broker
    return found


def calm(client: Client) -> bool:
    """The client's leader takes what it is sent, and will answer. Something may still be under way."""
    cluster, leader = client.cluster, client.leader
    if leader < 0 or client.numbers.gap or (client.refreshing and not client.up_to_date()):
        return False
    if not client.listener.reaches(leader) or not cluster.serves(leader):
        return False
    if not presumes_leadership(cluster.state, leader):
        return False
    isr, copying = cluster.state.replicas[leader].isr, copiers(cluster, leader)
    if client.policy.acks == "all":
        return isr == copying | 1 << leader
    return not copying & ~isr  # or one is about to join


def still(client: Client) -> bool:
    """Calm, and nothing is under way: neither to the leader nor from it to its followers."""
    cluster, connection = client.cluster, client.connection
    if connection is None or connection.unanswered or connection.broker != client.leader:
        return False
    if not calm(client):
        return False
    leader = cluster.state.replicas[client.leader]
    if client.policy.acks == "all" and leader.isr.bit_count() < cluster.model.min_isr:
        return False
    for broker in members(copiers(cluster, client.leader)):
        replica = cluster.state.replicas[broker]
        if len(replica.log) != len(leader.log) or replica.answer is not None:
            return False
    return not any(cluster.fetching) and not any(parked >= cluster.clock.now for parked in cluster.parked)


def ends(client: Client) -> int:
    """When something may happen to a calm stretch: what is planned, what the schedule does, a follower that
    leaves the ISR, news of another leader."""
    cluster = client.cluster
    end = client.clock.next_disturbance()
    if cluster.check_at is not None and any(
        cluster.stale_since[broker] is not None for broker in members(cluster.state.isr)
    ):
        end = min(end, cluster.check_at)
    if not client.up_to_date():
        end = min(end, client.ages_at)
    return end
