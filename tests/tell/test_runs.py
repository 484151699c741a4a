"""Every kind of run is told in one notation, in plain words, at any width."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from advisor.cli import main
from advisor.tell.run import run_lines, run_of
from advisor.tell.run.build import kind_of
from advisor.tell.run.text import legend_lines
from tests.rules.case_files import read_cases
from tests.rules.test_rules import report_on

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "tests/rules"
# Words of the simulator and of schedules, which a reader has never met.
HARNESS = re.compile(
    r"sigstop|sigcont|kill9|isolate|\bfence\b|\blose\b|lose_|\bshrink|cut_off|_crash|_move|retriable_"
    r"|\b[bm]\d+\b|\backed\b|handle r|\bproduce\b|drop m|out-of-order|not-leader|requeued"
)


def scenario(name: str, capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    main(["simulate", "--format", "json", *words, str(ROOT / "samples" / name)])
    return json.loads(capsys.readouterr().out)


def searched(name: str, capsys):
    (entry,) = scenario(f"scenarios/{name}.toml", capsys)["guarantees"]
    return run_of(entry["trace"], entry["guarantee"])


def check(trace, guarantee):
    """What holds of every run."""
    run = run_of(trace, guarantee)
    assert [row.number for row in run.rows] == [step["step"] for step in trace]
    assert all(len(row.cells) == len(run.columns) for row in run.rows)
    assert len({column.id for column in run.columns}) == len(run.columns)
    for row in run.rows:
        said = (row.sentence, *row.notes, row.words)
        assert all(said), row
        assert not [text for text in said if HARNESS.search(text)]
    assert not HARNESS.search(run.ending)
    json.dumps(run.as_dict())
    for width in (60, 80, 140):
        long = [line for line in run_lines(run, width) if len(line) > width]
        # A single cell may be wider than the whole line, and is not cut.
        assert [line for line in long if "  " in line.strip()] == []
    return run


FIRST = {
    path.stem: next((case for case in read_cases(path) if case.name.startswith("fail")), None)
    for path in sorted(RULES.glob("KA*.txt"))
}


@pytest.mark.parametrize("rule", [name for name, case in FIRST.items() if case])
def test_runs_of_findings(rule):
    for finding in report_on(FIRST[rule])["findings"]:
        evidence = finding["evidence"]
        if evidence["trace"]:
            check(evidence["trace"], evidence["guarantee"])


@pytest.mark.parametrize(
    "path", sorted((ROOT / "samples/scenarios").glob("*.toml")), ids=lambda path: path.stem
)
def test_runs_of_scenarios(path, capsys):
    data = scenario(f"scenarios/{path.name}", capsys)
    for trace, guarantee in [
        (data.get("trace", []), None),
        *((entry["trace"], entry["guarantee"]) for entry in data["guarantees"]),
    ]:
        if trace:
            check(trace, guarantee)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "samples/schedules").glob("*.toml")), ids=lambda path: path.stem
)
def test_runs_of_schedules(path, capsys):
    data = scenario(f"schedules/{path.name}", capsys, "--schedule")
    assert kind_of(data["trace"]) == "schedule"
    run = check(data["trace"], None)
    assert {"b1", "confirmed"} <= {column.id for column in run.columns}


def test_a_lost_record(capsys):
    run = searched("acks-1-leader-crash", capsys)
    assert run_lines(run, 100, brief=True) == [
        "  1  the producer sends r0  b0* [r0] ◂    b1  [ ]    b2 [ ]  r0 is confirmed",
        "  2  broker 0 crashes       b0* ✗ [r0] ◂  b1  [ ]    b2 [ ]",
        "  3  the cluster notices    b0~ ✗ [r0] ◂  b1  [ ]    b2 [ ]",
        "  4  broker 1 takes over    b0~ ✗ [r0]    b1* [ ] ◂  b2 [ ]  r0 is lost",
    ]
    assert legend_lines(run, 200) == [
        "b0*: broker 0 leads; b1~: broker 1 is not in sync, nobody waits for it; ✗: down; "
        "[r0]: its copy of the log; ◂: changed by this step"
    ]
    assert run.rows[3].words == "Broker 1 takes over. It counts as in sync."
    assert [row.fault for row in run.rows] == [False, True, False, False]


def test_where_there_is_little_room(capsys):
    run = searched("acks-1-leader-crash", capsys)
    assert run_lines(run, 60, brief=True, indent="    ")[:4] == [
        "    1  the producer sends r0",
        "         b0* [r0] ◂  b1 [ ]  b2 [ ]",
        "         r0 is confirmed",
        "    2  broker 0 crashes",
    ]
    # Where only what follows does not fit, it stands below its step.
    assert run_lines(run, 62, brief=True)[:3] == [
        "  1  the producer sends r0  b0* [r0] ◂    b1  [ ]    b2 [ ]",
        "       r0 is confirmed",
        "  2  broker 0 crashes       b0* ✗ [r0] ◂  b1  [ ]    b2 [ ]",
    ]


def test_what_a_page_draws(capsys):
    run = searched("single-copy", capsys)
    last = run.as_dict()["rows"][-1]
    assert last["sentence"] == "broker 0 is lost for good"
    assert [cell["data"]["gone"] for cell in last["cells"][:3]] == [True, False, False]
    assert [cell["data"]["in_sync"] for cell in last["cells"][:3]] == [True, False, False]
    assert [cell["changed"] for cell in last["cells"][:3]] == [True, False, False]


def test_both_places_of_a_followers_end(capsys):
    """The leader's memory and the follower's own log, step by step."""
    data = scenario("scenarios/s1-two-fetch-rounds.toml", capsys)
    run = run_of(data["trace"])
    at = {column.id: place for place, column in enumerate(run.columns)}
    told = [(row.cells[at["b1"]].text, row.cells[at["leader knows"]].text) for row in run.rows]
    assert told == [
        ("[ ] 0/0", "b1=0"),
        ("[ ] 0/0", "b1=0"),
        ("[r0] 1/0", "b1=0"),
        ("[r0] 1/0", "b1=1"),
        ("[r0] 1/1", "b1=1"),
    ]


def test_partitions_of_a_group(capsys):
    data = scenario("scenarios/slow-consumer.toml", capsys)
    (entry,) = data["guarantees"]
    run = run_of(entry["trace"], entry["guarantee"])
    assert [column.kind for column in run.columns] == ["member", "member"]
    assert run.rows[3].cells[1].data == {"owns": [1]}
    assert run.ending == "member 0 lost its partitions, and it lives"
