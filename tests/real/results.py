"""What checks against real Kafka came to at first contact, kept in advisor/real/checked.json."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[2] / "advisor" / "real" / "checked.json"


def result(
    mechanism: str,
    how: str,
    kafka: str,
    cases: int,
    agree: int,
    seed: int,
    size: float | None = None,
    load: float = 0,
) -> dict[str, Any]:
    """`size`: how many outcomes the simulator allows on average; `load`: how busy the machine was."""
    made: dict[str, Any] = {
        "mechanism": mechanism,
        "how": how,
        "kafka": kafka,
        "cases": cases,
        "agree": agree,
        "seed": seed,
        "on": time.strftime("%Y-%m-%d"),
    }
    if size is not None:
        made |= {"mean_set_size": round(size, 2), "load_average": round(load, 1)}
    return made


def note(made: dict[str, Any]) -> None:
    """Each run is a line: a fresh draw does not overwrite an older one."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else []
    kept.append(made)
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
