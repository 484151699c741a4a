"""The simulator asked once per behaviour: verdicts kept in memory and on disk, keyed by the policy.

Ten thousand files with forty behaviours cost forty searches. The cache is versioned by SIM_VERSION, a literal
that a test compares with the sources of the simulator and of decode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cache import Cache, digest
from .sim.verdict import Verdict, as_dict, from_dict

# Raise it whenever a change of sim/ or decode.py may change a verdict or a trace; the digest beside it is
# what the test compares (python -m advisor.verdicts prints the current one).
SIM_VERSION = 4
SIM_DIGEST = "2cb08a54a46d144078ac189759972ee9"

# CPU seconds for one question; beyond them the verdict is Unknown.
SECONDS_MAX = 2.0


class Verdicts:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._memo: dict[tuple[Any, ...], Verdict] = {}
        self.searches = 0
        self._late = self.was_late = False

    def ask(
        self, guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        asked = (guarantee, policy, tuple(environment.items()), tuple(faults.items()))
        found = self._memo.get(asked)
        if found is None:
            mark = _mark(guarantee, policy, environment, faults)
            key = digest(mark.encode())
            found = self._stored(key, mark)
            if found is None:
                found = self._searched(guarantee, policy, environment, faults)
                if not self._late:
                    self._cache.put("verdict", key, {"mark": mark, **as_dict(found)})
            self._memo[asked] = found
        return found

    def _searched(
        self, guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        from time import process_time

        from .sim.questions import ask

        deadline = process_time() + SECONDS_MAX
        self._late = False

        def expired() -> bool:
            # What a slow machine could not finish is not kept for others to believe.
            self._late = process_time() > deadline
            self.was_late = self.was_late or self._late
            return self._late

        self.searches += 1
        return ask(guarantee, policy, environment, faults, None, expired)

    def _stored(self, key: str, mark: str) -> Verdict | None:
        kept = self._cache.get("verdict", key)
        if not isinstance(kept, dict) or kept.get("mark") != mark:
            return None
        try:
            return from_dict(kept)
        except (KeyError, TypeError, ValueError):
            return None


def _mark(guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]) -> str:
    parts = [str(SIM_VERSION), guarantee, repr(policy)]
    parts += [f"{name}={count}" for name, count in sorted(environment.items())]
    parts += [f"!{name}={count}" for name, count in sorted(faults.items())]
    return "|".join(parts)


def sources_digest() -> str:
    """A name for the sources that verdicts depend on: decode, racks and what the questions import."""
    import os
    import re

    here = os.path.dirname(__file__)
    found: dict[str, bytes] = {}
    waiting = ["decode", "racks", "sim/questions", "sim/producer_questions", "sim/placement"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            with open(os.path.join(here, f"{name}.py"), "rb") as file:
                found[name] = file.read()
            if name.startswith("sim/"):
                waiting += [
                    f"sim/{module.decode()}"
                    for module in re.findall(rb"^ *from \.(\w+) import", found[name], re.MULTILINE)
                ]
    return digest(b"".join(found[name] for name in sorted(found)))


if __name__ == "__main__":
    print(sources_digest())
