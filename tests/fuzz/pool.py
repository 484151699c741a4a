"""Mutants run many at a time: this process has everything imported and forks a child for each batch.

A child runs its batch one after the other and says on a pipe where it is. One that dies, or says nothing for
too long, was ended by the mutant it was at; another child goes on behind it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from .judge import Failure, innermost
from .mutants import Mutant
from .trial import Main, attempt, limit

BATCH = 50
# Not CPU time but time: far more than CPU_SECONDS on a busy machine, and a child that waits for ever is seen.
SILENT_SECONDS = 120
# What mutants leave behind in the process must not count against the next.
GROWN_KILOBYTES = 300_000
# An exception leaves main and is seen with its place.
ENVIRONMENT = {"KAFKA_ADVISOR_DEBUG": "1"}


class Child:
    def __init__(self, pid: int, pipe: int, stack: int, indices: deque[int]) -> None:
        self.pid, self.pipe, self.stack, self.indices = pid, pipe, stack, indices
        self.heard = time.monotonic()
        self.unread = b""
        self.at: int | None = None


class Pool:
    """`main` is the command line under test; `made` gives the mutant of an index."""

    def __init__(self, main: Main, made: Callable[[int], Mutant], cpu_seconds: float) -> None:
        self.main, self.made, self.cpu_seconds = main, made, cpu_seconds
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._held = tempfile.TemporaryDirectory(prefix="fuzz-", dir=shared)
        self.folder = Path(self._held.name)
        os.environ.update(ENVIRONMENT)
        self._use_cache("cache")

    def close(self) -> None:
        self._held.cleanup()

    def _use_cache(self, name: str) -> None:
        os.environ["KAFKA_ADVISOR_CACHE"] = str(self.folder / name)

    def run(self, workers: int, more: Callable[[], deque[int]]) -> Iterator[tuple[int, Failure | None]]:
        """Every index that `more` gives, with its failure; batches come until one is empty."""
        children: list[Child] = []
        ended = False
        try:
            while True:
                while not ended and len(children) < workers:
                    indices = more()
                    ended = not indices
                    if indices:
                        children.append(self._fork(indices))
                if not children:
                    return
                ready, _, _ = select.select([child.pipe for child in children], [], [], 1)
                for child in list(children):
                    if child.pipe in ready:
                        gone = yield from self._heard(child)
                    elif time.monotonic() - child.heard > SILENT_SECONDS:
                        os.kill(child.pid, signal.SIGKILL)
                        gone = False
                    else:
                        continue
                    if gone:
                        children.remove(child)
                        if child.indices:
                            children.append(self._fork(child.indices))
        finally:
            for child in children:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(child.pid, signal.SIGKILL)
                    os.waitpid(child.pid, 0)

    def alone(self, mutant: Mutant) -> Failure | None:
        """Run in a process of its own and with an empty cache, as a user's first run is."""
        fresh = tempfile.mkdtemp(prefix="cache-", dir=self.folder)
        self._use_cache(fresh)
        made, self.made = self.made, lambda index: mutant
        try:
            ((_, failure),) = list(self.run(1, iter([deque([0]), deque[int]()]).__next__))
        finally:
            self.made = made
            self._use_cache("cache")
            _remove(fresh)
        return failure

    def _heard(self, child: Child) -> Iterator[tuple[int, Failure | None]]:
        """What a child has said; True if that was its last."""
        data = os.read(child.pipe, 1 << 16)
        child.heard = time.monotonic()
        *lines, child.unread = (child.unread + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if said is None:
                child.at = child.indices.popleft()
            else:
                yield child.at, Failure(*said) if said else None
                child.at = None
        if data:
            return False
        status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        if child.at is not None:
            yield child.at, self._ended(child, status)
        elif status > 0:
            raise RuntimeError(f"the fuzzer itself failed: {_all_of(child.stack)}")
        # Ended by a signal between two mutants: somebody else's doing; another child goes on.
        os.close(child.pipe)
        os.close(child.stack)
        return True

    def _ended(self, child: Child, status: int) -> Failure:
        command = self.made(child.at).command
        if status == -signal.SIGPROF:
            text = _all_of(child.stack)
            frames = [_frame(line) for line in text.splitlines() if line.startswith("  File ")]
            where = innermost(frames[::-1]).partition(":")[0]
            return Failure(
                "over the CPU limit", command, where, f"{self.cpu_seconds:g} s of CPU time\n{text[:3000]}"
            )
        if status == -signal.SIGKILL:
            return Failure("blocked", command, "", f"silent for {SILENT_SECONDS} s")
        how = f"by {signal.Signals(-status).name}" if status < 0 else _all_of(child.stack)
        return Failure("process ended", command, "", how)

    def _fork(self, indices: deque[int]) -> Child:
        sys.stdout.flush()
        sys.stderr.flush()
        ours, theirs = os.pipe()
        stack = os.memfd_create("stack")
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            self._child(theirs, stack, indices)
        os.close(theirs)
        return Child(pid, ours, stack, indices)

    def _child(self, pipe: int, stack: int, indices: deque[int]) -> NoReturn:
        """Never comes back: what was open in the parent is not its to flush."""
        status = 1
        try:
            folder = self.folder / f"child-{os.getpid()}" / "input"
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            limit(stack)
            for index in indices:
                mutant = self.made(index)
                os.write(pipe, b"null\n")
                os.ftruncate(stack, 0)
                os.lseek(stack, 0, os.SEEK_SET)
                failure = attempt(self.main, mutant, folder, self.cpu_seconds)
                os.write(pipe, json.dumps(list(failure) if failure else []).encode() + b"\n")
                if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > GROWN_KILOBYTES:
                    break
            os.chdir("/")
            _remove(str(folder.parent))
            status = 0
        except BaseException:
            import traceback

            os.write(stack, traceback.format_exc().encode())
        finally:
            os._exit(status)


def _frame(line: str) -> tuple[str, int, str]:
    """`  File "x.py", line 3 in name`, as faulthandler writes it."""
    file, _, rest = line.removeprefix('  File "').partition('", line ')
    number, _, name = rest.partition(" in ")
    return file, int(number) if number.isdecimal() else 0, name


def _all_of(file: int) -> str:
    return os.pread(file, 1 << 20, 0).decode("utf-8", "replace")


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
