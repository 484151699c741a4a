"""What a broker's or worker's settings say about its cluster: facts and hints for linking."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.api import Fact, Setting, Unknown


def texts(settings: Iterable[Setting]) -> dict[str, str]:
    """Key to text, for values that are known and may be shown."""
    return {item.key: item.value for item in settings if isinstance(item.value, str)}


def broker_facts(settings: Iterable[Setting]) -> tuple[Fact, ...]:
    """cluster.mode, as far as the settings of one broker tell."""
    for item in settings:
        if item.key in ("process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers"):
            return (Fact("cluster.mode", "kraft", item.origin),)
    for item in settings:
        if item.key == "zookeeper.connect" and item.value != "":
            return (Fact("cluster.mode", "zk", item.origin),)
    return ()


def listener_hints(settings: Iterable[Setting]) -> tuple[tuple[str, str], ...]:
    """Each host:port under which a client may find this broker."""
    known = texts(settings)
    found = []
    for listener in known.get("advertised.listeners", "").split(","):
        address = listener.strip().rpartition("://")[2]
        if address and not address.startswith(":"):
            found.append(("listener", address))
    host = known.get("advertised.host.name")
    if host and not found:
        found.append(("listener", f"{host}:{known.get('advertised.port', known.get('port', '9092'))}"))
    return tuple(dict.fromkeys(found))


def worker_hints(settings: Iterable[Setting]) -> tuple[tuple[str, str], ...]:
    """Where a Connect worker connects to, and its group."""
    settings = list(settings)
    known = texts(settings)
    found = [("bootstrap", server.strip()) for server in known.get("bootstrap.servers", "").split(",")]
    for item in settings:
        if item.key == "bootstrap.servers" and isinstance(item.value, Unknown):
            found.append(("filled-in", item.value.template))
    if "group.id" in known:
        found.append(("group", known["group.id"]))
    return tuple(pair for pair in dict.fromkeys(found) if pair[1])
