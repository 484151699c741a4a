"""Settings in a broker's file that only the controllers of a KRaft cluster read, each by its own file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import (
    READ_BY_CONTROLLERS,
    Hit,
    Location,
    controllers_apart,
    first_setting,
    lookup,
    resolve_version,
    roles_of,
)

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document, Setting, Version

_MINIMUM, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"


def decided_by_controllers(deployment: Deployment, context: Context) -> Iterable[Hit]:
    version = resolve_version(deployment.version)
    controllers = controllers_apart(deployment.cluster)
    told: set[str] = set()
    for document in deployment.cluster:
        roles = roles_of(document)
        for setting in document.settings if roles else ():
            if setting.key in told or not isinstance(setting.value, str):
                continue
            hit = None
            if setting.key == _UNCLEAN and version.number < (3, 9):
                hit = _never_read(document, setting)
            elif "controller" not in roles and controllers:
                hit = _theirs(deployment, document, setting, controllers, version)
            if hit is not None:
                told.add(setting.key)
                yield hit


def _never_read(document: Document, setting: Setting) -> Hit | None:
    if str(setting.value).strip().lower() != "true":
        return None
    why = "in KRaft mode Kafka before 3.9 elects no unclean leader by itself"
    return _hit(document, setting, {"why": why}, severity="note")


def _theirs(
    deployment: Deployment,
    document: Document,
    setting: Setting,
    controllers: list[Document],
    version: Version,
) -> Hit | None:
    """A value that differs from the controllers'."""
    key = setting.key
    if key not in READ_BY_CONTROLLERS and key != _MINIMUM:
        return None
    given = first_setting(controllers, key)
    known = lookup("broker", key, version)
    default = "" if known is None or known.default is None else str(known.default).lower()
    theirs = default if given is None else given.value
    if not isinstance(theirs, str) or theirs.strip().lower() == str(setting.value).strip().lower():
        return None
    place = f"{controllers[0].file} has {theirs}" + ("" if given is not None else ", the default")
    if key != _MINIMUM:
        return _hit(document, setting, {"why": f"the controllers decide it, and {place}"})
    if version.number < (4, 0):
        return None
    elr = next((fact.value for fact in deployment.facts if fact.name == "cluster.elr"), None)
    if elr == "off":
        return None
    condition = " if eligible leader replicas are on (as in clusters made by 4.1 or later)"
    why = f"topics take the cluster's minimum, which came from the controllers, and {place}"
    advice = (
        "kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type brokers --entity-default "
        f"--add-config {_MINIMUM}={setting.value}",
        f"for a cluster that is not formatted yet: set {_MINIMUM}={setting.value} in the controllers' files",
    )
    fields = {"why": why, "condition": "" if elr == "on" else condition}
    return _hit(document, setting, fields, advice, None if elr == "on" else "note")


def _hit(
    document: Document,
    setting: Setting,
    fields: dict[str, str],
    advice: tuple[str, ...] = (),
    severity: str | None = None,
) -> Hit:
    fields = {
        "condition": "",
        "broker": document.name,
        "key": setting.key,
        "value": str(setting.value),
        **fields,
    }
    at = setting.origin.at or Location(document.file, document.line)
    if not advice:
        advice = (f"set {setting.key} in the controllers' files, or take it out here",)
    return Hit(at, (setting.key,), fields, (("broker", setting),), severity=severity, advice=advice)
