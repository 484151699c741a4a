"""CPU and memory of this process and all that it started, Spark's JVM and Python workers among them.

Spark ends workers that were idle, and nobody waits for them: what they used would be gone. So a thread keeps
the last that was seen of every process of the family.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_S = 0.25


class Family:
    def __init__(self) -> None:
        self._root = os.getpid()
        self._ticks: dict[tuple[int, str], int] = {}
        self._lock = threading.Lock()
        self.peak_megabytes = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def cpu_of(self, work: Callable[[], object]) -> float:
        before = self.cpu()
        work()
        return self.cpu() - before

    def cpu(self) -> float:
        self._look()
        return sum(self._ticks.values()) / _TICK

    def _watch(self) -> None:
        stopped = threading.Event()
        while not stopped.wait(_EVERY_S):
            self._look()

    def _look(self) -> None:
        with self._lock:
            parents: dict[int, int] = {}
            seen: dict[int, list[str]] = {}
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    try:
                        fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                    except OSError:
                        continue
                    parents[int(entry.name)] = int(fields[1])
                    seen[int(entry.name)] = fields
            resident = 0
            for pid, fields in seen.items():
                if self._is_ours(pid, parents):
                    self._ticks[pid, fields[19]] = int(fields[11]) + int(fields[12])
                    resident += int(fields[21])
            self.peak_megabytes = max(self.peak_megabytes, resident * _PAGE >> 20)

    def _is_ours(self, pid: int, parents: dict[int, int]) -> bool:
        while pid in parents:
            if pid == self._root:
                return True
            pid = parents[pid]
        return False
