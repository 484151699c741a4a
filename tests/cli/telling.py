"""What the tests of the command ask again and again."""

from __future__ import annotations

import json
from typing import Any

PRODUCER = """\
bootstrap.servers=kafka:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
acks=all
"""


def told(done, code: int) -> str:
    """stderr of a command that ended as it should: the exit code, and words instead of a traceback."""
    everything = done.stdout + done.stderr
    assert "Traceback" not in everything, everything[-3000:]
    assert "mistake in kafka-advisor" not in everything, everything[-3000:]
    assert ": error KA000" not in everything, everything[-3000:]
    assert '"code": "KA000"' not in everything, everything[-3000:]
    assert done.returncode == code, f"exit code {done.returncode}\n{everything[-3000:]}"
    return done.stderr


def report_of(done, code: int) -> dict[str, Any]:
    told(done, code)
    return json.loads(done.stdout)


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


def statuses(report: dict[str, Any]) -> dict[str, str]:
    return {file["file"]: file["status"] for file in report["files"]}
