"""The shipped table of verdicts says what the search says, or nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from advisor.ask import common_verdicts
from advisor.ask.common_questions import Question, table_text
from advisor.ask.common_questions import common_verdicts as searched_anew
from advisor.ask.common_verdicts import FILE, SOURCES, CommonVerdicts, question_text
from advisor.ask.verdicts import Verdicts
from advisor.memo.cache import Cache
from advisor.sim.partition.state import Policy
from advisor.sim.questions import ask
from advisor.sim.search.verdict import Verdict
from advisor.testing import audit_paths

TABLE = Path(common_verdicts.__file__).with_name(FILE)
LOST = Question("acked-records-survive", Policy(3, "1", 1), {"slow_follower": 2}, {"broker_crash": 1})


@pytest.fixture(scope="module")
def searched() -> list[tuple[Question, Verdict]]:
    return list(searched_anew())


def test_the_table_is_what_the_search_says(searched: list[tuple[Question, Verdict]]) -> None:
    assert TABLE.read_text() == table_text(searched), "run `python -m advisor.ask.common_questions`"
    json.loads(TABLE.read_bytes())  # it is JSON as a whole, too


def test_every_verdict_comes_back_whole(searched: list[tuple[Question, Verdict]]) -> None:
    table = CommonVerdicts()
    for question, verdict in searched:
        assert table.find(question_text(*question)) == verdict, question
    assert len(searched) > 2000
    assert {verdict.verdict for _, verdict in searched} >= {"holds", "broken"}


def test_it_is_small() -> None:
    assert TABLE.stat().st_size < 500_000


def test_what_is_not_common_is_searched() -> None:
    question = LOST._replace(policy=Policy(5, "1", 4))
    assert CommonVerdicts().find(question_text(*question)) is None
    verdicts = Verdicts(Cache(None))
    assert verdicts.ask(*question) == ask(*question)
    assert verdicts.searches == 1


def test_what_is_common_is_not_searched_with_or_without_a_cache(tmp_path: Path) -> None:
    for cache in (Cache(None), Cache(str(tmp_path))):
        verdicts = Verdicts(cache)
        assert verdicts.ask(*LOST) == ask(*LOST)
        assert verdicts.searches == 0
    assert not [*tmp_path.iterdir()], "the cache does not repeat the table"


def test_an_audit_of_one_common_file_searches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Verdicts, "_searched", None)
    for number, acks in enumerate(("all", "1", "0")):
        file = tmp_path / f"producer-{number}.properties"
        file.write_text(f"bootstrap.servers=kafka:9092\nacks={acks}\n")
        report = audit_paths([str(file)])
        assert "KA000" not in {finding["code"] for finding in report["findings"]}
        assert report["deployments"][0]["guarantees"]


def test_a_damaged_table_counts_as_empty(tmp_path: Path) -> None:
    whole = TABLE.read_bytes()
    key = question_text(*LOST)
    path = tmp_path / FILE
    assert CommonVerdicts(str(path)).find(key) is None, "absent"
    random = Random(7)
    for _ in range(60):
        damaged = bytearray(whole)
        # Half of them in the head, which is short.
        at = random.randrange(len(whole) if random.random() < 0.5 else 150)
        damaged[at] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        found = CommonVerdicts(str(path)).find(key)
        assert found is None or found == ask(*LOST)
    for other in (b"", b"[", b"[]", b"null", whole[:-100], b"\xff" * 100, b"[" * 10_000):
        path.write_bytes(other)
        assert CommonVerdicts(str(path)).find(key) is None
    for count in (b"9999999", b"-1", b"0", b"null", b'"3"'):
        head, _, rest = whole.partition(b"\n")
        path.write_bytes(re.sub(rb'"questions":\d+', b'"questions":' + count, head) + b"\n" + rest)
        assert CommonVerdicts(str(path)).find(key) is None
    path.write_bytes(whole)
    assert CommonVerdicts(str(path)).find(key) == ask(*LOST)


def test_a_table_of_another_simulator_counts_as_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_verdicts, "simulator_digest", lambda: "0" * 32)
    assert CommonVerdicts().find(question_text(*LOST)) is None
    verdicts = Verdicts(Cache(None))
    assert verdicts.ask(*LOST) == ask(*LOST)
    assert verdicts.searches == 1


def test_the_digest_covers_all_that_answers() -> None:
    """Every module that the simulator loads to answer is among the sources that the table names."""
    code = (
        "import sys\n"
        "from advisor.sim.questions import ask\n"
        "from advisor.sim.partition.state import Policy\n"
        "from advisor.sim.producer.policy import ProducerPolicy\n"
        "for name in ('acked-records-survive', 'replicas-agree', 'writes-available', 'group-available'):\n"
        "    ask(name, Policy(), {}, {'broker_crash': 1})\n"
        "for name in ('records-stored-once', 'send-order-kept'):\n"
        "    ask(name, ProducerPolicy(), {}, {'lost_response': 1})\n"
        "print(*[n for n, m in sys.modules.items() if n.startswith('advisor.sim.') and m.__file__])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "advisor.sim.producer.step" in loaded
    for name in loaded:
        first = name.split(".")[2]
        assert first in SOURCES or f"{first}.py" in SOURCES, name


def test_a_changed_source_changes_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    here = Path(common_verdicts.__file__).parents[1]
    shutil.copytree(here / "sim", tmp_path / "sim", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(common_verdicts, "__file__", os.fspath(tmp_path / "ask" / "common_verdicts.py"))
    first = common_verdicts.simulator_digest()
    step = tmp_path / "sim" / "partition" / "step.py"
    text = step.read_text()
    step.write_text(text + "\n")
    changed = common_verdicts.simulator_digest()
    (tmp_path / "sim" / "search" / "more.py").write_text("")
    assert len({first, changed, common_verdicts.simulator_digest()}) == 3
    (tmp_path / "sim" / "search" / "more.py").unlink()
    step.write_bytes(text.replace("\n", "\r\n").encode())
    assert common_verdicts.simulator_digest() == first
