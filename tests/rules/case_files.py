"""A rule's cases in one text: `KAxxx-name.txt`.

    == fail-one-copy                   a case: it fails or it passes
    -- producer.properties             a file of it, up to the next marker
    acks=1
    -- expected                        what the rule says of it
    producer.properties:1: one broker crash loses an acknowledged record

Files before the first case belong to every case of the text. A case that passes expects `holds GUARANTEE`,
`unknown GUARANTEE`, `broken GUARANTEE by another rule`, or `not asked: why`; of a rule without guarantee it
expects nothing. A case whose files lie in `old/` and `new/` is compared.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

EXPECTED = "expected"


class Case(NamedTuple):
    rule: str
    name: str
    files: dict[str, str]
    expected: list[str]

    @property
    def id(self) -> str:
        return f"{self.rule}/{self.name}"

    def place(self, folder: Path) -> Path:
        """Its files, written into this folder."""
        for file, text in self.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8", newline="")
        return folder


def read_cases(path: Path) -> list[Case]:
    shared: dict[str, str] = {}
    cases: list[tuple[str, dict[str, str]]] = []
    files = shared
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("== "):
            _without_gap(files)
            files = {}
            cases.append((line[3:].strip(), files))
        elif line.startswith("-- "):
            files[line[3:].strip()] = ""
        elif files:
            name = next(reversed(files))
            files[name] += line
    rule = path.stem.partition("-")[0]
    return [
        Case(
            rule,
            name,
            {file: text for file, text in {**shared, **own}.items() if file != EXPECTED},
            own.get(EXPECTED, "").splitlines(),
        )
        for name, own in cases
    ]


def all_cases() -> list[Case]:
    return [case for path in sorted(Path(__file__).parent.glob("KA*.txt")) for case in read_cases(path)]


def _without_gap(files: dict[str, str]) -> None:
    """The empty line before a case is there for the eye."""
    if files:
        name = next(reversed(files))
        files[name] = files[name].removesuffix("\n") if files[name].endswith("\n\n") else files[name]


def rewrite(path: Path, expected: dict[str, list[str]]) -> None:
    """The same text with other expectations; everything else stays as it was written."""
    head, *cases = re.split(r"^(?=== )", path.read_text(encoding="utf-8"), flags=re.M)
    parts = [head]
    for case in cases:
        lines = expected[case.partition("\n")[0][3:].strip()]
        files, _, _ = case.partition(f"\n-- {EXPECTED}\n")
        told = f"-- {EXPECTED}\n" + "".join(f"{line}\n" for line in lines) if lines else ""
        parts.append(files.rstrip("\n") + "\n" + told + "\n")
    path.write_text("".join(parts).removesuffix("\n"), encoding="utf-8")
