"""Connect workers: where they listen, and the keys that they sign their requests with."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Reason
from ..value.definition import Config
from . import clients

_SIZE, _SIGN = "inter.worker.key.size", "inter.worker.signature.algorithm"
_KEY, _VERIFY = "inter.worker.key.generation.algorithm", "inter.worker.verification.algorithms"

# Sizes in bits that the JVM's key generators take, by the algorithm's lower-case name.
_EXACT = {
    "aes": (128, 192, 256),
    "des": (56,),
    "desede": (112, 168),
    "tripledes": (112, 168),
    "chacha20": (256,),
}
_BETWEEN = {"rc2": (40, 1024), "rc4": (40, 1024), "arcfour": (40, 1024), "blowfish": (32, 448)}
_HMAC_LEAST = 40


def listening(config: Config) -> Iterator[Reason]:
    if config.since(3, 0) and not config.get("listeners"):
        yield Reason("format", ("listeners",), "listeners must hold at least one URL, such as http://:8083")


def signature(config: Config) -> Iterator[Reason]:
    if config.component != "connect" or not config.knows(_SIGN):
        return
    # Up to 3.2 the wrong one of the two algorithms was looked for in the list.
    key = _SIGN if config.since(3, 3) else _KEY
    if config.get(key) not in config.get(_VERIFY):
        yield Reason("cross-key", (_VERIFY, key), f"{_VERIFY} must list the {key}")


def key_size(config: Config) -> Iterator[Reason]:
    if config.component != "connect" or not config.knows(_SIZE):
        return
    size, algorithm = config.get(_SIZE), str(config.get(_KEY)).lower()
    if size is not None and not _takes(algorithm, size):
        yield Reason("security", (_SIZE, _KEY), f"{_SIZE}: the algorithm takes no key of this size")


def _takes(algorithm: str, size: int) -> bool:
    if algorithm in _EXACT:
        return size in _EXACT[algorithm]
    if algorithm in _BETWEEN:
        low, high = _BETWEEN[algorithm]
        return low <= size <= high and (algorithm != "blowfish" or size % 8 == 0)
    if algorithm.startswith("suntls"):
        return False
    return algorithm in ("hmacmd5", "hmacsha1") or size >= _HMAC_LEAST


CHECKS = (clients.config_providers, listening, signature, key_size)
REWRITES: tuple[()] = ()
