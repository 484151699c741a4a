"""Every way to write a file: replaced whole, written through, or refused in one line."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from advisor.model import UsageError
from advisor.output.files import put_file, write_file

from .conftest import ROOT


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    write_file(str(tmp_path / "new"), "text\n")
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "new").read_bytes() == b"text\n"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_owner(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)
    before = path.stat()
    with path.open() as reader:
        write_file(str(path), "new")
        assert reader.read() == "old", "who reads the old file must not see the new one in it"
    after = path.stat()
    assert path.read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert os.listdir(tmp_path) == ["report.json"]


def test_an_owner_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a file away")
    path = tmp_path / "report.json"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    write_file(str(path), "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for target in ("folder/there", "folder/not-yet"):
        link = tmp_path / f"link-{os.path.basename(target)}"
        link.symlink_to(target)
        if target.endswith("there"):
            (tmp_path / target).write_text("old")
        write_file(str(link), "new")
        assert link.is_symlink()
        assert (tmp_path / target).read_text() == "new"
        assert not (tmp_path / target).is_symlink()


def test_a_device_is_written_and_not_replaced(tmp_path: Path) -> None:
    before = os.stat(os.devnull)
    write_file(os.devnull, "text")
    assert os.path.samestat(before, os.stat(os.devnull))
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_file(str(link), "text")
    assert stat.S_ISCHR(link.stat().st_mode)


def test_a_fifo_is_written_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    text = "x" * 300_000
    write_file(str(path), text)
    reader.join(20)
    assert read == [text]
    assert stat.S_ISFIFO(path.stat().st_mode)


REFUSED = {
    "folder": "is a directory",
    "none/report": "no such file or directory",
    "file/report": "not a directory",
    "loop": "symbolic links",
    "n" * 300: "file name too long",
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("stays")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(UsageError) as caught:
        write_file(str(tmp_path / name), "text")
    assert REFUSED[name] in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_full_disk_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"^/dev/full: no space left on device$"):
        write_file("/dev/full", "text")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    path.write_text("old")

    def full(old: str, new: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UsageError, match="no space left"):
        write_file(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_a_file_that_is_a_mount_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    path.write_text("old and longer")
    inode = path.stat().st_ino

    def busy(old: str, new: str) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", busy)
    write_file(str(path), "new")
    assert path.read_text() == "new"
    assert path.stat().st_ino == inode
    assert os.listdir(tmp_path) == ["report"]


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    # Root may write everything; what counts is what the system answers.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="it is read-only"):
        write_file(str(path), "new")
    assert path.read_text() == "old"


def test_only_new_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("there", "dangling"):
        with pytest.raises(FileExistsError):
            put_file(str(tmp_path / name), "new", only_new=True)
    assert (tmp_path / "there").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["dangling", "there"]
    put_file(str(tmp_path / "fresh"), "new", only_new=True)
    assert (tmp_path / "fresh").read_text() == "new"
    assert len(os.listdir(tmp_path)) == 3


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path: Path) -> None:
    write_file(str(tmp_path / "report"), "a\ud800\udcff é")
    assert (tmp_path / "report").read_bytes() == b"a\\ud800\\udcff \xc3\xa9"


WRITE = (
    "from advisor.output.files import write_file\n"
    "print('first')\nwrite_file({0!r}, 'second\\n')\nprint('third')\n"
)
NAMES = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]


@pytest.mark.parametrize(
    ("name", "to"), [*((name, to) for name in NAMES for to in ("file", "pipe")), ("out", "file")]
)
def test_stdout_under_any_name_is_written_in_order(tmp_path: Path, name: str, to: str) -> None:
    words = [sys.executable, "-c", WRITE.format(name)]
    if to == "pipe":
        done = subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=-1)
        text = done.stdout.decode()
    else:
        with open(tmp_path / "out", "wb") as file:
            done = subprocess.run(
                words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=file, check=False
            )
        text = (tmp_path / "out").read_text()
    assert done.returncode == 0
    assert text == "first\nsecond\nthird\n"


def test_nothing_else_in_the_product_writes_a_file() -> None:
    """But tables of a fleet, which are parquet and written by what makes them, a lock without a text, the
    folder of a throw-away cluster, and goldens of tests."""
    writing = re.compile(
        r"""\bopen\([^)\n]*["'][wxa]b?["']|\.write_text\(|(?<!place)\.write_bytes\(|os\.replace\(|NamedTemporary"""
    )
    allowed = {
        "advisor/output/files.py",
        "advisor/spark/places.py",
        "advisor/fleet/rows/files_here.py",
        "advisor/real/cluster/cluster.py",
        "advisor/real/cluster/driver.py",
        "advisor/real/cluster/jars.py",
        "advisor/testing/fixtures.py",
    }
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("advisor", "plugins", "rules")
        for path in (ROOT / folder).rglob("*.py")
        if writing.search(path.read_text())
    }
    assert found - allowed == set()
