"""The cache stays small, forgets other programs, and is not touched with --no-cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from advisor.memo import sweep as sweeping
from advisor.memo.cache import Cache
from advisor.memo.sweep import OTHERS_SECONDS_MAX, mark_used, sweep

from .cli.telling import PRODUCER

NOW = 2_000_000_000.0
DAY = 24 * 60 * 60


def entry(folder: Path, name: str, days: float, size: int = 10) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - days * DAY,) * 2)
    return path


def test_what_was_used_longest_ago_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "BYTES_MAX", 100)
    entries = [entry(tmp_path, f"program-a/verdict/{days}.json", days) for days in range(12)]
    sweep(str(tmp_path), "program-a", NOW)
    assert [path.exists() for path in entries] == [True] * 7 + [False] * 5
    sweep(str(tmp_path), "program-a", NOW)
    assert sum(path.exists() for path in entries) == 7


def test_their_number_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "ENTRIES_MAX", 8)
    entries = [entry(tmp_path, f"program-a/verdict/{days}.json", days) for days in range(9)]
    sweep(str(tmp_path), "program-a", NOW)
    assert [path.exists() for path in entries] == [True] * 6 + [False] * 3


def test_a_cache_within_its_bounds_is_left_alone(tmp_path: Path) -> None:
    old = entry(tmp_path, "program-a/verdict/old.json", 400)
    sweep(str(tmp_path), "program-a", NOW)
    assert old.exists()


def test_other_programs_are_forgotten_in_time_and_files_of_others_never(tmp_path: Path) -> None:
    week = OTHERS_SECONDS_MAX / DAY
    left = [entry(tmp_path, "program-b/verdict/1.json", week + 1), entry(tmp_path, "2-0.1.0/pack/1.json", 99)]
    torn = entry(tmp_path, "program-b/verdict/1.json.part", week + 1)
    kept = [
        entry(tmp_path, "program-c/verdict/1.json", week - 1),
        entry(tmp_path, "program-a/verdict/1.json", week + 1),
        entry(tmp_path, "notes/verdict/1.json", 99),
        entry(tmp_path, "program-b/notes/readme.txt", 99),
        entry(tmp_path, "mine.json", 99),
    ]
    sweep(str(tmp_path), "program-a", NOW)
    assert not [path for path in (*left, torn) if path.exists()]
    assert all(path.exists() for path in kept)
    assert not (tmp_path / "2-0.1.0").exists()


def test_a_use_is_marked_once_a_day(tmp_path: Path) -> None:
    path = entry(tmp_path, "program-a/verdict/1.json", 0)
    os.utime(path, (1000, 1000))
    mark_used(str(path), 1000, 1000 + DAY / 2)
    assert path.stat().st_mtime == 1000
    mark_used(str(path), 1000, 1000 + 2 * DAY)
    assert path.stat().st_mtime > 1000
    mark_used(str(tmp_path / "gone"), 1000, NOW)


def test_many_writes_keep_the_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "ENTRIES_MAX", 100)
    cache = Cache(str(tmp_path))
    for number in range(3000):
        cache.put("verdict", f"{number:x}", number)
    # One write in 256 looks: a few times that many may stand in between.
    assert len([*tmp_path.rglob("*.json")]) < 1500
    assert cache.get("verdict", f"{2999:x}") == 2999


@pytest.mark.parametrize(
    "words", [["audit", "."], ["fix", "."], ["audit", "--what-if", "roll", "."], ["simulate", "."]]
)
def test_no_cache_touches_nothing(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.cli import main

    folder = tmp_path / "cache"
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "producer.properties").write_text(PRODUCER.replace("all", "1"))
    (repo / "topic-orders.properties").write_text("partitions=3\nreplication.factor=5\n")
    (repo / "kafka-advisor.toml").write_text('profile = "prod"\n')
    monkeypatch.chdir(repo)
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    main([*words, "--no-cache"])
    assert not folder.exists()
    assert not (tmp_path / "home").exists()
    folder.mkdir()
    main([*words, "--no-cache"])
    assert not [*folder.iterdir()]
    main(words)
    assert [*folder.iterdir()], "without the option something is kept"
