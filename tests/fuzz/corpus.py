"""The inputs that mutants are made of, found by walking the folders that hold samples and golden cases."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.rules.case_files import Case, all_cases, read_cases

ROOT = Path(__file__).resolve().parent.parent.parent
# What is expected and what runs the cases lies beside the inputs, and is none.
NO_INPUT = (".py", ".png", ".md", ".txt", ".jsonl", ".csv", ".java", ".pyc", "expected.json", "compiled.json")
NO_INPUTS = {"bench", "browser", "oracles", "packaging", "__pycache__"}
BYTES_MAX = 64_000

CONFIGURATION, SCENARIO, SCHEDULE, PACK, CHECKPOINT = (
    "configuration",
    "scenario",
    "schedule",
    "pack",
    "checkpoint",
)
PROJECT_FILE = "kafka-advisor.toml"


class Seed(NamedTuple):
    """Files that belong together, and what they are for."""

    name: str
    kind: str
    files: tuple[tuple[str, bytes], ...]


@cache
def corpus() -> tuple[Seed, ...]:
    """Every seed, in an order that is the same everywhere."""
    found = [
        seed for top in ("samples", "rules", "tests") for seed in sorted(_under(ROOT / top), key=_by_name)
    ]
    cases = [
        Seed(case.id, CONFIGURATION, tuple((name, text.encode()) for name, text in case.files.items()))
        for case in (*all_cases(), *_audited_cases())
    ]
    return (*found, *cases)


def _audited_cases() -> list[Case]:
    return [case for path in sorted((ROOT / "tests/audits").glob("*.txt")) for case in read_cases(path)]


def of_kind(kind: str) -> tuple[Seed, ...]:
    return _by_kind()[kind]


@cache
def _by_kind() -> dict[str, tuple[Seed, ...]]:
    kinds = (CONFIGURATION, SCENARIO, SCHEDULE, PACK, CHECKPOINT)
    return {kind: tuple(seed for seed in corpus() if seed.kind == kind) for kind in kinds}


def _by_name(seed: Seed) -> str:
    return seed.name


def _under(folder: Path) -> list[Seed]:
    """The topmost folders that hold an input are cases, with all below them; a TOML file that is no project
    file is a case by itself."""
    inputs = [path for path in sorted(folder.iterdir()) if path.is_file() and _is_input(path)]
    if not inputs:
        folders = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name not in NO_INPUTS]
        return [seed for path in folders for seed in _under(path)]
    alone = [
        path
        for path in inputs
        if path.suffix == ".toml" and path.name != PROJECT_FILE and not _is_of_a_format(path)
    ]
    found = [_alone(path) for path in alone]
    together = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_input(path)]
    files = tuple(
        (path.relative_to(folder).as_posix(), path.read_bytes()) for path in together if path not in alone
    )
    if files:
        kind = CHECKPOINT if "checkpoint" in files[0][0] else CONFIGURATION
        found.append(Seed(folder.relative_to(ROOT).as_posix(), kind, files))
    return found


def _is_input(path: Path) -> bool:
    """A golden case of a format may be of any suffix: source code and command output are inputs there."""
    none = ("expected.json",) if _is_of_a_format(path) else NO_INPUT
    return not path.name.endswith(none) and path.name[0] != "." and path.stat().st_size <= BYTES_MAX


def _is_of_a_format(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return parts[:2] == ("tests", "formats") and len(parts) > 4


def _alone(path: Path) -> Seed:
    data = path.read_bytes()
    stated = tomllib.loads(data.decode())
    kind = SCENARIO
    if isinstance(stated.get("rule"), list):
        kind, data = PACK, _renamed(data)
    elif "schedule" in stated:
        kind = SCHEDULE
    elif "title" not in stated:
        data = _told(stated)
    return Seed(path.relative_to(ROOT).as_posix(), kind, ((path.name, data),))


def _told(stated: dict[str, Any]) -> bytes:
    """A scenario of the simulator's own tests as `simulate` takes it, without the fields of their own."""
    import toml

    from advisor.schemas import load_schema

    first = (stated.get("case") or [{}])[0]
    told = {"title": "A test", "story": "None.", "guarantee": "acked-records-survive", **stated, **first}
    told = {"faults": {}, **told, "bounds": {**told.get("bounds", {})}}
    told["bounds"].pop("replicas", None)
    known = load_schema("scenario")["properties"]
    return toml.dumps({name: value for name, value in told.items() if name in known}).encode()


def _renamed(pack: bytes) -> bytes:
    """A built-in pack under other codes and names: given to --rules, it would be refused for its own."""
    pack = re.sub(rb"\bKA(?=\d|\")", b"ZZ", pack)
    return re.sub(rb'^name = "', b'name = "zz-', pack, flags=re.M)
