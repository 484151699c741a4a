"""The sentence of a finding where its place and its run stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Rules of these end their message with what the run shows, in parentheses.
_TOLD_BY_THE_RUN = (
    "acked-records-survive",
    "group-available",
    "records-stored-once",
    "send-order-kept",
    "writes-available",
)


def message_of(finding: Mapping[str, Any]) -> str:
    """Without the deployment, or the part of it that it is about, which stands above it; and without the
    steps of its run: they say nothing without it, and it tells them itself."""
    message: str = finding["message"]
    deployment = finding["deployment"] or ""
    head, colon, rest = message.partition(": ")
    if colon and head in (deployment, *deployment.split(" -> ")):
        message = rest
    told = finding["evidence"]["trace"] and finding["evidence"]["guarantee"] in _TOLD_BY_THE_RUN
    if told and message.endswith(")") and " (" in message:
        message = message[: message.rindex(" (")]
    return message
