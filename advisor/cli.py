"""The command line: words in, exit code out. No logic of its own.

`--version` returns before argparse or any plugin is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    if arguments is not None:
        return _main(list(arguments))
    try:
        _expect_ctrl_c()
        code = _main(sys.argv[1:])
        _expect_ctrl_c(done=True)
        _leave(code)
        return code
    except KeyboardInterrupt:
        return 130


def _main(words: list[str]) -> int:
    if words == ["--version"]:
        from . import __version__

        try:
            print(f"kafka-advisor {__version__}", flush=True)
            if sys.stdout is not None:
                return 0
        except OSError:
            pass
        # Its reader has gone, or the disk is full: tried again where that is told.
    from .commands import run

    return run(words)


def _leave(code: int) -> None:
    """Ends the process at once if nothing waits for its end: to take apart all that an audit has made costs a
    tenth of it."""
    import _thread
    import atexit

    if atexit._ncallbacks() or _thread._count():
        return
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return  # told on the usual way
    os._exit(code)


def _expect_ctrl_c(done: bool = False) -> None:
    """Ctrl-C may come at any moment: in the middle of an import, in a callback where Python can only print
    the exception and go on, or while the interpreter winds up."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself costs as much as all of --version
    import _thread

    if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return  # a shell that runs us in the background has switched it off
    if done:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        return
    usual = sys.unraisablehook

    def again(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is KeyboardInterrupt:
            # By another thread, so that it comes when this callback is left: here it would be lost again.
            _thread.start_new_thread(os.kill, (os.getpid(), _signal.SIGINT))
        else:
            usual(lost)

    sys.unraisablehook = again


if __name__ == "__main__":
    sys.exit(main())
