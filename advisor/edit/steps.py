"""The values of editing: one step in one file, and why a step cannot be made. What formats edit with."""

from __future__ import annotations

from ..tuples import NamedTuple


class CannotEdit(Exception):
    """A step that this format or this text does not allow; the reason is told to the user. `file` need not be
    given by a format: it is the one being edited."""

    def __init__(self, message: str, line: int | None = None, file: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.file = file


class EditStep(NamedTuple):
    """One edit of one document. action: set | add | remove | rename.

    `key` is Kafka's key, or the name as written for what never reaches Kafka. `value` is the new value, and
    for `rename` the new name: its value stays as written, byte for byte. `line` is where the key stands now;
    an `add` has none.
    """

    action: str
    key: str
    value: str
    line: int | None = None


class Splice(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


def spliced(text: str, *splices: Splice) -> str:
    """The text with all splices made; they are given by their place in the old text and do not overlap."""
    out: list[str] = []
    at = 0
    for splice in sorted(splices):
        if splice.start < at:
            raise CannotEdit("two edits meet in one place")
        out += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*out, text[at:]])


def newline_of(text: str) -> str:
    """The line ending in use."""
    at = text.find("\n")
    if at < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"


def line_end(text: str, at: int) -> int:
    """Where the line of `at` ends, before its line ending."""
    ends = [end for mark in "\r\n" if (end := text.find(mark, at)) >= 0]
    return min(ends, default=len(text))


def next_line(text: str, at: int) -> int:
    """Where the line after that of `at` begins."""
    end = line_end(text, at)
    return end + (2 if text[end : end + 2] == "\r\n" else 1 if end < len(text) else 0)


def line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def inserted_after(text: str, at: int, line: str) -> Splice:
    """A new line after that of `at`, with the line ending in use, also where the last line has none."""
    end = line_end(text, at)
    return Splice(end, end, newline_of(text) + line)


def removed_lines(text: str, start: int, end: int) -> Splice:
    """The lines from that of `start` to that of `end` taken out, with one line ending."""
    first, last = line_start(text, start), next_line(text, end)
    if last == line_end(text, end) and first > 0:
        # The last line of a text without a line ending at its end: the one before it goes instead.
        before = first - (2 if text[first - 2 : first] == "\r\n" else 1)
        return Splice(before, last, "")
    return Splice(first, last, "")


# Settings that a reader looks for beside each other.
_TOGETHER = (
    (
        "acks",
        "enable.idempotence",
        "retries",
        "max.in.flight.requests.per.connection",
        "delivery.timeout.ms",
    ),
    (
        "replication.factor",
        "replicas",
        "default.replication.factor",
        "min.insync.replicas",
        "unclean.leader.election.enable",
    ),
)


def related(key: str, others: list[str]) -> int | None:
    """Which of `others` a new `key` best stands behind: the last of its kind; None if there is none."""
    kin = next((group for group in _TOGETHER if key in group), ())
    return next((place for place in range(len(others) - 1, -1, -1) if others[place] in kin), None)
