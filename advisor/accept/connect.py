"""Connect workers: the keys that workers sign their requests with."""

from __future__ import annotations

from collections.abc import Iterator

from .definition import Config
from .results import Reason

_SIZE, _SIGN, _VERIFY = "inter.worker.key.size", "inter.worker.signature.algorithm", "inter.worker.verification.algorithms"
_KEY = "inter.worker.key.generation.algorithm"


def signature(config: Config) -> Iterator[Reason]:
    if config.component == "connect" and config.knows(_SIGN) and config.get(_SIGN) not in config.get(_VERIFY):
        yield Reason("cross-key", (_VERIFY, _SIGN), f"{_VERIFY} must list the {_SIGN}")


def key_size(config: Config) -> Iterator[Reason]:
    if config.component != "connect" or not config.knows(_SIZE):
        return
    size = config.get(_SIZE)
    if size is not None and str(config.get(_KEY)).lower().startswith("hmac") and size < 40:
        yield Reason("security", (_SIZE, _KEY), f"{_SIZE} must be at least 40 for this algorithm")


CHECKS = (signature, key_size)
REWRITES: tuple[()] = ()


