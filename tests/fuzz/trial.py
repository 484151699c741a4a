"""One mutant run in this process, which was forked for it: the limits end it if it goes too far."""

from __future__ import annotations

import faulthandler
import io
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .judge import Failure, Run, judge
from .mutants import Mutant

Main = Callable[[Sequence[str]], int]
CPU_SECONDS = 5
MEMORY_BYTES = 1 << 30


def limit(stack: int) -> None:
    """No more than MEMORY_BYTES beyond what is there, and the stack on that file when CPU time is up."""
    memory = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Written by a signal handler in C: code that hangs within a regular expression is caught as well.
    faulthandler.register(signal.SIGPROF, file=stack, all_threads=False, chain=True)
    for number in (1, 2):
        os.dup2(os.memfd_create("output"), number)


def attempt(main: Main, mutant: Mutant, folder: Path, cpu_seconds: float = CPU_SECONDS) -> Failure | None:
    """Run it in the folder, and again where it is to be the same twice."""
    run = _run(main, mutant, folder, cpu_seconds)
    found = judge(mutant, run)
    if found is None and mutant.twice and run.error is None:
        again = _run(main, mutant, folder, cpu_seconds)
        if (run.code, run.out) != (again.code, again.out):
            return Failure("different the second time", mutant.command, "", _difference(run, again))
    return found


def _run(main: Main, mutant: Mutant, folder: Path, cpu_seconds: float) -> Run:
    write(mutant.files, folder)
    os.chdir(folder)
    sys.stdout, sys.stderr = _stream(1, "strict"), _stream(2, "backslashreplace")
    error: BaseException | None = None
    code: object = None
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        code = main(mutant.words)
        sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except BaseException as raised:
        error = raised
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as raised:
            error = error or raised
    return Run(code, _written(1), _written(2), error)


def _stream(number: int, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "utf-8", errors, write_through=True)


def _written(number: int) -> bytes:
    """What was printed there, which is then forgotten."""
    size = os.fstat(number).st_size
    data = os.pread(number, size, 0)
    os.ftruncate(number, 0)
    os.lseek(number, 0, os.SEEK_SET)
    return data


def write(files: dict[str, bytes], folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _difference(run: Run, again: Run) -> str:
    if run.code != again.code:
        return f"exit code {run.code}, then {again.code}"
    for one, other in zip(run.out.split(b"\n"), again.out.split(b"\n"), strict=False):
        if one != other:
            return f"{one[:300]!r}, then {other[:300]!r}"
    return f"{len(run.out)} bytes, then {len(again.out)}"
