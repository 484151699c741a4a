"""The simulator asked once per behaviour: verdicts kept in memory and on disk, keyed by the policy.

Ten thousand files with forty behaviours cost forty searches. The cache is of this program alone
(memo/digests.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..memo.cache import Cache, digest
from ..sim.search.verdict import Verdict, as_dict, from_dict
from .common_verdicts import CommonVerdicts, question_text

# CPU seconds for one question; beyond them the verdict is Unknown. The number of states ends a search well
# before, but on a machine that is several times slower.
SECONDS_MAX = 5.0


class Verdicts:
    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._memo: dict[tuple[Any, ...], Verdict] = {}
        self._common = CommonVerdicts()
        self.searches = 0
        self._late = self.was_late = False

    def ask(
        self, guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        asked = (guarantee, policy, tuple(environment.items()), tuple(faults.items()))
        found = self._memo.get(asked)
        if found is None:
            question = question_text(guarantee, policy, environment, faults)
            found = self._common.find(question)
            if found is None:
                found = self._kept_or_searched(question, guarantee, policy, environment, faults)
            self._memo[asked] = found
        return found

    def _kept_or_searched(
        self,
        question: str,
        guarantee: str,
        policy: Any,
        environment: Mapping[str, int],
        faults: Mapping[str, int],
    ) -> Verdict:
        key = digest(question.encode())
        found = self._stored(key, question)
        if found is None:
            found = self._searched(guarantee, policy, environment, faults)
            if not self._late:
                self._cache.put("verdict", key, {"mark": question, **as_dict(found)})
        return found

    def _searched(
        self, guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
    ) -> Verdict:
        from time import process_time

        from ..sim.questions import ask

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
