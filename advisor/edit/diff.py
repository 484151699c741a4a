"""Two versions of a file as a unified diff that `git apply` and `patch -p1` take, with no secret in it.

Context stops short of a line that holds a secret. Where that cannot be done, because the secret stands right
behind a change or on a changed line, the line is masked, and the diff then does not apply.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ..read.secrets import MASK
from ..tell.masks import hidden_lines
from ..tuples import NamedTuple

CONTEXT = 3


class Diff(NamedTuple):
    text: bytes
    masked: bool


def unified(
    name: str,
    before: bytes,
    after: bytes,
    header: str = "",
    secrets_before: Collection[int] = (),
    secrets_after: Collection[int] = (),
) -> Diff:
    """The diff of one file; `header` are comment lines that stand above it. `secrets_*` are the lines, from
    1, where a secret was read."""
    # Byte for byte, whatever the encoding: Latin-1 gives each byte a letter.
    old, new = _lines(before), _lines(after)
    old_secrets = hidden_lines(name, before, secrets_before)
    new_secrets = hidden_lines(name, after, secrets_after)
    out = [header, f"--- {_label('a/' + name)}\n", f"+++ {_label('b/' + name)}\n"]
    masked = False
    # A value that only one of its names makes a secret is hidden under the other too.
    for first, last, new_first, new_last in _spans(old, new):
        sides = (old, range(first, last), old_secrets), (new, range(new_first, new_last), new_secrets)
        for (lines, places, known), (others, other_places, other_known) in (sides, sides[::-1]):
            hidden = {others[n][other_known[n] :].strip() for n in other_places if n in other_known} - {""}
            for number in places:
                start = next((lines[number].find(text) for text in hidden if text in lines[number]), -1)
                if start >= 0:
                    known[number] = min(start, known.get(number, start))
    for hunk in _hunks(old, new, old_secrets):
        start, end = hunk[0].old[0] - hunk[0].lead, hunk[-1].old[1] + hunk[-1].trail
        new_start, new_end = hunk[0].new[0] - hunk[0].lead, hunk[-1].new[1] + hunk[-1].trail
        out.append(f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n")
        at = start
        for change in hunk:
            for mark, lines, secrets, first, last in (
                (" ", old, old_secrets, at, change.old[0]),
                ("-", old, old_secrets, *change.old),
                ("+", new, new_secrets, *change.new),
            ):
                out += [_shown(mark, lines, number, secrets) for number in range(first, last)]
                masked = masked or any(number in secrets for number in range(first, last))
            at = change.old[1]
        out += [_shown(" ", old, number, old_secrets) for number in range(at, end)]
        masked = masked or any(number in old_secrets for number in range(at, end))
    if masked:
        out.insert(
            1, "# this diff masks values and does not apply: `kafka-advisor fix --write` makes the change\n"
        )
    return Diff("".join(out).encode("latin-1", "backslashreplace"), masked)


class _Change(NamedTuple):
    old: tuple[int, int]
    new: tuple[int, int]
    lead: int
    trail: int


def _hunks(old: list[str], new: list[str], secrets: dict[int, int]) -> list[list[_Change]]:
    changes: list[_Change] = []
    spans = _spans(old, new)
    for place, (start, end, new_start, new_end) in enumerate(spans):
        floor = spans[place - 1][1] if place else 0
        ceiling = spans[place + 1][0] if place + 1 < len(spans) else len(old)
        lead = trail = 0
        while lead < CONTEXT and start - lead > floor and start - lead - 1 not in secrets:
            lead += 1
        while trail < CONTEXT and end + trail < ceiling and end + trail not in secrets:
            trail += 1
        if trail == 0 and end < len(old):
            trail = 1  # without a line behind it, git takes the change for one at the end of the file
        if start == end > 0 and lead == trail == 0:
            lead = 1  # lines added to nothing are a new file
        changes.append(_Change((start, end), (new_start, new_end), lead, trail))
    hunks: list[list[_Change]] = []
    for change in changes:
        if hunks and hunks[-1][-1].old[1] + hunks[-1][-1].trail >= change.old[0] - change.lead:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


def _spans(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """What differs, as places in both. Equal beginnings and ends, most of a file, are cut off first."""
    from difflib import SequenceMatcher

    first, shorter = 0, min(len(old), len(new))
    while first < shorter and old[first] == new[first]:
        first += 1
    last = 0
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    matcher = SequenceMatcher(
        None, old[first : len(old) - last], new[first : len(new) - last], autojunk=False
    )
    return [
        (a + first, b + first, c + first, d + first)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _lines(data: bytes) -> list[str]:
    lines = [line + "\n" for line in data.decode("latin-1").split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _shown(mark: str, lines: list[str], number: int, secrets: dict[int, int]) -> str:
    line = lines[number]
    if number in secrets:
        kept = line[: secrets[number]].rstrip("\r\n")
        line = (
            kept
            + (MASK if len(kept) < len(line.rstrip("\r\n")) else "")
            + ("\n" if line[-1:] == "\n" else "")
        )
    return mark + (line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"


def _label(name: str) -> str:
    """A file's name as git and patch read it: quoted like C if it must be, a tab behind one with blanks."""
    text = name.encode("utf-8", "surrogateescape").decode("latin-1")
    if re.search(r"[\x00-\x1f\"\\\x7f]", text):
        return '"' + re.sub(r"[\x00-\x1f\"\\\x7f-\xff]", lambda c: f"\\{ord(c[0]):03o}", text) + '"'
    return text + ("\t" if " " in text else "")
