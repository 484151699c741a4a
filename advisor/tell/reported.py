"""What every part of the report has in common: which deployments are told of, and how a value's origin is."""

from __future__ import annotations

from typing import Any

from ..engine import Root
from ..model import Deployment, Origin, members_of


def reported_deployments(root: Root) -> list[Deployment]:
    """Those with a part in a target: the rest was loaded to be linked with."""
    targets = {record.file for record in root.files if record.target}
    return [
        deployment
        for deployment in root.deployments
        if any(document.file in targets for document in members_of(deployment))
    ]


def shown_origin(origin: Origin, prefix: str = "") -> dict[str, Any]:
    at = origin.at
    shown: dict[str, Any] = {"kind": origin.kind}
    if at is not None:
        shown |= {"file": prefix + at.file, "line": at.line}
    if origin.note:
        shown["note"] = origin.note
    return shown
