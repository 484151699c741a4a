"""A Run as lines of text: one line a step where the width allows it, else a step over its cells.

    1  the producer sends r0     b0* [r0] ◂  b1 [ ]      b2 [ ]   r0 is confirmed
    2  broker 0 crashes          b0* ✗ [r0] ◂  b1 [ ]    b2 [ ]

`◂` marks what the step changed. Where brokers or members are the columns, each cell has its name; other
columns stand under headings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...output.terminal import wrapped
from .values import Cell, Column, Row, Run, clock

CHANGED = "◂"
_MARKS = {"leads": "*", "out of sync": "~", "eligible": "~"}
_NAMED = ("broker", "member")
LEGEND_CHANGED = f"{CHANGED}: changed by this step"
# Beyond so many steps the middle is left out where a run is only shown in passing.
HEAD, TAIL = 8, 4
# What follows from a step is wrapped rather than put below it, if there is so much room.
NOTES_MIN = 26
Paint = Callable[[str, str], str]


def _plain(text: str, style: str) -> str:
    return text


def run_lines(
    run: Run,
    width: int = 100,
    brief: bool = False,
    indent: str = "  ",
    paint: Paint = _plain,
    all_rows: bool = True,
) -> list[str]:
    """`brief`: only the columns that the story needs. `paint(text, style)` colours a piece whose width is
    counted before. Without `all_rows` the middle of a long run is left out."""
    places = [place for place, column in enumerate(run.columns) if column.brief or not brief]
    rows = list(_shown(run, all_rows))
    wide = _Wide(run, places, rows)
    room = width - len(indent) - wide.width
    if room >= 0:
        beside = room >= min(wide.notes + 2 if wide.notes else 0, NOTES_MIN)
        return wide.lines(indent, paint, room - 2 if beside else 0, width)
    return list(_narrow(run, places, rows, width, indent, paint))


def legend_lines(run: Run, width: int = 100, brief: bool = False) -> list[str]:
    """What the signs mean; `brief`: of the columns that are then shown."""
    changed = any(_marked(cell) for row in run.rows for cell in row.cells)
    hidden = tuple(f"{column.id}:" for column in run.columns if brief and not column.brief)
    lines = [line for line in run.legend if not hidden or not line.startswith(hidden)]
    lines += [LEGEND_CHANGED] if changed else []
    return _wrapped("; ".join(lines), width)


def notes_of(run: Run, row: Row) -> str:
    """What follows from the step; the last one ends the run."""
    notes = list(row.notes)
    if run.rows and row is run.rows[-1] and run.ending and run.ending not in notes:
        notes.append(run.ending)
    return "; ".join(notes)


def _shown(run: Run, all_rows: bool) -> Iterator[Row | int]:
    """The rows; in place of those left out, how many."""
    rows = run.rows
    if all_rows or len(rows) <= HEAD + TAIL + 1:
        yield from rows
    else:
        yield from rows[:HEAD]
        yield len(rows) - HEAD - TAIL
        yield from rows[-TAIL:]


def _left_out(count: int) -> str:
    return f"... {count} more steps ..."


def _label(column: Column, cell: Cell) -> str:
    """b0*: the name of a broker or a member, with its marks; other columns have a heading."""
    if column.kind not in _NAMED:
        return ""
    return column.id + "".join(dict.fromkeys(_MARKS[mark] for mark in cell.marks if mark in _MARKS))


def _marked(cell: Cell) -> bool:
    """Counts change all the time."""
    return cell.changed and bool(cell.text) and "count" not in cell.data


class _Wide:
    def __init__(self, run: Run, places: Sequence[int], rows: Sequence[Row | int]) -> None:
        self.run, self.places, self.rows = run, places, rows
        only = [row for row in rows if isinstance(row, Row)]
        self.timed = any(row.t_ms is not None for row in only)
        self.number = max((len(str(row.number)) for row in only), default=1)
        self.time = max((len(self._time(row)) for row in only), default=0) if self.timed else 0
        self.sentence = max((len(row.sentence) for row in only), default=0)
        self.labels = {
            place: max((len(_label(run.columns[place], row.cells[place])) for row in only), default=0)
            for place in places
        }
        self.cells = {place: self._cell_width(place, only) for place in places}
        self.notes = max((len(notes_of(run, row)) for row in only), default=0)
        fixed = self.number + 2 + (self.time + 2 if self.timed else 0) + self.sentence
        self.width = fixed + sum(2 + self.cells[place] for place in places)

    def _cell_width(self, place: int, only: Sequence[Row]) -> int:
        column = self.run.columns[place]
        head = 0 if column.kind in _NAMED else len(column.title)
        return max((head, *(len(self._cell(place, row)[0]) for row in only)))

    def _time(self, row: Row) -> str:
        return "" if row.t_ms is None else clock(row.t_ms)

    def _cell(self, place: int, row: Row) -> tuple[str, bool]:
        column, cell = self.run.columns[place], row.cells[place]
        label = _label(column, cell)
        text = f"{label.ljust(self.labels[place])} {cell.text}" if label else cell.text
        return (f"{text} {CHANGED}" if _marked(cell) else text), cell.changed

    def lines(self, indent: str, paint: Paint, room: int, width: int) -> list[str]:
        """What follows from a step stands beside it if there is `room`, else below."""
        lines = self._headings(indent, paint)
        margin = len(indent) + (self.width if room else self.number) + 2
        for row in self.rows:
            if isinstance(row, int):
                lines.append(f"{indent}{' ' * (self.number + 2)}{_left_out(row)}")
                continue
            parts = [str(row.number).rjust(self.number)]
            if self.timed:
                parts.append(self._time(row).rjust(self.time))
            parts.append(_painted(row.sentence, self.sentence, "fault" if row.fault else "", paint))
            for place in self.places:
                text, changed = self._cell(place, row)
                parts.append(_painted(text, self.cells[place], "changed" if changed else "", paint))
            style = "ending" if row is self.run.rows[-1] and self.run.ending else "note"
            notes = _wrapped(notes_of(self.run, row), room or width - margin - 2)
            if room and notes:
                parts.append(paint(notes.pop(0), style))
            lines.append((indent + "  ".join(parts)).rstrip())
            lines += [" " * (margin if room else margin + 2) + paint(line, style) for line in notes]
        return lines

    def _headings(self, indent: str, paint: Paint) -> list[str]:
        columns = [self.run.columns[place] for place in self.places]
        if all(column.kind in _NAMED for column in columns):
            return []
        parts = [" " * self.number]
        if self.timed:
            parts.append("time".rjust(self.time))
        parts.append(" " * self.sentence)
        for place, column in zip(self.places, columns, strict=True):
            text = "" if column.kind in _NAMED else column.title
            parts.append(text.ljust(self.cells[place]))
        return [paint((indent + "  ".join(parts)).rstrip(), "heading")]


def _wrapped(text: str, width: int) -> list[str]:
    return wrapped(text, width) if text else []


def _painted(text: str, width: int, style: str, paint: Paint) -> str:
    return (paint(text, style) if style else text) + " " * (width - len(text))


def _narrow(
    run: Run, places: Sequence[int], rows: Sequence[Row | int], width: int, indent: str, paint: Paint
) -> Iterator[str]:
    numbers = max((len(str(row.number)) for row in rows if isinstance(row, Row)), default=1)
    inner = indent + " " * (numbers + 2)
    for row in rows:
        if isinstance(row, int):
            yield inner + _left_out(row)
            continue
        time = "" if row.t_ms is None else f"{clock(row.t_ms)}  "
        first, *more = _wrapped(time + row.sentence, max(20, width - len(inner))) or [""]
        yield f"{indent}{str(row.number).rjust(numbers)}  {paint(first, 'fault' if row.fault else '')}"
        yield from (inner + line for line in more)
        # What stands under a heading is repeated only when it changes.
        told = [
            _piece(run.columns[place], row.cells[place])
            for place in places
            if run.columns[place].kind in _NAMED or row.cells[place].changed or row is run.rows[0]
        ]
        yield from _packed(told, width, inner)
        note = notes_of(run, row)
        last = row is run.rows[-1] and bool(run.ending)
        for line in _wrapped(note, max(20, width - len(inner) - 2)):
            yield f"{inner}  {paint(line, 'ending' if last else 'note')}"


def _piece(column: Column, cell: Cell) -> str:
    label = _label(column, cell) or f"{column.title}:"
    if not cell.text:
        return ""
    return f"{label} {cell.text}" + (f" {CHANGED}" if _marked(cell) else "")


def _packed(pieces: Sequence[str], width: int, indent: str) -> Iterator[str]:
    """As many as fit on a line."""
    line = ""
    for piece in pieces:
        if not piece:
            continue
        joined = f"{line}  {piece}" if line else piece
        if line and len(indent) + 2 + len(joined) > width:
            yield f"{indent}  {line}"
            line = piece
        else:
            line = joined
    if line:
        yield f"{indent}  {line}"
