"""Two sides compared as the JSON report: that of the new side, and what was compared with what."""

from __future__ import annotations

from typing import Any

from .compare import Compared
from .report import build_report


def build_compared(result: Compared, effective: bool = False) -> dict[str, Any]:
    return {
        **build_report(result.audit, effective),
        "compared": {
            "old": {"path": result.old_path, "kafka_version": result.old.kafka_version},
            "new": {"path": result.new_path, "kafka_version": result.audit.kafka_version},
            "rolls": list(result.rolls),
            "steps": [
                {"text": step.text, "at": [{"file": at.file, "line": at.line} for at in step.at]}
                for step in result.steps
            ],
            "defaults": list(result.defaults),
        },
    }
