"""Clients that the brokers in sight refuse, because they are too old for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Hit, clients_too_old, stated_version

if TYPE_CHECKING:
    from advisor.api import Context, Document


def client_too_old(document: Document, context: Context) -> Iterable[Hit]:
    """Told once of each client, whatever it is joined with."""
    if stated_version(document) is None:
        return
    brokers = [deployment.cluster[0] for deployment in context.deployments_of(document) if deployment.cluster]
    versions = [version for version in map(context.version_of, brokers) if not version.assumed]
    if not versions:
        return
    newest = max(versions, key=lambda version: version.number)
    for old in clients_too_old([document], newest.number):
        fields = {
            "client": old.name,
            "version": old.version,
            "least": old.least,
            "brokers": ".".join(map(str, newest.number[:2])),
        }
        advice = f"upgrade this client to {old.least} or later before the brokers become {fields['brokers']}"
        yield Hit(old.at, (), fields, advice=(advice,))
