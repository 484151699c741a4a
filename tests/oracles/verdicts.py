"""verdicts: would this release's own classes accept the configuration?"""

from __future__ import annotations

from typing import Any

from advisor.accept import Rejected, would_accept


def compare(case: dict[str, Any]) -> str | None:
    """None if we accept what Kafka accepted and refuse what it refused."""
    verdict = would_accept(case["component"], case["version"], case["config"])
    accepted = not isinstance(verdict, Rejected)
    if accepted == case["accepted"]:
        return None
    where = f"{case['component']} {case['version']}"
    if accepted:
        return f"{where}: accepted, Kafka refuses ({case.get('stage')}) {case['config']}"
    return f"{where}: refused ({verdict.reasons[0].detail}), Kafka accepts {case['config']}"
