"""Connectors against the worker that is to run them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Hit, Location

if TYPE_CHECKING:
    from advisor.api import Context, Document, Fact

_PREFIXES = ("producer.override.", "consumer.override.", "admin.override.")
# PrincipalConnectorClientConfigOverridePolicy.ALLOWED_CONFIG.
_PRINCIPAL = ("sasl.jaas.config", "sasl.mechanism", "security.protocol")
# KIP-722: All is the default since 3.0, and None was before.
_ALL_SINCE = (3, 0)


def policy_of(document: Document, context: Context) -> tuple[Fact, str] | None:
    """What the worker's policy is known by, and its name; None if the connector's worker is not in sight."""
    policy = next((fact for fact in document.facts if fact.name == "connect.override_policy"), None)
    if policy is None:
        return None
    default = "All" if context.version_of(document).number >= _ALL_SINCE else "None"
    return policy, policy.value or default


def is_refused(policy: str, key: str) -> bool:
    """Whether a connector may not bring this setting of a client. A class of one's own says what it likes."""
    return policy == "None" or (policy == "Principal" and key not in _PRINCIPAL)


def override_refused(document: Document, context: Context) -> Iterable[Hit]:
    """Overrides that the worker's policy does not allow: the connector is not created."""
    known = policy_of(document, context)
    if known is None:
        return
    policy, name = known
    refused = []
    for setting in document.settings:
        prefix = next((one for one in _PREFIXES if setting.key.startswith(one)), None)
        if prefix is not None and is_refused(name, setting.key[len(prefix) :]):
            refused.append(setting)
    if not refused:
        return
    fields = {"key": ", ".join(one.key for one in refused), "detail": _detail(policy, name)}
    fields["are"] = "are" if len(refused) > 1 else "is"
    places = [one.origin.at or Location(document.file, document.line) for one in refused]
    places += [policy.origin.at] if policy.origin.at is not None else []
    settings = tuple((document.component, one) for one in refused)
    keys = tuple(one.key for one in refused)
    advice = "set connector.client.config.override.policy = All on the worker, or take the overrides out"
    yield Hit(places[0], keys, fields, settings, also_at=tuple(places[1:]), advice=(advice,))


def _detail(policy: Fact, name: str) -> str:
    only = " but for the login" if name == "Principal" else ""
    stated = f"its policy {name}" if policy.value else f"the policy {name}, Connect's default before 3.0,"
    return f"{stated} allows no override{only}"
