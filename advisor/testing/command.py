"""The command as a user runs it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def run_command(
    folder: Path | str,
    *words: object,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """With a cache in this folder, and there unless `cwd` says otherwise."""
    cache = os.path.join(folder, ".cache")
    return subprocess.run(
        [sys.executable, "-m", "advisor", *map(str, words)],
        cwd=cwd or folder,
        env={**os.environ, "KAFKA_ADVISOR_CACHE": cache, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
