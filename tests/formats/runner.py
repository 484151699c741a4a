"""Golden cases of the input formats: `tests/formats/<format>/<case>/` in, `expected.json` out.

Every file of a case (sub-folders included) is offered to the format of its folder. What it claims, loads or
refuses is compared with `expected.json`. After a change that is meant,
`python -m tests.formats.runner --rewrite [FORMAT...]` writes the goldens anew: read the diff before you
commit it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from advisor.model import Document, Loaded, LoadError, Source
from advisor.registry import function, load_registry

HERE = Path(__file__).parent
EXPECTED = "expected.json"

Load = Callable[[Source], Loaded]
Claim = Callable[[str, str], int]


def cases(format_name: str) -> list[Path]:
    """The case folders of a format, for `pytest.mark.parametrize`."""
    return _folders(HERE / format_name)


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir() and path.name[0] not in "._")


def check(case_dir: Path, load: Load, claim: Claim) -> None:
    """Fail unless every file of the case is read as `expected.json` says."""
    expected = json.loads((case_dir / EXPECTED).read_text("utf-8"))
    assert outcome(case_dir, load, claim) == expected


def outcome(case_dir: Path, load: Load, claim: Claim) -> dict[str, Any]:
    return {name: _one_file(case_dir, name, load, claim) for name in _inputs(case_dir)}


def source(case_dir: Path, name: str) -> Source:
    """The Source that the engine would make: `read` is relative to the file and stays in the case."""
    root = case_dir.resolve()

    def read(relative: str) -> str | None:
        path = (root / PurePosixPath(name).parent / relative).resolve()
        return _text(path) if path.is_relative_to(root) and path.is_file() else None

    return Source(name, _text(case_dir / name), read)


def _text(path: Path) -> str:
    # Line ends are part of a case, so they are not translated.
    return path.read_bytes().decode("utf-8")


def _inputs(case_dir: Path) -> list[str]:
    files = (path for path in case_dir.rglob("*") if path.is_file())
    return sorted(path.relative_to(case_dir).as_posix() for path in files if path.name != EXPECTED)


def _one_file(case_dir: Path, name: str, load: Load, claim: Claim) -> dict[str, Any]:
    given = source(case_dir, name)
    sure = claim(name, given.text)
    if not sure:
        return {"claim": 0}
    try:
        loaded = load(given)
    except LoadError as error:
        return {"claim": sure, "error": error.message, "line": error.line}
    shown: dict[str, Any] = {"claim": sure, "status": loaded.status}
    if loaded.reason is not None:
        shown["reason"] = loaded.reason
    shown["documents"] = [_document(document) for document in loaded.documents]
    return shown


def _document(document: Document) -> dict[str, Any]:
    """What a reader wants to see of a document; empty parts are left out."""
    shown: dict[str, Any] = {
        "component": document.component,
        "name": document.name,
        "client": document.client,
        "line": document.line,
        "settings": [[s.key, str(s.value), str(s.origin)] for s in document.settings],
        "dropped": [[d.key, str(d.value), str(d.at), d.cause, d.detail, d.meant] for d in document.dropped],
        "facts": [[f.name, f.value, str(f.origin)] for f in document.facts],
        "hints": [list(hint) for hint in document.hints],
    }
    return {key: value for key, value in shown.items() if value not in ([], None)}


def _rows(value: Any, indent: str = "") -> Iterator[str]:
    """JSON with every list of plain values on one line, so that a golden reads as a table."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        yield "{"
        last = len(value) - 1
        for i, (key, item) in enumerate(value.items()):
            yield f"\n{inner}{json.dumps(key)}: "
            yield from _rows(item, inner)
            yield "," if i < last else f"\n{indent}}}"
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        yield "["
        last = len(value) - 1
        for i, item in enumerate(value):
            yield f"\n{inner}"
            yield from _rows(item, inner)
            yield "," if i < last else f"\n{indent}]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def code_of(format_name: str) -> tuple[Load, Claim]:
    """What loads a format's files, and what claims them, as its plugin says."""
    (spec,) = [spec for spec in load_registry().formats if spec.name == format_name]
    return function(spec.load, "loaded"), function(spec.claim, "claim")


def rewrite(format_name: str) -> None:
    load, claim = code_of(format_name)
    for case_dir in cases(format_name):
        text = "".join(_rows(outcome(case_dir, load, claim))) + "\n"
        (case_dir / EXPECTED).write_text(text, "utf-8")


def main(arguments: list[str]) -> int:
    if "--rewrite" not in arguments:
        print(__doc__)
        return 2
    names = [name for name in arguments if not name.startswith("-")]
    for name in names or [path.name for path in _folders(HERE)]:
        rewrite(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
