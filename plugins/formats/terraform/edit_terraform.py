"""One setting of a Terraform file changed, every other byte kept: in a map, a heredoc or Aiven's block."""

from __future__ import annotations

import re

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, line_start, removed_lines, spliced

from .. import edit_properties
from .hcl import Block, Expr
from .terraform import all_made
from .written import Made

_NUMBER = re.compile(r"-?[0-9]++(?:\.[0-9]++)?+")


def edit(source: Source, document: Document, step: EditStep) -> str:
    made = _found(source, document)
    if made.why:
        raise CannotEdit(made.why, made.block.line)
    if isinstance(made.home, Expr) and made.home.heredoc:
        return _in_text(source, document, made.home, step)
    if step.action == "add":
        return spliced(source.text, _added(source.text, made, step))
    key, value = _pair(made.home, step)
    if step.action == "remove":
        return spliced(source.text, _removed(source.text, made.home, key, value, step))
    if step.action == "rename":
        new = step.value.replace(".", "_") if isinstance(made.home, Block) else _quoted(step.value)
        return spliced(source.text, Splice(key.start, key.end, new))
    if value.kind not in ("text", "number", "word") or value.filled or value.heredoc:
        raise CannotEdit(f"{step.key} is filled in elsewhere ({_shown(source.text, value)})", key.line)
    return spliced(source.text, Splice(value.start, value.end, _literal(step.value, value.kind)))


def _found(source: Source, document: Document) -> Made:
    for made in all_made(source):
        one = made.document
        if (one.component, one.name, one.line) == (document.component, document.name, document.line):
            return made
    raise CannotEdit("it is not found where it was read", document.line)


def _shown(text: str, value: Expr) -> str:
    return text[value.start : value.end] if value.kind == "reference" else "an expression"


def _pair(home: Expr | Block | None, step: EditStep) -> tuple[Expr, Expr]:
    """The key and the value of a setting, by its line."""
    if isinstance(home, Block):
        for one in home.attributes:
            if one.line == step.line and one.name.replace("_", ".") == step.key:
                end = one.start + len(one.name)
                return Expr("word", one.name, one.line, one.start, end), one.value
    elif home is not None:
        for key, value in reversed(home.pairs):
            if key.line == step.line and key.value == step.key:
                return key, value
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + escaped.replace("${", "$${").replace("%{", "%%{") + '"'


def _literal(value: str, kind: str) -> str:
    """In the form it had: numbers and truth values stay without quotes."""
    if kind == "number" and _NUMBER.fullmatch(value):
        return value
    if kind == "word" and value in ("true", "false"):
        return value
    return _quoted(value)


def _removed(text: str, home: Expr | Block | None, key: Expr, value: Expr, step: EditStep) -> Splice:
    if isinstance(home, Block):
        return removed_lines(text, value.start, value.end)
    assert home is not None
    if text[line_start(text, key.start) : key.start].strip() == "":
        rest = text[value.end :].partition("\n")[0].strip()
        if not rest or (rest[0] in ",#/" and "}" not in rest.partition("#")[0]):
            return removed_lines(text, key.start, value.end)
    place = next(number for number, pair in enumerate(home.pairs) if pair[0] is key)
    if place > 0:
        return Splice(home.pairs[place - 1][1].end, value.end, "")
    return Splice(key.start, home.pairs[1][0].start if len(home.pairs) > 1 else value.end, "")


def _added(text: str, made: Made, step: EditStep) -> Splice:
    home, block = made.home, made.block
    if made.document.component != "topic" and home is None:
        raise CannotEdit("there is no place for its settings here", block.line)
    if home is None:
        return _new_config(text, block, step)
    if isinstance(home, Block):
        inside = home.attributes[-1].value.end if home.attributes else None
        name = step.key.replace(".", "_")
        line = f"{name} = {_bare(step.value)}"
        return _line_behind(text, inside, line) if inside is not None else _into_empty(text, home, line)
    name = _quoted(step.key)
    if not home.pairs:
        return Splice(home.start, home.end, f"{{ {name} = {_quoted(step.value)} }}")
    key, last = home.pairs[-1]
    kind = last.kind if last.kind in ("text", "number", "word") else "text"
    sign = text[key.end : last.start].strip() or "="
    pair = (
        f"{name} {sign} {_literal(step.value, kind)}"
        if sign == "="
        else f"{name}: {_literal(step.value, kind)}"
    )
    if text[line_start(text, key.start) : key.start].strip():
        return Splice(last.end, last.end, f", {pair}")
    comma = text[last.end : last.end + 1] == ","
    return _line_behind(text, last.end, pair + ("," if comma else ""), key.start)


def _bare(value: str) -> str:
    return value if _NUMBER.fullmatch(value) or value in ("true", "false") else _quoted(value)


def _line_behind(text: str, at: int, line: str, sample: int | None = None) -> Splice:
    """A line more behind that of `at`, as far in as that of `sample`."""
    start = line_start(text, at if sample is None else sample)
    indent = (
        text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))] if start < len(text) else ""
    )
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    newline = "\r\n" if text[end - 1 : end] == "\r" else "\n"
    end -= newline == "\r\n"
    return Splice(end, end, f"{newline}{indent}{line}")


def _into_empty(text: str, block: Block, line: str) -> Splice:
    return Splice(block.end, block.end, f"{line} " if text[block.end - 1] in " {" else line)


def _new_config(text: str, block: Block, step: EditStep) -> Splice:
    """A topic without config: a map of its own before the block's closing brace, or Aiven's block."""
    if text.count("\n", block.start, block.end) == 0:
        raise CannotEdit("the topic is written on one line", block.line)
    start = line_start(text, block.start)
    outer = text[start : block.start] if not text[start : block.start].strip() else ""
    indent = outer + "  "
    newline = "\r\n" if "\r\n" in text else "\n"
    if block.labels[0] == "aiven_kafka_topic":
        rows = ["config {", f"  {step.key.replace('.', '_')} = {_bare(step.value)}", "}"]
    else:
        rows = ["config = {", f"  {_quoted(step.key)} = {_quoted(step.value)}", "}"]
    body = "".join(f"{indent}{row}{newline}" for row in rows)
    at = line_start(text, block.end)
    return Splice(at, at, f"{newline}{body}" if block.attributes else body)


def _in_text(source: Source, document: Document, home: Expr, step: EditStep) -> str:
    """A heredoc is a properties file of its own, with its lines counted from where it begins."""
    text = source.text
    begin = text.index("\n", home.start) + 1
    end = begin + len(home.value)
    line = None if step.line is None else step.line - home.line
    inner = Source(source.file, text[begin:end], source.read)
    if step.action == "add" and not edit_properties.rows(inner.text):
        return text[:begin] + f"{step.key} = {step.value}\n" + text[begin:]
    try:
        changed = edit_properties.edit(inner, document, step._replace(line=line))
    except CannotEdit as error:
        raise CannotEdit(error.message, None if error.line is None else error.line + home.line) from None
    return text[:begin] + changed + text[end:]
