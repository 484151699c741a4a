"""`--show-effective`: every value in force for each deployment, with where it comes from."""

from __future__ import annotations

from typing import Any

from ..catalog import keys, resolve_version
from ..engine import Audit
from ..join.effective import all_effective, deployment_layers, family_defaults
from ..model import Setting, members_of
from .reported import reported_deployments, shown_origin


def effective_settings(audit: Audit) -> list[dict[str, Any]]:
    """Values that a file, the command line or a synonym sets; defaults of keys that matter are too many to
    print, so a default is shown only where a client family changes it or a broker's file gives a topic's."""
    entries = []
    for root in audit.roots:
        for deployment in reported_deployments(root):
            version = resolve_version(deployment.version)
            layers = deployment_layers(deployment)
            components = {document.component: document for document in reversed(members_of(deployment))}
            if deployment.cluster and deployment.topic is None:
                components.setdefault("topic", deployment.cluster[0])
            for component in sorted(components):
                defaults = family_defaults(components[component], audit.registry.clients)
                known = keys(component, version)
                rows = [
                    _row(setting, root.prefix)
                    for setting in all_effective(component, version, layers, defaults)
                    if setting.origin.kind != "default" or _matters(known.get(setting.key))
                ]
                entries.append(
                    {
                        "deployment": deployment.id,
                        "version": deployment.version,
                        "component": component,
                        "settings": rows,
                    }
                )
    return entries


def _matters(key: Any) -> bool:
    return key is not None and key.importance == "high" and not key.internal


def _row(setting: Setting, prefix: str) -> dict[str, Any]:
    return {"key": setting.key, "value": str(setting.value), "origin": shown_origin(setting.origin, prefix)}
