"""Large repositories: names that tell deployments apart, no cross product, and answers that are the same
whether a subject is asked itself or by what stands for all that are configured alike."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from advisor import engine
from advisor.find import outcomes as kept
from advisor.read import text_shapes
from advisor.testing import audit_paths
from tests.bench import repos
from tests.bench._monorepo import write_repo
from tests.rules.case_files import read_cases

HERE = Path(__file__).resolve().parent


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def ids(report: dict[str, Any]) -> list[str]:
    return [deployment["id"] for deployment in report["deployments"]]


class _AtOnce(dict[Any, Any]):
    """A text's shape counts as seen before, so that the first file is read by its shape too."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: object) -> None:
        return None


@pytest.fixture
def by_shape(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As in a large repository, whatever the size."""
    made = text_shapes.TextShapes.__init__

    def at_once(self: text_shapes.TextShapes, markers: Any) -> None:
        made(self, markers)
        self._known = _AtOnce()

    def switch() -> None:
        monkeypatch.setattr(kept, "KEPT_MAX", -1)
        monkeypatch.setattr(engine, "_FEW", -1)
        monkeypatch.setattr(text_shapes.TextShapes, "__init__", at_once)

    return switch


@pytest.mark.parametrize(
    "named", ["rules/KA34*", "rules/KA42*", "rules/KA46*", "rules/KA50*", "rules/KA02*", "formats/s*"]
)
def test_by_shape_is_as_by_itself(named: str, by_shape: Any, tmp_path: Path) -> None:
    for path in sorted(HERE.glob(named)):
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
            continue
        for case in read_cases(path):
            case.place(tmp_path / path.stem / case.name)
    cases = [case for case in sorted(tmp_path.glob("*/*")) if case.is_dir()]
    assert cases
    alone = [audit_paths([str(case)]) for case in cases]
    by_shape()
    shared = [audit_paths([str(case)]) for case in cases]
    assert json.dumps(shared) == json.dumps(alone)


@pytest.mark.parametrize("one_topic", [False, True])
def test_a_repository_by_shape_is_as_by_itself(
    one_topic: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repo(tmp_path / "repo", 18, one_topic)
    shared = audit_paths([str(tmp_path / "repo")])
    monkeypatch.setattr(kept, "KEPT_MAX", 10_000)
    monkeypatch.setattr(engine, "_FEW", 10_000)
    alone = audit_paths([str(tmp_path / "repo")])
    assert json.dumps(shared) == json.dumps(alone)
    assert {finding["code"] for finding in shared["findings"]} >= {"KA101", "KA202"}


def test_a_name_that_stands_elsewhere_too_is_no_mere_name(tmp_path: Path) -> None:
    """The pool says whose it is by the cluster's name: read by shape it must still be found."""
    text = (HERE.parent / "samples/strimzi/kafka.yaml").read_text()
    files = {f"team-{number}/kafka.yaml": text.replace("shop", f"shop{number}") for number in range(12)}
    report = audit_paths([str(written(tmp_path, files))])
    counts = [
        fact["value"]
        for deployment in report["deployments"]
        for fact in deployment["facts"]
        if fact["name"] == "cluster.brokers"
    ]
    assert counts == ["3"] * 12


def test_names_of_deployments_are_told_apart_by_paths(tmp_path: Path) -> None:
    producer = "bootstrap.servers=kafka:9092\nacks=all\n"
    topic = "topic=orders\npartitions=3\nreplication.factor=3\n"
    files = {f"team-{number}/topic.properties": topic for number in range(3)}
    files |= {f"team-{number}/producer.properties": producer for number in range(30)}
    spring = "spring.kafka.bootstrap-servers=kafka:9092\nspring.kafka.template.default-topic=orders\n"
    files |= {f"app-{number}/application.properties": spring for number in range(4)}
    names = ids(audit_paths([str(written(tmp_path, files))]))
    assert len(set(names)) == len(names) > 40
    assert not [name for name in names if not name.strip() or "'" in name]
    assert "producer (team-7/producer.properties)" in names


def test_a_crowded_topic_is_no_cross_product(tmp_path: Path) -> None:
    count = 60
    write_repo(tmp_path, count, one_topic=True)
    report = audit_paths([str(tmp_path)])
    held = [group for deployment in report["deployments"] for group in deployment["groups"]]
    # An application has a consumer of its own and one of its binding.
    assert len(set(held)) == 2 * count
    assert len(held) < 12 * 2 * count


def test_a_topic_beside_a_node_pool_alone_is_not_seen(tmp_path: Path) -> None:
    """A pool says how many brokers there are, and nothing of the settings that a topic takes from them."""
    pool = (HERE / "formats/strimzi/pool-alone/pool.yaml").read_text()
    topic = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: orders\n  labels:\n"
        f"    strimzi.io/cluster: {pool.split('strimzi.io/cluster: ')[1].split()[0]}\n"
        "spec:\n  partitions: 3\n  replicas: 3\n"
    )
    producer = "bootstrap.servers=kafka:9092\nacks=all\nenable.idempotence=true\n"
    root = written(tmp_path, {"pool.yaml": pool, "topic.yaml": topic, "producer.properties": producer})
    (found,) = [one for one in audit_paths([str(root)])["deployments"] if one["topic"]]
    assert found["cluster"]
    verdicts = {one["name"]: one for one in found["guarantees"]}
    assert verdicts["acked-records-survive"]["verdict"] == "unknown"
    assert "min.insync.replicas" in verdicts["acked-records-survive"]["depends_on"]


def test_a_fix_for_librdkafka_changes_the_name_that_is_written(tmp_path: Path) -> None:
    files = {
        "librdkafka-producer.conf": (
            "bootstrap.servers=k:9092\nrequest.required.acks=1\nsocket.timeout.ms=1000\n"
            "queue.buffering.max.ms=5\n"
        ),
        "topic-o.properties": "partitions=3\nreplication.factor=3\nmin.insync.replicas=2\n",
    }
    found = audit_paths([str(written(tmp_path, files))])["findings"]
    changes = [change for one in found for fix in one["fixes"] for change in fix["changes"]]
    acks = [change for change in changes if change["key"] in ("acks", "request.required.acks")]
    assert acks
    for change in acks:
        assert (change["key"], change["action"], change["line"]) == ("request.required.acks", "set", 2)


def test_the_bench_of_repositories_runs_small(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def here(*packages: str) -> Any:
        yield Path(sys.executable).parent

    monkeypatch.setenv("KAFKA_ADVISOR_BENCH_FILES", "20,40")
    monkeypatch.setenv("KAFKA_ADVISOR_BENCH_SERVICES", "4,8")
    monkeypatch.setattr(repos, "installed", here)
    found = repos.run()
    assert found["name"] == "repos"
    assert [(one["kind"], one["files"]) for one in found["repositories"]] == [
        ("files", 20),
        ("files", 40),
        ("services", 9),
        ("services", 17),
        ("services on one topic", 6),
        ("services on one topic", 10),
    ]
    assert all(one["ratio"] > 0 and one["peak_mb"]["kafka-advisor"] > 0 for one in found["repositories"])
