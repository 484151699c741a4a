"""YAML with a template language between its lines, made readable: a chart's template of a resource.

Lines that are nothing but actions are emptied, so that the others keep their numbers; a value with an action
in it is quoted, so that it reads as one text, which is then unknown; a line whose key is filled in goes too.
"""

from __future__ import annotations

import re
from functools import cache


@cache
def _action_line() -> re.Pattern[str]:
    return re.compile(
        r"^[ \t]*+(?:\{\{(?:(?!\}\}).)*+\}\}[ \t]*+"
        r"|\{%(?:(?!%\}).)*+%\}[ \t]*+|\{#(?:(?!#\}).)*+#\}[ \t]*+)++"
    )


@cache
def _valued_line() -> re.Pattern[str]:
    return re.compile(r"^([ \t]*+(?:- )*+(?:[\w./-]++|\"[^\"]*+\"|'[^']*+'):[ \t]++|[ \t]*+(?:- )++)(.*)")


def without_actions(text: str) -> str:
    lines = text.split("\n")
    inside = ""
    for number, line in enumerate(lines):
        if inside:
            # An action that runs over several lines.
            lines[number] = ""
            inside = "" if inside in line else inside
        elif "{{" in line or "{%" in line or "{#" in line:
            lines[number], inside = _plain(line)
    return "\n".join(lines)


def _plain(line: str) -> tuple[str, str]:
    for start, end in (("{{", "}}"), ("{%", "%}"), ("{#", "#}")):
        if line.lstrip().startswith(start) and end not in line:
            return "", end
    if _action_line().fullmatch(line):
        return "", ""
    found = _valued_line().match(line)
    if found is None or "{{" in found[1] or "{%" in found[1]:
        return "", ""
    head, value = found[1], found[2].strip()
    if not value or value[0] in "|>":
        return line, ""
    if value[0] in "\"'":
        # `"{{ include "name" . }}"`: quotes of the action's own end the text too early.
        if "{{" not in value or value[-1] != value[0] or value.count(value[0]) == 2:
            return line, ""
        value = value[1:-1]
    if value.startswith("[") and value.endswith("]"):
        return line, ""
    if value.startswith("{%"):
        return "", ""
    return head + "'" + value.replace("'", "''") + "'", ""
