"""Topics that hold somebody's state, by their names."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from ....context import Context
from ....model import Deployment

_STORAGE = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")


def state_owner(deployment: Deployment, patterns: Iterable[str], context: Context) -> str | None:
    """Whose state the topic holds, by the name in its file: Connect's, where a worker names it, or what the
    first pattern that fits (`_schemas=Schema Registry`) says."""
    if deployment.topic is None:
        return None
    own = context.original(deployment.topic).name
    for group in deployment.groups:
        if group.component == "connect" and any(
            setting.key in _STORAGE and setting.value == own for setting in group.settings
        ):
            return "Kafka Connect"
    # One pattern may be written without a list around it.
    return _fitting(own, tuple(patterns) if isinstance(patterns, list | tuple) else (str(patterns),))


@lru_cache(maxsize=10_000)
def _fitting(name: str, patterns: tuple[str, ...]) -> str | None:
    for one in patterns:
        pattern, _, owner = str(one).partition("=")
        if fnmatchcase(name, pattern):
            return owner or "an application"
    return None
