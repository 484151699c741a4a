"""What a check sees besides its subject, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from .catalog import Version
from .hookspecs import ClientSpec, FormatSpec
from .model import Deployment, Document, Fix, Location, Setting
from .packs import Rule

T = TypeVar("T")


class Hit(NamedTuple):
    """One place where a rule's fault was seen. `fields` fill the rule's message; `numbers` are shown as
    evidence; `settings` are (component, Setting) pairs."""

    at: Location
    keys: tuple[str, ...]
    fields: Mapping[str, str]
    settings: tuple[tuple[str, Setting], ...] = ()
    fixes: tuple[Fix, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    also_at: tuple[Location, ...] = ()
    severity: str | None = None


class Context:
    """Handed to every check: the rule that asked, the versions, the client families, a memo."""

    def __init__(
        self,
        clients: Mapping[str, ClientSpec],
        formats: Mapping[str, FormatSpec],
        version_of: Callable[[Document], Version],
        deployments_of: Callable[[Document], tuple[Deployment, ...]],
    ) -> None:
        self.clients = clients
        self.formats = formats
        self.version_of = version_of
        self.deployments_of = deployments_of
        self.rule: Rule
        self.params: Mapping[str, Any] = {}
        self._memo: dict[tuple[int, str], Any] = {}
        self._kept: list[object] = []

    def once(self, subject: object, name: str, compute: Callable[[], T]) -> T:
        """`compute()` the first time a subject is asked about, its answer after that: several rules may
        rest on one costly look."""
        mark = (id(subject), name)
        if mark not in self._memo:
            # Kept alive, so that no other object takes over its id.
            self._kept.append(subject)
            self._memo[mark] = compute()
        found: T = self._memo[mark]
        return found
