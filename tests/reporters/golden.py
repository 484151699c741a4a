"""Reports kept as text: `python -m tests.reporters.golden` writes golden/ anew."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .roots import ROOTS

HERE = Path(__file__).parent / "golden"
# A report of many findings is about how they are told, not about how many rules there are.
SELECT = ("--select", "KA002,KA010,KA011,KA012,KA101,KA102,KA201,KA202,KA204,KA301,KA302,KA320,KA424")
# The name of the file, the root, the words.
CASES = {
    "quickstart.txt": ("quickstart", ()),
    "quickstart-all.txt": ("quickstart", ("--all",)),
    "quickstart-quiet.txt": ("quickstart", ("-q",)),
    "quickstart.md": ("quickstart", ("--format", "markdown")),
    "quickstart.sarif": ("quickstart", ("--format", "sarif")),
    "quickstart.github.txt": ("quickstart", ("--format", "github")),
    "quickstart.gitlab.json": ("quickstart", ("--format", "gitlab")),
    "quickstart.junit.xml": ("quickstart", ("--format", "junit")),
    "quickstart.checkstyle.xml": ("quickstart", ("--format", "checkstyle")),
    "hostile.checkstyle.xml": ("hostile", ("--format", "checkstyle")),
    "hostile.txt": ("hostile", ()),
    "hostile.md": ("hostile", ("--format", "markdown")),
    "hostile.github.txt": ("hostile", ("--format", "github")),
    "hostile.junit.xml": ("hostile", ("--format", "junit")),
    "many.txt": ("many", SELECT),
    "many.md": ("many", (*SELECT, "--format", "markdown")),
}


def printed(root: Path, words: tuple[str, ...], env: dict[str, str] | None = None) -> str:
    """What the command prints, in the folder itself."""
    done = subprocess.run(
        [sys.executable, "-m", "advisor", "audit", *words],
        cwd=root,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        roots = {kind: make(Path(name)) for kind, make in ROOTS.items()}
        for file, (kind, words) in CASES.items():
            (HERE / file).write_text(printed(roots[kind], words), encoding="utf-8")
