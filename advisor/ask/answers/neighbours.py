"""The other deployments of a document, by how they behave: what a fix that changes the document may harm.

Of a thousand topics on one cluster a few behave each in their own way. Two of a kind answer a change of the
document alike: they have one behaviour, and say the same keys themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...context import Context
from ...join.effective import by_key
from ...model import Deployment, Document, members_of
from ..policies import Decoded, decode

Kind = tuple[Any, ...]
# What the search reads of a topic or a producer, each of which may be left to the brokers or to a default.
_SAID = (
    *("min.insync.replicas", "unclean.leader.election.enable"),
    *("acks", "request.required.acks", "enable.idempotence", "retries", "transactional.id"),
    "max.in.flight.requests.per.connection",
)


def behaviour_of(decoded: Decoded) -> Kind:
    """All that the search reads."""
    producer = decoded.producer
    return (
        decoded.version.number,
        decoded.family,
        tuple((name, knob.values) for name, knob in decoded.knobs.items()),
        None if producer is None else tuple(knob.values for knob in producer.values()),
        (decoded.racks, decoded.racks_unplaced, decoded.kraft, decoded.minimum_with_elr),
    )


def kind_of(deployment: Deployment) -> Kind:
    said = [
        tuple(key for key in _SAID if key in by_key(document))
        for document in (deployment.topic, deployment.producer)
    ]
    components = tuple(document.component for document in members_of(deployment))
    return behaviour_of(decode(deployment)), *said, components


def kinds(deployments: tuple[Deployment, ...]) -> frozenset[Kind]:
    """For `Context.across`."""
    return frozenset(map(kind_of, deployments))


def _several_leave(key: str) -> Callable[[tuple[Deployment, ...]], bool]:
    def leave(deployments: tuple[Deployment, ...]) -> bool:
        topics = {id(one.topic): one.topic for one in deployments if one.topic is not None}
        return sum(key not in by_key(topic) for topic in topics.values()) > 1

    return leave


# For `Context.across` of a broker: does more than one topic leave it to the brokers? By key.
several_leave = {
    key: _several_leave(key) for key in ("min.insync.replicas", "unclean.leader.election.enable")
}


class Neighbours:
    """One deployment of each kind, for each document; they are looked for once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._found: dict[int, dict[Kind, Deployment]] = {}

    def of(self, documents: Iterable[Document]) -> list[Deployment]:
        """Of documents that change; that they were looked at is noted."""
        found: dict[int, Deployment] = {}
        for document in documents:
            original = self._context.original(document)
            self._context.across(original, kinds)
            if id(original) not in self._found:
                homes = self._context.homes_of(original)
                self._found[id(original)] = {kind_of(home): home for home in reversed(homes)}
            found |= {id(home): home for home in self._found[id(original)].values()}
        return [*found.values()]
