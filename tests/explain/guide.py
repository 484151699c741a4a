"""The guide for plugin authors, run: every file of a page is written, every command is run in their folder.

`python -m tests.explain.guide [PAGE...]` writes what the commands print into the pages: read the diff before
you commit it. What has `...` in it is a pattern and is left as it is.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from advisor.explain.site.markdown import Block, blocks_of
from tests.conftest import ROOT

FOLDER = ROOT / "advisor/explain/guide"
PAGES = sorted(FOLDER.glob("*.md"))
PROGRAMS = {
    "kafka-advisor": [sys.executable, "-m", "advisor"],
    "python": [sys.executable],
    "grep": ["grep"],
}


def told(page: Path, folder: Path) -> Iterator[tuple[Block, list[tuple[str, str, str]]]]:
    """Of each console block its commands: the words, what the page says and what is printed."""
    for block in blocks_of(page.read_text()):
        if block.kind == "console":
            yield block, [(words, said, printed(words, folder)) for words, said in commands(block.text)]
        else:
            assert block.file, f"{page.name}:{block.line}: nobody runs this block: give it a file"
            target = folder / block.file.removeprefix("+")
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a" if block.file[0] == "+" else "w") as file:
                file.write(block.text)


def commands(text: str) -> list[tuple[str, str]]:
    _, *parts = re.split(r"^\$ (.*)\n", text, flags=re.M)
    return list(zip(parts[::2], parts[1::2], strict=True))


def printed(words: str, folder: Path) -> str:
    program, *rest = shlex.split(words)
    environment = {
        **os.environ,
        "KAFKA_ADVISOR_CACHE": str(folder.parent / "cache"),
        "PYTEST_PLUGINS": "advisor.testing.fixtures",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        [*PROGRAMS[program], *rest],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout if done.stdout.endswith("\n") or not done.stdout else f"{done.stdout}\n"


def same(said: str, is_printed: str) -> bool:
    if "..." not in said:
        return said == is_printed
    return re.fullmatch(re.escape(said).replace(r"\.\.\.", ".*?"), is_printed, re.S) is not None


def rewrite(page: Path) -> None:
    text = page.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "here"
        folder.mkdir()
        for block, run in told(page, folder):
            body = "".join(f"$ {words}\n" + (said if "..." in said else now) for words, said, now in run)
            text = text.replace(f"```console\n{block.text}```", f"```console\n{body}```", 1)
    page.write_text(text)


if __name__ == "__main__":
    for path in PAGES:
        if not sys.argv[1:] or any(name in path.name for name in sys.argv[1:]):
            rewrite(path)
