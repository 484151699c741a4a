"""What a check sees besides its subject, and what it gives back."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .catalog import Version
from .hookspecs import ClientSpec, FormatSpec
from .model import Deployment, Document, Fix, Location, Setting


class Hit(NamedTuple):
    """One place where a rule's fault was seen. `fields` fill the rule's message; `numbers` are shown as
    evidence; `settings` are (component, Setting) pairs. A function behind
    several checks is called once per subject and names in `check` the one that a hit is for."""

    at: Location
    keys: tuple[str, ...]
    fields: Mapping[str, str]
    settings: tuple[tuple[str, Setting], ...] = ()
    fixes: tuple[Fix, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    also_at: tuple[Location, ...] = ()
    severity: str | None = None
    check: str | None = None


class Context:
    """Handed to every check: versions, client families, formats, the parameters of the rule that asks."""

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
        self.params: Mapping[str, Any] = {}
