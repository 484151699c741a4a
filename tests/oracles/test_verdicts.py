"""Every recorded verdict of Kafka's own classes is ours too."""

from __future__ import annotations

import os

from tests.oracles.__main__ import HERE, main, replay

DATA = os.path.join(HERE, "data", "verdicts.jsonl")


def test_recorded_verdicts():
    lines, passed, failed, _ = replay("verdicts", DATA)
    assert failed == 0, "\n".join(lines[:20])
    assert passed


def test_the_runner_names_cases_by_line_and_fails(tmp_path, capsys):
    with open(DATA, encoding="utf-8") as file:
        first, second = file.readline(), file.readline()
    wrong = second.replace('"accepted":true', '"accepted":0').replace('"accepted":false', '"accepted":true')
    path = tmp_path / "two.jsonl"
    path.write_text(first + wrong, encoding="utf-8")
    assert main(["verdicts", str(path)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("L2: ")
    assert out[-1] == "1 passed, 1 failed, 0 listed"
    assert main(["verdicts", str(tmp_path / "none.jsonl")]) == 2
    assert main(["no-such-kind", str(path)]) == 2
