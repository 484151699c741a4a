"""Addresses that a broker gives to clients which cannot reach them: in a container localhost is the container
itself, and on the host the name of a service is nobody's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from advisor.api import Hit, Setting

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document

_LOCAL = ("localhost", "127.0.0.1", "[::1]")


class _Listener(NamedTuple):
    port: str
    host: str  # advertised
    address: str  # advertised, with its port


def _listeners(broker: Document) -> Iterator[_Listener]:
    """What each listener listens on, and what it advertises; none where one of them is not known."""
    texts = {one.key: one.value for one in broker.settings if isinstance(one.value, str)}
    advertised = _parsed(texts.get("advertised.listeners", ""))
    # The image of Confluent listens on what it advertises, if it is not told otherwise.
    listening = _parsed(texts["listeners"]) if "listeners" in texts else advertised
    for name, address in advertised.items():
        host, _, _ = address.rpartition(":")
        if name in listening and host:
            yield _Listener(listening[name].rpartition(":")[2], host.lower(), address)


def _parsed(text: str) -> dict[str, str]:
    pairs = (part.strip().partition("://") for part in text.split(","))
    return {name.upper(): address for name, found, address in pairs if found}


def _advertised(broker: Document) -> Setting | None:
    return next((one for one in broker.settings if one.key == "advertised.listeners"), None)


def listener_out_of_reach(document: Document, context: Context) -> Iterable[Hit]:
    """A container speaks to the broker by its service's name, on a listener that advertises localhost."""
    given = _advertised(document)
    if document.component != "broker" or given is None or given.origin.at is None:
        return
    listeners = {one.port: one for one in _listeners(document)}
    told: dict[str, list[str]] = {}
    for fact in document.facts:
        if fact.name in ("client.address", "worker.address"):
            service, _, address = fact.value.partition(" ")
            listener = listeners.get(address.rpartition(":")[2])
            if listener is not None and listener.host in _LOCAL:
                told.setdefault(f"{address} {listener.address}", []).append(service)
    for pair, services in told.items():
        address, _, answer = pair.partition(" ")
        host = address.rpartition(":")[0]
        port = address.rpartition(":")[2]
        fields = {
            "broker": document.name,
            "client": ", ".join(dict.fromkeys(services)),
            "address": address,
            "answer": answer,
        }
        yield Hit(
            given.origin.at,
            ("advertised.listeners",),
            fields,
            (("broker", given),),
            advice=(
                f"advertise {host}:{port} on the listener that containers use, and give the host a listener "
                "of its own on another port",
            ),
        )


def name_out_of_reach(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """A client on the host speaks to a published port, and the broker answers with the name of a service."""
    clients = [one for one in (deployment.producer, *deployment.groups) if one is not None]
    brokers = [one for one in deployment.cluster if one.format == "compose"]
    inside = any(fact.name == "client.address" for broker in brokers for fact in broker.facts)
    if inside:
        return  # some client runs in a container, and this one perhaps too
    published = {
        fact.value.partition(":")[0]: (broker, fact.value.partition(":")[2])
        for broker in brokers
        for fact in broker.facts
        if fact.name == "port.published"
    }
    for client in clients:
        servers = next((one for one in client.settings if one.key == "bootstrap.servers"), None)
        if servers is None or servers.origin.at is None or client.format == "compose":
            continue
        hit = _named_answer(client, servers, published)
        if hit is not None:
            yield hit


def _named_answer(
    client: Document, servers: Setting, published: dict[str, tuple[Document, str]]
) -> Hit | None:
    if not isinstance(servers.value, str) or servers.origin.note:
        return None
    for server in servers.value.split(","):
        host, _, port = server.strip().rpartition(":")
        broker, inner = published.get(port, (None, ""))
        if host not in _LOCAL or broker is None:
            continue
        listener = next((one for one in _listeners(broker) if one.port == inner), None)
        if listener is None or listener.host in _LOCAL or "." in listener.host or "$" in listener.host:
            return None
        given = _advertised(broker)
        fields = {
            "broker": broker.name,
            "client": client.name,
            "address": server.strip(),
            "answer": listener.address,
        }
        at = servers.origin.at
        return (
            Hit(
                at,
                ("bootstrap.servers",),
                fields,
                (("broker", given),) if given is not None else (),
                also_at=(given.origin.at,) if given is not None and given.origin.at is not None else (),
                advice=(f"give the broker a second listener that advertises localhost:{port} to the host",),
            )
            if at is not None
            else None
        )
    return None
