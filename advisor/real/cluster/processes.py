"""Child processes that never outlive the run: each is told to the guard before it is used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from ...model import UsageError

_GUARD = Path(__file__).parent / "guard.py"
# For processes that live for a minute: no optimising compiler, one collector thread.
LIGHT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class Processes:
    """A folder of their own, and every process that works in it; `end` leaves neither."""

    def __init__(self) -> None:
        if not hasattr(signal, "SIGSTOP"):
            raise UsageError("real runs freeze processes, which this system cannot do")
        # Not a temporary folder's own context: the guard removes it, if nobody else does.
        self.folder = Path(tempfile.mkdtemp(prefix="kafka-advisor-real-"))
        self._running: list[subprocess.Popen[Any]] = []
        self._guard = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._tell(f"/{self.folder}")

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def java(
        self, classpath: str, words: Sequence[str], heap: str, out: IO[Any] | int, into: bool = False
    ) -> subprocess.Popen[Any]:
        """`into`: it is spoken to, line by line."""
        return self.start([_java(), *LIGHT, f"-Xmx{heap}", "-cp", classpath, *words], out, into)

    def start(self, words: Sequence[str], out: IO[Any] | int, into: bool = False) -> subprocess.Popen[Any]:
        environment = {
            name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME", "LANG") if name in os.environ
        }
        process: subprocess.Popen[Any] = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if into else subprocess.DEVNULL,
            stdout=subprocess.PIPE if into else out,
            stderr=out,
            text=into,
            cwd=self.folder,
            env=environment,
            # Ctrl-C on the terminal is for the run, which ends them in order.
            start_new_session=True,
        )
        self._tell(f"+{process.pid}")
        self._running.append(process)
        return process

    def kill(self, process: subprocess.Popen[Any]) -> None:
        """At once, frozen or not."""
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.ended(process)

    def ended(self, process: subprocess.Popen[Any]) -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        if process in self._running:
            self._running.remove(process)
            self._tell(f"-{process.pid}")

    def end(self) -> None:
        for process in list(self._running):
            self.kill(process)
        if self._guard.stdin is not None:
            self._guard.stdin.close()  # it removes the folder
            self._guard.wait()

    def _tell(self, line: str) -> None:
        if self._guard.stdin is not None and not self._guard.stdin.closed:
            self._guard.stdin.write(f"{line}\n")
            self._guard.stdin.flush()


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else "java"
