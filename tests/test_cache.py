"""The cache saves work and never changes an answer."""

from __future__ import annotations

import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.memo.cache import Cache, digest, open_cache
from advisor.model import Secret


def entry_of(folder: Path) -> Path:
    (entry,) = (path for path in folder.rglob("*.json") if path.parent.name != "program")
    return entry


def test_a_value_comes_back_and_kinds_do_not_mix(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path))
    for key in ("0af3", "Any text: ../../../etc/passwd\n", "", "é", "A", "a"):
        cache.put("verdict", key, {"key": key, "n": [1, None, True]})
    for key in ("0af3", "Any text: ../../../etc/passwd\n", "", "é", "A", "a"):
        assert cache.get("verdict", key) == {"key": key, "n": [1, None, True]}
        assert cache.get("pack", key) is None
    assert all(tmp_path in path.resolve().parents for path in tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"null", b'{"for":["verdict","other"],"value":1}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "cut", "list", "null", "foreign", "binary", "deep"],
)
def test_a_damaged_entry_reads_as_absent_and_is_replaced(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(str(tmp_path))
    cache.put("verdict", "key1", 1)
    entry_of(tmp_path).write_bytes(damage)
    assert cache.get("verdict", "key1") is None
    cache.put("verdict", "key1", 2)
    assert cache.get("verdict", "key1") == 2


def test_another_program_does_not_see_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(str(tmp_path)).put("verdict", "key1", 1)
    monkeypatch.setattr("advisor.memo.cache.recalled_digest", lambda get, put: "0" * 32)
    assert Cache(str(tmp_path)).get("verdict", "key1") is None


def write_many(folder: str, letter: str) -> bool:
    cache = Cache(folder)
    value = letter * 200_000
    for _ in range(60):
        cache.put("verdict", "shared", value)
        found = cache.get("verdict", "shared")
        # Whoever wrote last, the value is one writer's and whole.
        if not isinstance(found, str) or len(found) != len(value) or len(set(found)) != 1:
            return False
    return cache.folder is not None


def test_parallel_writers_never_show_a_part(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        answers = pool.starmap(write_many, [(str(tmp_path), letter) for letter in "abcd"])
    assert answers == [True] * 4
    assert not list(tmp_path.rglob("*.part"))


def test_where_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KAFKA_ADVISOR_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert open_cache().folder == str(tmp_path / "home/.cache/kafka-advisor")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert open_cache().folder == str(tmp_path / "xdg/kafka-advisor")
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "own"))
    assert open_cache().folder == str(tmp_path / "own")
    assert stat.S_IMODE(os.stat(tmp_path / "own").st_mode) == 0o700
    off = open_cache(False)
    assert (off.folder, off.note) == (None, None)


def test_a_folder_that_cannot_be_had_switches_it_off_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "file" / "below"))
    cache = open_cache()
    assert cache.folder is None
    assert cache.note is not None
    assert cache.note.startswith(f"cache off: {tmp_path}/file/below cannot be made")
    cache.put("verdict", "key1", 1)
    assert cache.get("verdict", "key1") is None


def test_a_write_that_fails_switches_it_off(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(str(tmp_path / "file"))
    cache.put("verdict", "key1", 1)
    assert cache.folder is None
    assert "cannot be written" in (cache.note or "")


def test_a_secret_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Cache(str(tmp_path)).put("verdict", "key1", {"password": Secret("hunter2")})
    assert not [path for path in tmp_path.rglob("*.json") if path.parent.name != "program"]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]


def test_the_digest_is_the_same_everywhere_and_costs_no_openssl() -> None:
    import hashlib

    assert digest(b"kafka") == hashlib.blake2b(b"kafka", digest_size=16).hexdigest()
    code = "import sys; from advisor.memo.cache import digest; digest(b''); print('_hashlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_no_flipped_bit_is_believed(tmp_path: Path) -> None:
    """Every bit of an entry in turn: the value comes back as it was, or not at all."""
    cache = Cache(str(tmp_path))
    value = {"findings": [["Finding", "KA101", 3]], "n": 12345, "s": "acks"}
    cache.put("verdict", "key1", value)
    path = entry_of(tmp_path)
    whole = path.read_bytes()
    for bit in range(len(whole) * 8):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert cache.get("verdict", "key1") is None, f"bit {bit}"
        assert not path.exists(), "a damaged entry is thrown away"
    cache.put("verdict", "key1", value)
    assert cache.get("verdict", "key1") == value


def test_no_flipped_bit_changes_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of bits over all kinds of entries: verdicts, answers, the project file, a pack."""
    from random import Random

    from advisor.testing import audit_paths

    from .cli.telling import PRODUCER

    files = tmp_path / "files"
    files.mkdir()
    (files / "producer.properties").write_text(PRODUCER.replace("all", "1"))
    (files / "topic-orders.properties").write_text("partitions=3\nreplication.factor=3\n")
    (files / "kafka-advisor.toml").write_text('rules = ["house.toml"]\n[severity]\nKA101 = "warning"\n')
    (files / "house.toml").write_text(
        '[pack]\nname = "house"\nschema = 1\nprefix = "HOUSE"\n'
        '[[rule]]\ncode = "HOUSE001"\nname = "loud"\nseverity = "warning"\nmessage = "{producer}: loud"\n'
        'why = "It is."\nwhen.all = [{ key = "producer.acks", eq = "1" }]\n'
    )
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "cache"))
    chosen = {"select": ["KA101", "HOUSE001"], "cache": True}
    first = audit_paths([str(files)], **chosen)
    assert {finding["code"] for finding in first["findings"]} == {"KA101", "HOUSE001"}
    entries = {path: path.read_bytes() for path in sorted((tmp_path / "cache").rglob("*.json"))}
    assert {path.parent.name for path in entries} >= {"answer", "project", "pack"}
    random = Random(5)
    flipped = 0
    while flipped < 300:
        # One bit of every entry at once: each is read in one of the audits, if at all.
        for path, whole in entries.items():
            damaged = bytearray(whole)
            damaged[random.randrange(len(whole))] ^= 1 << random.randrange(8)
            path.write_bytes(damaged)
            flipped += 1
        assert audit_paths([str(files)], **chosen) == first
