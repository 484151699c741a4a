"""What a scenario states, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ask.policies import Decoded
from ..model import Deployment
from ..packs.faults import Counts
from ..tuples import NamedTuple


class Scenario(NamedTuple):
    """What a file states. `expect`, `guarantee` and `bounds` may be absent: None."""

    file: str
    title: str
    story: str
    kafka_version: str | None
    guarantee: str | None
    expect: str | None
    witnesses: tuple[str, ...]
    events: tuple[str, ...]
    environment: Counts
    faults: Counts
    client: str
    sets: tuple[tuple[str, int], ...]  # as --set would have them, with the line of each
    policy: Mapping[str, Any]
    bounds: Mapping[str, Any] | None
    time: Mapping[str, int] | None = None


class Played(NamedTuple):
    """What a scenario came to. `verdict` is None for a given run that no guarantee is asked of; `unmet` says
    in what it is not as the file expects."""

    scenario: Scenario
    deployment: Deployment
    decoded: Decoded
    policy: Any
    environment: Mapping[str, int]
    faults: Mapping[str, int]
    verdict: Any
    trace: tuple[Any, ...]
    unmet: tuple[str, ...]
