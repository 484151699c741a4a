"""What is wrong with a run: nothing, or a Failure."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from .corpus import ROOT
from .mutants import Mutant

LIMITS = ("over the CPU limit", "over the memory limit", "blocked")
PROJECT = tuple(f"{ROOT}/{folder}/" for folder in ("advisor", "plugins", "rules"))
# Where the program says of itself that its code failed.
CONFESSIONS = re.compile(
    r"KA000\b.*|the code of [^\n]{0,2000}? failed on .*?: \w+ at [\w.]+:\d+|its reader failed: [^\n\"]*"
    r"|a mistake in kafka-advisor: [^;\n]*|Traceback \(most recent.*"
)
# A line end and a tab are no harm to a terminal.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Bytes that are no UTF-8 and no control character of Latin-1 either.
LATIN_1 = re.compile("[\udca0-\udcff]")
SURROGATE = re.compile("[\ud800-\udfff]")


class Failure(NamedTuple):
    """`kind` and `what` say which failure it is, `where` in which code; `detail` is for people."""

    kind: str
    what: str
    where: str = ""
    detail: str = ""

    @property
    def signature(self) -> str:
        return " | ".join(part for part in self[:3] if part)

    def same(self, other: Failure | None) -> bool:
        """A limit is reached now here, now there; an exception has its place."""
        return other is not None and (self[:2] == other[:2] if self.kind in LIMITS else self[:3] == other[:3])


class Run(NamedTuple):
    """What came of `main(words)`."""

    code: object
    out: bytes
    err: bytes
    error: BaseException | None = None


def judge(mutant: Mutant, run: Run) -> Failure | None:
    if run.error is not None:
        return failure_of(run.error, mutant.command)
    out, err = _text(run.out), _text(run.err)
    shown = f"{out}\n{err}"
    if run.code not in (0, 1, 2):
        return Failure("exit code", f"{run.code!r} of {mutant.command}")
    if mutant.secret is not None and mutant.secret in shown:
        line = next(line for line in shown.splitlines() if mutant.secret in line)
        return Failure("secret shown", mutant.command, "", line.replace(mutant.secret, "hunter2"))
    confessed = CONFESSIONS.search(shown)
    if confessed is not None and not _in_the_input(mutant, "KA000"):
        return _confession(shown, mutant)
    if confessed is None and (found := _control_character(mutant, out, err)):
        return found
    if _prints_json(mutant) and out and run.code != 2:
        return _json(mutant, out)
    return None


def failure_of(error: BaseException, command: str) -> Failure:
    detail = "".join(traceback.format_exception(error)[-6:])
    where = innermost(
        [
            (frame.filename, frame.lineno or 0, frame.name)
            for frame in traceback.extract_tb(error.__traceback__)
        ]
    )
    if isinstance(error, MemoryError):
        return Failure("over the memory limit", command, where.partition(":")[0], detail)
    return Failure("exception", type(error).__name__, where, detail)


def innermost(frames: Sequence[tuple[str, int, str]]) -> str:
    """The last frame of the program itself, those of libraries left out."""
    for file, line, name in reversed(frames):
        if file.startswith(PROJECT):
            return f"{file[len(str(ROOT)) + 1 :]}:{line} {name}"
    return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _in_the_input(mutant: Mutant, word: str) -> bool:
    return any(word.encode() in data for data in mutant.files.values()) or word in " ".join(mutant.words)


def _confession(shown: str, mutant: Mutant) -> Failure | None:
    place = re.search(r"(\w+) (?:at|in) ([\w.]+:\d+)", CONFESSIONS.search(shown)[0]) or re.search(
        r"(\w+) at ([\w.]+:\d+)", shown
    )
    detail = next(line for line in shown.splitlines() if CONFESSIONS.search(line))[:500]
    what, where = (place[1], place[2]) if place else (detail[:80], "")
    if what == "MemoryError":
        return Failure("over the memory limit", mutant.command, where.partition(":")[0], detail)
    return Failure("code that failed", what, where, detail)


def _control_character(mutant: Mutant, out: str, err: str) -> Failure | None:
    for name, text in (("stdout", out), ("stderr", err)):
        for line in text.split("\n"):
            # A diff has the line ends and the encoding of its file, or it would not apply.
            if mutant.words[0] == "fix" and name == "stdout":
                line = LATIN_1.sub("?", line.removesuffix("\r"))
            found = SURROGATE.search(line) or CONTROL.search(line)
            if found is not None:
                what = f"{mutant.command} on {name}"
                return Failure("raw character", what, _class_of(found[0]), ascii(line[:300]))
    return None


def _class_of(character: str) -> str:
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF:
        return "not UTF-8"
    return "C0" if point < 0x20 else "C1" if point < 0xA0 else "bidirectional"


def _prints_json(mutant: Mutant) -> bool:
    return any(pair == ("--format", "json") for pair in zip(mutant.words, mutant.words[1:], strict=False))


def _json(mutant: Mutant, out: str) -> Failure | None:
    try:
        data = json.loads(out, parse_constant=_no_constant)
    except ValueError as error:
        return Failure("not JSON", mutant.command, "", f"{error}: {out[:200]!r}")
    if SURROGATE.search(json.dumps(data, ensure_ascii=False)):
        return Failure("lone surrogate in JSON", mutant.command)
    schema = "timeline" if mutant.command.endswith("--schedule") else "report"
    if mutant.by_schema and (schema == "timeline" or mutant.words[0] in ("audit", "compare")):
        for error in _validator(schema).iter_errors(data):
            where = ".".join("*" if isinstance(part, int) else str(part) for part in error.path)
            return Failure("not by the schema", mutant.command, where, error.message[:300])
    return None


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


@cache
def _validator(name: str) -> Any:
    import jsonschema

    from advisor.schemas import load_schema

    return jsonschema.Draft202012Validator(load_schema(name))
