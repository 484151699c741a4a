"""Values that are written down and never reach Kafka: each format says what it dropped and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Change, Fix, Hit, Location, lookup

if TYPE_CHECKING:
    from advisor.api import Context, Document, Dropped


def dropped(document: Document, context: Context) -> Iterable[Hit]:
    """Everything the format dropped, each under the check of its cause: `plumbing-forbidden`, ..."""
    return [_hit(document, item) for item in document.dropped]


def _hit(document: Document, item: Dropped) -> Hit:
    fields = {
        "key": item.key,
        "value": str(item.value),
        "detail": item.detail,
        "meant": f"; {item.meant} would" if item.meant else "",
        "component": document.component,
    }
    fixes = ()
    # What was meant may be words instead of a name: those are for a reader.
    if item.meant is not None and " " not in item.meant and item.cause in _RENAMED:
        shown = str(item.value)
        fixes = (
            Fix(
                (
                    Change(document.component, item.key, shown, None, item.at.file, item.at.line, "remove"),
                    Change(document.component, item.meant, None, shown, item.at.file, item.at.line, "add"),
                ),
                ("this name reaches Kafka",),
                smallest=True,
            ),
        )
    return Hit(item.at, (item.key,), fields, fixes=fixes, check=f"plumbing-{item.cause}")


# Causes that another name mends.
_RENAMED = ("binds-to-nothing", "needs-prefix", "not-mapped", "no-escape")


def connector_client_keys(document: Document, context: Context) -> Iterable[Hit]:
    """A producer or consumer key in a connector's own config is handed to the connector, which does not
    know it; Connect takes client settings under `producer.override.` and `consumer.override.` alone."""
    if document.component != "connector":
        return
    version = context.version_of(document)
    for setting in document.settings:
        for client in ("producer", "consumer"):
            if setting.key in _SHARED or lookup(client, setting.key, version) is None:
                continue
            at = setting.origin.at or Location(document.file, document.line)
            fields = {
                "key": setting.key,
                "value": str(setting.value),
                "detail": "",
                "meant": f"{client}.override.{setting.key}",
                "component": client,
            }
            yield Hit(at, (setting.key,), fields, ((document.component, setting),))
            break


# Names that connectors define for themselves.
_SHARED = frozenset(
    {
        "bootstrap.servers",
        "client.id",
        "group.id",
        "batch.size",
        "retries",
        "retry.backoff.ms",
        "max.poll.records",
        "connections.max.idle.ms",
        "request.timeout.ms",
        "exclude.internal.topics",
        "security.protocol",
        "partitioner.class",
        "compression.type",
        "config.providers",
        "auto.offset.reset",
        "max.request.size",
        "metadata.max.age.ms",
        "security.providers",
        "metric.reporters",
    }
)
