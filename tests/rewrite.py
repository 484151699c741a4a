"""`python -m tests.rewrite [NAME ...]`: write what tests compare with anew. Read the diff before a commit.

Without names everything is written; CI never does.
"""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

MODULES = {
    "sim": ("tests.sim.rewrite",),
    "transactions": ("tests.sim.transactions.golden",),
    "simulate": ("tests.simulate.golden",),
    "rules": ("tests.rules.test_rules", "--rewrite"),
    "fix": ("tests.fix.test_cases", "--rewrite"),
    "reports": ("tests.reporters.golden",),
    "guide": ("tests.explain.guide",),
}


def readme() -> None:
    """The first block of README.md is what the command prints."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    words = [sys.executable, "-m", "advisor", "audit", "samples/quickstart"]
    printed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    block = text.split("```")[1]
    text = text.replace(block, f"\n{printed}", 1)
    path.write_text(text, encoding="utf-8")


def main(names: list[str]) -> int:
    for name, words in MODULES.items():
        if not names or name in names:
            print(name)
            subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=True)
    if not names or "readme" in names:
        print("readme")
        readme()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
