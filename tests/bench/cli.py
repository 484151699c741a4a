"""What starting up costs: `--version` against `python -c pass`, one small audit against yamllint."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from .files import properties_text, yaml_text
from .measure import installed, medians


def run() -> dict[str, Any]:
    with installed("yamllint") as programs, tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        text = properties_text(0)
        (here / "producer.properties").write_text(text)
        (here / "same-size.yml").write_text(yaml_text(0))
        taken = medians(
            {
                "python": [programs / "python", "-c", "pass"],
                "version": [programs / "kafka-advisor", "--version"],
                "audit": [programs / "kafka-advisor", "audit", "producer.properties"],
                "audit_no_cache": [programs / "kafka-advisor", "audit", "--no-cache", "producer.properties"],
                "yamllint": [programs / "yamllint", "same-size.yml"],
            },
            here,
            rounds=15,
            env={"KAFKA_ADVISOR_CACHE": str(here / ".cache")},
        )
    return {
        "name": "cli",
        "ratio": round(taken["version"] / taken["python"], 2),
        "goal": "--version at most 2x `python -c pass`",
        "others": {
            "audit of one small file / yamllint (goal: at most 1)": round(
                taken["audit"] / taken["yamllint"], 2
            ),
            "audit --no-cache / yamllint (goal: at most 2)": round(
                taken["audit_no_cache"] / taken["yamllint"], 2
            ),
        },
        "cpu_seconds": {name: round(value, 4) for name, value in taken.items()},
    }
