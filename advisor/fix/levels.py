"""Where a change belongs: what every topic of a cluster inherits is mended once, at its brokers."""

from __future__ import annotations

from collections.abc import Sequence

from ..ask.answers.neighbours import several_leave
from ..catalog import resolution
from ..context import Context
from ..join.effective import by_key, shows_brokers
from ..model import Deployment, Edit


def at_brokers(edits: Sequence[Edit], deployment: Deployment, context: Context) -> list[Edit] | None:
    """The edits made at the brokers where those are the cause: the value is written there, or several topics
    leave it to them. None if all of it is the topic's own matter."""
    if deployment.topic is None or not shows_brokers(deployment):
        return None
    found = [_at_brokers(edit, deployment, context) for edit in edits]
    return None if found == list(edits) else found


def _at_brokers(edit: Edit, deployment: Deployment, context: Context) -> Edit:
    if edit.component != "topic" or edit.key not in several_leave or edit.key in by_key(deployment.topic):
        return edit
    sources = resolution(deployment.version, "topic", edit.key).sources
    name = next((name for component, name, factor in sources if component == "broker" and factor == 1), None)
    if name is None:
        return edit
    written = any(name in by_key(broker) for broker in deployment.cluster)
    if not (written or context.across(deployment.cluster[0], several_leave[edit.key])):
        return edit
    return edit._replace(component="broker", key=name)
