"""Files before and after `fix --write`, byte for byte, and what it says: data in `cases/`, one small runner.

`python -m tests.fix.test_cases --rewrite` writes `after/` and `told.txt` anew: read the diff first.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from advisor.commands import run

HERE = Path(__file__).parent
# Cases are about edits, not about how many rules there are.
SELECT = ("--select", "KA00,KA01,KA02,KA101,KA102,KA103,KA110,KA201,KA301,KA302")
CASES = sorted(path.parent for path in HERE.glob("cases/*/before"))


def fix(folder: Path, *words: str) -> tuple[int, str, str]:
    """The command run in a folder: exit code, stdout, stderr."""
    here = os.getcwd()
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", newline="")
    err = io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(["fix", "--profile", "prod", *words])
            out.flush()
    finally:
        os.chdir(here)
    return code, out.buffer.getvalue().decode("latin-1"), err.getvalue()


def texts(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def mended(case: Path, folder: Path) -> tuple[dict[str, bytes], str]:
    copy = Path(shutil.copytree(case / "before", folder / "files"))
    code, out, err = fix(copy, *SELECT, "--write", ".")
    assert out == ""
    return texts(copy), f"exit {code}\n{err}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, tmp_path):
    after, told = mended(case, tmp_path)
    assert told == (case / "told.txt").read_text()
    assert after == {**texts(case / "before"), **texts(case / "after")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_second_run_has_nothing_to_do(case, tmp_path):
    mended(case, tmp_path)
    before = texts(tmp_path / "files")
    _, out, _ = fix(tmp_path / "files", *SELECT, ".")
    assert out == ""
    _, _, err = fix(tmp_path / "files", *SELECT, "--write", ".")
    assert "written (" not in err
    assert texts(tmp_path / "files") == before


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            after, told = mended(case, Path(folder))
        (case / "told.txt").write_text(told)
        shutil.rmtree(case / "after", ignore_errors=True)
        for name, data in after.items():
            if data != texts(case / "before").get(name):
                path = case / "after" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
