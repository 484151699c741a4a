"""The admin client."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Reason, Rewrite
from ..value.definition import Config
from . import clients

_API, _REQUEST = "default.api.timeout.ms", "request.timeout.ms"
_SERVERS, _CONTROLLERS = "bootstrap.servers", "bootstrap.controllers"


def api_timeout(config: Config) -> Iterator[Reason]:
    if config.has(_API) and config.knows(_API) and config.get(_API) < config.get(_REQUEST):
        yield Reason(
            "cross-key", (_API, _REQUEST), f"{_API} must not be below {_REQUEST}, {config.get(_REQUEST)}"
        )


def bootstrap(config: Config) -> Iterator[Reason]:
    if not config.knows(_CONTROLLERS):
        yield from clients.addresses(config)
        return
    servers, controllers = config.get(_SERVERS), config.get(_CONTROLLERS)
    if servers and controllers:
        yield Reason(
            "cross-key", (_CONTROLLERS, _SERVERS), f"{_SERVERS} and {_CONTROLLERS} exclude each other"
        )
    elif servers or controllers:
        yield from clients.addresses(config, _SERVERS if servers else _CONTROLLERS)
    else:
        yield Reason("required", (_SERVERS, _CONTROLLERS), f"{_SERVERS} or {_CONTROLLERS} must be set")


def api_timeout_raised(config: Config) -> Iterator[Rewrite]:
    if config.knows(_API) and not config.has(_API) and config.get(_API) < config.get(_REQUEST):
        yield Rewrite(
            _API, None, str(config.get(_REQUEST)), (_REQUEST,), f"the default is raised to {_REQUEST}"
        )


CHECKS = (
    clients.config_providers,
    api_timeout,
    bootstrap,
    clients.metrics,
    clients.sasl_mechanism,
    clients.secure_connection,
)
REWRITES = (api_timeout_raised, clients.backoff, clients.capped_backoff)
