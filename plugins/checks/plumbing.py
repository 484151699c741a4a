"""Values that are written down and never reach Kafka: each format says what it dropped and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Change, Edit, Fix, Hit, Location, lookup

if TYPE_CHECKING:
    from advisor.api import Context, Document, Dropped, Setting


def dropped(document: Document, context: Context) -> Iterable[Hit]:
    """Everything the format dropped, each under the check of its cause: `plumbing-forbidden`, ...; what is
    dropped for one and the same reason is one thing to mend."""
    together: dict[tuple[str, str], list[Dropped]] = {}
    for number, item in enumerate(document.dropped):
        alike = item.cause in _TOGETHER
        together.setdefault((item.cause, item.detail if alike else str(number)), []).append(item)
    return [_hit(document, items) for items in together.values()]


def _hit(document: Document, items: list[Dropped]) -> Hit:
    first, more = items[0], items[1:]
    fields = {
        "key": first.key + (f" (and {len(more)} more)" if more else ""),
        "value": str(first.value),
        "detail": first.detail,
        "meant": f"; {first.meant} would" if first.meant else "",
        "component": document.component,
    }
    changes = [change for item in items if _can_be_renamed(item) for change in _renamed(document, item)]
    fixes = (Fix(tuple(changes), ("this name reaches Kafka",), smallest=True),) if changes else ()
    return Hit(
        first.at,
        (first.key,),
        fields,
        fixes=fixes,
        also_at=tuple(item.at for item in more),
        check=f"plumbing-{first.cause}",
    )


def _can_be_renamed(item: Dropped) -> bool:
    """What was meant may be words instead of a name: those are for a reader."""
    return item.meant is not None and " " not in item.meant and item.cause in _RENAMED


def _renamed(document: Document, item: Dropped) -> tuple[Change, Change]:
    shown, (file, line) = str(item.value), item.at
    return (
        Change(document.component, item.key, shown, None, file, line, "remove"),
        Change(document.component, item.meant or "", None, shown, file, line, "add"),
    )


# Causes that say the same of every variable of an image.
_TOGETHER = ("not-mapped", "needs-prefix", "service-link")
# Causes that another name mends.
_RENAMED = ("binds-to-nothing", "needs-prefix", "not-mapped", "no-escape")


def connector_client_keys(document: Document, context: Context) -> Iterable[Hit]:
    """A producer or consumer key in a connector's own config is handed to the connector; Connect takes client
    settings under `producer.override.` and `consumer.override.` alone. Many connectors define keys of such
    names for themselves, so only keys are told that none does, or that its class is known not to have."""
    if document.component != "connector":
        return
    from .connect import is_refused, policy_of

    version = context.version_of(document)
    own = next((one.value for one in document.settings if one.key == "connector.class"), "")
    kind = own.rpartition(".")[2].removesuffix("Connector") if isinstance(own, str) else ""
    names = _OWN_NAMES.get(kind)
    known_policy = policy_of(document, context)
    policy = known_policy[1] if known_policy is not None else "All"
    for setting in document.settings:
        known = names is not None and setting.key not in (*names, *_EVERY_CONNECTORS)
        clients = [client for client in ("producer", "consumer") if lookup(client, setting.key, version)]
        if not clients or not (setting.key in _NO_CONNECTORS or known):
            continue
        at = setting.origin.at or Location(document.file, document.line)
        client, who = _reached(document, clients)
        fixes: tuple[Fix, ...] = ()
        edits: tuple[Edit, ...] = ()
        if client is None:
            instead = f"{who} to give it to"
            edits = (Edit(setting.key, "connector", setting.key, None),)
        else:
            meant, refused = f"{client}.override.{setting.key}", is_refused(policy, setting.key)
            instead = f"{meant} reaches {who}"
            if refused:
                instead += f", once the worker allows it (its policy is {policy})"
            elif isinstance(setting.value, str):
                # From then on it counts: somebody should look at it first.
                changes = _moved(setting, meant, at)
                fixes = (Fix(changes, (f"this name reaches {who}",), smallest=True, safety="review"),)
        fields = {
            "key": setting.key,
            "value": str(setting.value),
            "instead": instead,
            "connector": document.name,
        }
        yield Hit(at, (setting.key,), fields, ((document.component, setting),), fixes, edits=edits)


def _reached(document: Document, clients: list[str]) -> tuple[str | None, str]:
    """The client that an override would reach, and what it is; None where the connector has none."""
    settings = {one.key: one.value for one in document.settings}
    own = settings.get("connector.class")
    is_sink = "topics" in settings or "topics.regex" in settings
    is_source = not is_sink and isinstance(own, str) and "Source" in own.rpartition(".")[2]
    if is_sink and "consumer" not in clients:
        if "errors.deadletterqueue.topic.name" in settings:
            return "producer", "the producer of its dead letter queue"
        return None, "a sink has no producer"
    if is_source and "producer" not in clients:
        return None, "a source has no consumer"
    client = "consumer" if is_sink else clients[0]
    return client, f"its {client}"


def _moved(setting: Setting, meant: str, at: Location) -> tuple[Change, Change]:
    shown = str(setting.value)
    return (
        Change("connector", setting.key, shown, None, at.file, at.line, "remove"),
        Change("connector", meant, None, shown, at.file, at.line, "add"),
    )


# Connectors whose settings are known, with those of them that are called as a client's.
_OWN_NAMES = {
    "FileStreamSink": (),
    "FileStreamSource": (),
    "JdbcSink": ("batch.size", "retry.backoff.ms"),
    "JdbcSource": (),
}
# Names of the framework's own settings (ConnectorConfig), and those that tools add.
_EVERY_CONNECTORS = frozenset({"client.id", "config.providers", "key.converter", "value.converter"})
# What says how a Kafka client works and nothing else: no connector has a setting of this name.
_NO_CONNECTORS = frozenset(
    {
        "acks",
        "buffer.memory",
        "delivery.timeout.ms",
        "enable.auto.commit",
        "enable.idempotence",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "isolation.level",
        "max.in.flight.requests.per.connection",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "partition.assignment.strategy",
        "session.timeout.ms",
        "transactional.id",
    }
)
