"""One variable of an env file changed, every other byte kept; and how a setting's variable is spelt."""

from __future__ import annotations

import re

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Source,
    Splice,
    inserted_after,
    removed_lines,
    spliced,
)

from .image_names import classify

_ROW = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.\-]*)([ \t]*=[ \t]*)(.*)")
_PREFIXES = ("KAFKA_CFG_", "KAFKA_", "CONNECT_")


def letters(name: str) -> str:
    """A variable or a key by its letters and digits alone, without the image's prefix."""
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            name = name[len(prefix) :]
            break
    return "".join(letter for letter in name.lower() if letter.isalnum())


def stands_for(name: str, key: str) -> bool:
    return name == key or letters(name) == letters(key)


def variable_for(key: str, component: str, names: list[str], image: str) -> str:
    """How this image spells a setting: a prefix, capitals, `_` for a dot. An image that is not known is told
    by the variables it has."""
    known = classify(image) if image else None
    bitnami = any(name.startswith("KAFKA_CFG_") for name in names)
    if component == "connect":
        prefix = "CONNECT_"
    elif known.family == "bitnami" if known is not None else bitnami:
        prefix = "KAFKA_CFG_"
    else:
        prefix = "KAFKA_"
    escaped = key if prefix == "KAFKA_CFG_" else key.replace("_", "__").replace("-", "___")
    return prefix + re.sub(r"\.", "_", escaped).upper()


def is_filled_in(text: str) -> bool:
    """Whether Compose or a shell puts something in. `$$` is a dollar sign."""
    return bool(re.search(r"\$[{(A-Za-z_]|\{\{|\{%|<%", text.replace("$$", "")))


def edit(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    found: list[tuple[re.Match[str], int]] = []
    at = 0
    for number, row in enumerate(text.splitlines(keepends=True), 1):
        match = _ROW.match(row.rstrip("\r\n"))
        if match and not row.lstrip().startswith("#"):
            found.append((match, at))
            if step.action != "add" and number == step.line:
                return _changed(text, at, match, step)
        at += len(row)
    if step.action != "add":
        raise CannotEdit(f"{step.key} is not found where it was read", step.line)
    kafka = [(match, begin) for match, begin in found if match[1].startswith(("KAFKA_", "CONNECT_"))]
    if not kafka:
        raise CannotEdit("the file has no variable beside which to add one")
    match, begin = kafka[-1]
    name = variable_for(step.key, document.component, [match[1] for match, _ in kafka], "")
    head = text[begin : begin + match.start(1)]
    return spliced(text, inserted_after(text, begin + match.end(), f"{head}{name}={_quoted(step.value, '')}"))


def _changed(text: str, at: int, match: re.Match[str], step: EditStep) -> str:
    if step.action == "remove":
        return spliced(text, removed_lines(text, at, at + match.end()))
    if step.action == "rename":
        return spliced(text, Splice(at + match.start(1), at + match.end(1), step.value))
    raw = match[3]
    if is_filled_in(raw):
        raise CannotEdit(f"{match[1]} is filled in elsewhere ({raw.strip()})", step.line)
    quote = raw[:1] if raw[:1] in ("'", '"') else ""
    if quote:
        closing = raw.find(quote, 1)
        if closing < 0 or "\\" in raw[:closing]:
            raise CannotEdit(f"{match[1]} runs over several lines or holds escapes", step.line)
        length = closing + 1
    else:
        comment = re.search(r"(?:^|(?<![ \t])[ \t]++)#", raw)
        length = comment.start() if comment else len(raw.rstrip())
    start = at + match.start(3)
    return spliced(text, Splice(start, start + length, _quoted(step.value, quote)))


def _quoted(value: str, quote: str) -> str:
    if not quote and re.fullmatch(r"[^\s#'\"$\\]*", value):
        return value
    quote = quote or "'"
    if quote in value or "\n" in value or (quote == '"' and re.search(r"[\\$]", value)):
        raise CannotEdit("the value cannot be quoted here")
    return f"{quote}{value}{quote}"
