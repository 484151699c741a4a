"""Values that are written down and never reach Kafka: each format says what it dropped and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Change, Fix, Hit, Location, lookup

if TYPE_CHECKING:
    from advisor.api import Context, Document, Dropped


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
        for client in ("producer", "consumer"):
            known = names is not None and setting.key not in (*names, *_EVERY_CONNECTORS)
            told = setting.key in _NO_CONNECTORS or known
            if not told or lookup(client, setting.key, version) is None:
                continue
            at = setting.origin.at or Location(document.file, document.line)
            refused = is_refused(policy, setting.key)
            fields = {
                "key": setting.key,
                "value": str(setting.value),
                "detail": f", once the worker allows it (its policy is {policy})" if refused else "",
                "meant": f"{client}.override.{setting.key}",
                "component": client,
            }
            yield Hit(at, (setting.key,), fields, ((document.component, setting),))
            break


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
