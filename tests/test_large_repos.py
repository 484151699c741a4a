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
from advisor.find.reuse import outcomes
from advisor.read import text_shapes
from advisor.testing import audit_paths
from tests.bench import repos
from tests.bench._monorepo import write_repo
from tests.fix.test_cases import SELECT, fix
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
        monkeypatch.setattr(outcomes, "KEPT_MAX", -1)
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
    monkeypatch.setattr(outcomes, "KEPT_MAX", 10_000)
    monkeypatch.setattr(engine, "_FEW", 10_000)
    alone = audit_paths([str(tmp_path / "repo")])
    assert json.dumps(shared) == json.dumps(alone)
    assert {finding["code"] for finding in shared["findings"]} >= {"KA101", "KA202"}


TEAMS = (
    "orders",
    "zebras",
    "bills",
    "returns",
    "aa",
    "zz",
    "carts",
    "visits",
    "mails",
    "stock",
    "prices",
    "ads",
)


def alone_and_by_shape(root: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> dict[str, Any]:
    """The report of a repository that is large enough to be asked by shape: the same as asked one by one."""
    shared = audit_paths([str(root)], **given)
    with monkeypatch.context() as patched:
        patched.setattr(outcomes, "KEPT_MAX", 10_000)
        patched.setattr(engine, "_FEW", 10_000)
        alone = audit_paths([str(root)], **given)
    assert json.dumps(shared) == json.dumps(alone)
    return shared


def test_each_deployment_tells_of_its_own_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of one shape read a topic of their own, and some of them one more, before or behind it."""
    files = {"topic-more.properties": "partitions=2\nreplication.factor=3\n"}
    project = "[workload]\nmembers = 12\n"
    for name in TEAMS:
        files[f"topic-{name}.properties"] = "partitions=4\nreplication.factor=3\n"
        files[f"{name}/consumer.properties"] = f"bootstrap.servers=kafka:9092\ngroup.id=of-{name}\n"
        project += f'[[deployment]]\ntopic = "{name}"\ngroups = "of-{name}"\n'
        if len(name) == 6:
            project += f'[[deployment]]\ntopic = "more"\ngroups = "of-{name}"\n'
    report = alone_and_by_shape(written(tmp_path, files | {"kafka-advisor.toml": project}), monkeypatch)
    idle = [one["evidence"]["numbers"] for one in report["findings"] if one["code"] == "KA451"]
    assert len(idle) >= len(TEAMS)
    for name in TEAMS:
        assert any(f"{name}: 4" in json.dumps(numbers) for numbers in idle)


def test_a_name_that_looks_like_a_secret_is_no_mere_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = ("AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + "a1B2c3D4e5" * 4)
    files = {
        f"team-{number}/producer.properties": f"bootstrap.servers=kafka:9092\nacks=1\nclient.id={name}\n"
        for number, name in enumerate((*TEAMS, *secrets))
    }
    report = alone_and_by_shape(written(tmp_path, files), monkeypatch, show_effective=True)
    shown = json.dumps(report)
    assert all(name in shown for name in TEAMS)
    assert not any(secret in shown for secret in secrets)


def test_a_plugin_that_reads_names_is_asked_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(
        tmp_path,
        {
            "names_of_teams.py": (
                "from advisor.api import CheckSpec, Hit, Location, PackSpec, hookimpl\n"
                "@hookimpl\ndef advisor_checks():\n"
                "    return [CheckSpec('team', 'names_of_teams:team', 'document')]\n"
                "def team(document, context):\n"
                "    if 'zebras' in document.file:\n"
                "        yield Hit(Location(document.file, 1), ('client.id',), {'team': document.file})\n"
            ),
            "pack.toml": (
                '[pack]\nname = "teams"\nschema = 1\nprefix = "XY"\nabout = "a"\n'
                '[[rule]]\ncode = "XY001"\nname = "of-zebras"\nseverity = "warning"\ncheck = "team"\n'
                'message = "{team} is theirs"\nwhy = "w"\nsources = ["s"]\n'
            ),
        },
    )
    files = {
        f"{name}/producer.properties": f"bootstrap.servers=kafka:9092\nacks=1\nclient.id={name}\n"
        for name in TEAMS
    }
    report = alone_and_by_shape(
        written(tmp_path / "repo", files),
        monkeypatch,
        rules=(str(tmp_path / "pack.toml"),),
        plugins=(str(tmp_path / "names_of_teams.py"),),
    )
    assert [one["locations"][0]["file"] for one in report["findings"] if one["code"] == "XY001"] == [
        "zebras/producer.properties"
    ]


def test_a_fix_of_a_large_repository_is_that_of_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that are shared by shape, and those that are known from before a change, are the same."""
    files = {
        f"{name}/producer.properties": f"bootstrap.servers=kafka:9092\nacks=1\nclient.id={name}\n"
        for name in TEAMS
    }
    files["topic-orders.properties"] = "partitions=3\nreplication.factor=3\nmin.insync.replicas=1\n"
    written(tmp_path / "repo", files)
    diffs = []
    for few in (10, 10_000):
        monkeypatch.setattr(outcomes, "KEPT_MAX", few)
        monkeypatch.setattr(engine, "_FEW", few)
        diffs.append(fix(tmp_path / "repo", *SELECT, "."))
    assert diffs[0] == diffs[1]
    assert diffs[0][1].count("+acks=") == len(TEAMS)


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
