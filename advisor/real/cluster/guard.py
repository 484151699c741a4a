"""Ends what a run has started when the run itself is gone, however it went.

Its standard input is a pipe whose other end the run holds: `+PID` is watched from now on, `-PID` no longer,
and `/FOLDER` is removed at the end. When the pipe closes, because all is done or because the run was killed,
every process still watched is killed. It imports nothing of ours: `python -S -E guard.py`.
"""

import os
import shutil
import signal
import sys


def main() -> None:
    # Ctrl-C goes to all of a terminal: the run decides.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    watched: dict[int, None] = {}
    folders = []
    for line in sys.stdin:
        sign, rest = line[:1], line[1:].rstrip("\n")
        if sign == "+":
            watched[int(rest)] = None
        elif sign == "-":
            watched.pop(int(rest), None)
        elif sign == "/":
            folders.append(rest)
    for process in watched:
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            continue
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
