"""Code of a plugin is called through here: it can fail, it cannot end the program, hang it or write into its
output.

A call is bounded in time (`seconds_max`), what it raises becomes one PluginError that names the plugin and
the function, and what it prints goes to stderr. The bound is a timer signal, where there are such signals and
the caller is the main thread. Code that swallows it, or that is inside of one endless call into C, is ended
with the whole program after a second term of the same length, and stderr says what it was doing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, NoReturn

from ..model import LoadError, UsageError

SECONDS = 10.0
VARIABLE = "KAFKA_ADVISOR_PLUGIN_SECONDS"
# More than any plugin gives; endless generators end here.
ITEMS_MAX = 100_000


class PluginError(Exception):
    """Code of a plugin failed; the text is one line that names plugin, function and place. `again`: it failed
    before, and was not called a second time."""

    again = False


class _OutOfTime(BaseException):
    """Raised inside of the plugin's code. Not an Exception, which such code may catch."""


_tired: set[str] = set()  # functions that ran out of time once: not called a second time
_inside: list[str] = []  # the function that the timer runs for
_calls = [0]  # how often code of plugins was called


def seconds_max() -> float:
    """How long one call of a plugin's function may take; 0 is no limit."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return SECONDS
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise UsageError(f"{VARIABLE}={given}: write a number of seconds, 0 for no limit")
    return value


def gave_up() -> bool:
    """Did code run out of time in this run? Then answers may lack its part, and are not kept."""
    return bool(_tired)


def calls_made() -> int:
    """More than before: code of a plugin had a part in what was asked meanwhile."""
    return _calls[0]


def forget_failures() -> None:
    """A new run asks again."""
    _tired.clear()


def call(who: str, code: Callable[..., Any], *given: Any) -> Any:
    """What the code gives, with lists for iterators; `who` names it to a reader."""
    _calls[0] += 1
    if _inside:  # one of a plugin's functions asks another: the time of the first counts
        return _called(who, code, given)
    if who in _tired:
        error = PluginError(f"{who} is not called again: it ran out of time before")
        error.again = True
        raise error
    put_back = _fenced(who)
    try:
        try:
            return _called(who, code, given)
        finally:
            put_back()
    except _OutOfTime:  # it rang between the two
        put_back()
        raise _out_of_time(who) from None


def _fenced(who: str) -> Callable[[], None]:
    """The clock started, output and the ways to end the program turned round; the result undoes it."""
    seconds, where, printed = seconds_max(), _folder(), sys.stdout
    leave, abort = os._exit, os.abort
    stop = _nothing

    def put_back() -> None:
        stop()
        os._exit, os.abort = leave, abort
        sys.stdout = printed
        _inside.clear()
        if where is not None and _folder() != where:
            os.chdir(where)

    _inside.append(who)
    sys.stdout = sys.stderr
    os._exit, os.abort = _leave, _leave  # type: ignore[assignment]
    if seconds:
        stop = _watch(who, seconds)
    return put_back


def _called(who: str, code: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    try:
        found = code(*given)
        return found if isinstance(found, _WHOLE) or not isinstance(found, Iterable) else _listed(who, found)
    except (PluginError, KeyboardInterrupt):
        raise
    except _OutOfTime:
        raise _out_of_time(_inside[0] if _inside else who) from None
    except SystemExit as error:
        raise PluginError(f"{who} tried to end the program: SystemExit {place_of(error)}") from error
    except BaseException as error:
        if _told_by_author(error):
            raise
        raise PluginError(f"{who} failed: {type(error).__name__} {place_of(error)}") from error


def _out_of_time(who: str) -> PluginError:
    _tired.add(who)
    limit = f"{seconds_max():g} s ({VARIABLE} sets another limit)"
    return PluginError(f"{who} was stopped and is not called again: it took longer than {limit}")


def _told_by_author(error: BaseException) -> bool:
    """LoadError and CannotEdit are answers: what a format says of a file."""
    edits = sys.modules.get("advisor.edit.steps")
    answer = isinstance(error, LoadError) or (edits is not None and isinstance(error, edits.CannotEdit))
    line = getattr(error, "line", None)
    return answer and isinstance(error.args[0], str) and (line is None or isinstance(line, int))


_WHOLE = (str, bytes, list, tuple, set, frozenset, Mapping)


def _listed(who: str, found: Iterable[Any]) -> list[Any]:
    """Taken here, where failing and taking for ever are noticed."""
    items = []
    for item in found:
        items.append(item)
        if len(items) > ITEMS_MAX:
            raise PluginError(f"{who} gives more than {ITEMS_MAX:,} answers")
    return items


def place_of(error: BaseException) -> str:
    """Where it was raised, for the plugin's author. Not its words: they may quote the file, and a secret."""
    if isinstance(error, RecursionError):
        return "(it calls itself without end)"
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None:
        return ""
    return f"at {os.path.basename(tb.tb_frame.f_code.co_filename)}:{tb.tb_lineno}"


def _leave(*code: object) -> NoReturn:
    raise SystemExit(code[0] if code else None)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed: there is nothing to come back to
        return None


# The clock


def _nothing() -> None:
    pass


class OneWatch:
    """Calls that follow each other at once share the last resort, which is a thread to start and to end."""

    armed_at: float | None = None

    def __enter__(self) -> None:
        _one_watch.append(self)

    def __exit__(self, *raised: object) -> None:
        _one_watch.remove(self)
        if self.armed_at is not None:
            from faulthandler import cancel_dump_traceback_later

            cancel_dump_traceback_later()


_one_watch: list[OneWatch] = []
# So long an older watch will do.
_FRESH_SECONDS = 0.5


def _watch(who: str, seconds: float) -> Callable[[], None]:
    """Starts the clocks; the result stops them."""
    last, alarm = _last_resort(seconds), _alarm(who, seconds)

    def stop() -> None:
        alarm()
        last()

    return stop


def _last_resort(seconds: float) -> Callable[[], None]:
    """Works in any thread and inside of C code. It cannot give a message of ours."""
    from faulthandler import cancel_dump_traceback_later, dump_traceback_later
    from time import monotonic

    shared = _one_watch[-1] if _one_watch else None
    now = monotonic()
    if shared is not None and shared.armed_at is not None and now - shared.armed_at < _FRESH_SECONDS:
        return _nothing
    try:
        dump_traceback_later(2 * seconds + 1, exit=True)
    except (AttributeError, ValueError, OSError, RuntimeError):  # stderr is closed, or is no file
        return _nothing
    if shared is None:
        return cancel_dump_traceback_later
    shared.armed_at = now
    return _nothing


def _alarm(who: str, seconds: float) -> Callable[[], None]:
    """Wakes the plugin's code with an exception, and again after a second term if it goes on all the same;
    then the program ends, with one line."""
    import signal
    import threading

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return _nothing
    rung = 0

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rung
        rung += 1
        if rung > 1:
            os.write(2, f"kafka-advisor: {who} cannot be stopped; the run ends without a report\n".encode())
            leave(2)
        raise _OutOfTime

    leave = _true_exit
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)

    def stop() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before if before is not None else signal.SIG_DFL)

    return stop


_true_exit = os._exit
