"""What is kept belongs to the program that answered: any changed file of ours makes another program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from advisor.memo import digests
from advisor.memo.cache import Cache
from advisor.memo.digests import PACKAGES, files_digest, program_digest, program_stamp

ROOT = Path(__file__).parents[1]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small program in place of ours, looked at anew each time."""
    folder = tmp_path / "program"
    (folder / "sim" / "__pycache__").mkdir(parents=True)
    (folder / "engine.py").write_text("1\n")
    (folder / "sim" / "step.py").write_text("22\n")
    (folder / "data.json").write_text("{}")
    (folder / "pack.toml").write_text("")
    monkeypatch.setattr(digests, "_folders", lambda: [("advisor", str(folder))])
    monkeypatch.setattr(digests, "program_stamp", program_stamp.__wrapped__)
    monkeypatch.setattr(digests, "program_digest", program_digest.__wrapped__)
    return folder


def test_every_file_that_an_answer_depends_on_counts(program: Path) -> None:
    seen = {digests.program_digest()}
    for name in ("engine.py", "sim/step.py", "data.json", "pack.toml"):
        (program / name).write_text("other\n")
        seen.add(digests.program_digest())
    (program / "sim" / "new.py").write_text("")
    seen.add(digests.program_digest())
    (program / "sim" / "new.py").rename(program / "new.py")
    seen.add(digests.program_digest())
    assert len(seen) == 7


def test_what_is_no_source_does_not(program: Path) -> None:
    first = digests.program_digest()
    (program / "sim" / "__pycache__" / "step.cpython-311.pyc").write_bytes(b"x")
    (program / "sim" / "__pycache__" / "kept.json").write_bytes(b"x")
    (program / "README.md").write_text("x")
    os.utime(program / "engine.py", (1, 1))
    assert digests.program_digest() == first


def test_the_same_contents_elsewhere_are_the_same_program(program: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(program, tmp_path / "elsewhere")
    assert files_digest([("advisor", str(tmp_path / "elsewhere"))]) == digests.program_digest()


def test_a_change_is_seen_at_once_even_if_size_and_time_stay(program: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    Cache(folder).put("verdict", "key1", 1)
    assert Cache(folder).get("verdict", "key1") == 1
    before = (program / "engine.py").stat()
    (program / "engine.py").write_text("2\n")
    os.utime(program / "engine.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Cache(folder).get("verdict", "key1") is None


def test_an_untouched_program_is_not_read(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "cache")
    Cache(folder).put("verdict", "key1", 1)
    monkeypatch.setattr(digests, "program_digest", None)
    assert Cache(folder).get("verdict", "key1") == 1
    os.utime(program / "engine.py", (1, 1))
    with pytest.raises(TypeError):
        Cache(folder).get("verdict", "key1")


def test_all_our_packages_are_looked_at() -> None:
    """Every source, table and pack of the tree; where it is installed from makes no difference."""
    names = {name for name, _ in digests._files(digests._folders())}
    places = {"advisor": "advisor", "plugins": "kafka_advisor_plugins", "rules": "kafka_advisor_rules"}
    assert set(places.values()) == set(PACKAGES)
    for folder, package in places.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".json", ".toml") and "__pycache__" not in path.parts:
                assert f"{package}/{path.relative_to(ROOT / folder).as_posix()}" in names
