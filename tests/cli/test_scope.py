"""Root, context, targets: what is read, what is judged together, what is reported."""

from __future__ import annotations

import pytest

from .telling import PRODUCER, codes, report_of, statuses, told

TOPIC = "partitions=6\nreplication.factor=3\nmin.insync.replicas=2\nretention.ms=7d\n"
BROKER = """\
process.roles=broker
node.id=1
controller.quorum.bootstrap.servers=c:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092
advertised.listeners=PLAINTEXT://kafka:9092
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=/var/lib/kafka
"""
BAD = PRODUCER.replace("acks=all", "acks=ALL")


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.properties").write_text(text)


@pytest.fixture
def root(tmp_path):
    """A producer with a fault, a topic with a fault, a broker; one root."""
    folder = tmp_path / "root"
    write(folder, producer=BAD, **{"topic-orders": TOPIC}, server=BROKER)
    (folder / "kafka-advisor.toml").write_text('kafka_version = "4.1"\n')
    return folder


def audited(advisor, *words, code=1, cwd=None):
    """By the rules on values alone: what they find here does not change when a guarantee is added."""
    return report_of(advisor("audit", "--select", "KA0", "--format", "json", *words, cwd=cwd), code)


def test_one_file_is_judged_with_its_root_and_reported_alone(advisor, root):
    whole = audited(advisor, ".", cwd=root)
    assert {finding["locations"][0]["file"] for finding in whole["findings"]} == {
        "producer.properties",
        "topic-orders.properties",
    }
    one = audited(advisor, "producer.properties", cwd=root)
    assert statuses(one) == {"producer.properties": "audited"}
    (deployment,) = one["deployments"]
    assert deployment["topic"] == "topic-orders.properties#orders"
    assert deployment["cluster"] == ["server.properties#server"]
    assert one["findings"] == [
        finding for finding in whole["findings"] if finding["locations"][0]["file"] == "producer.properties"
    ]
    assert one["findings"]


def test_every_file_of_the_samples_says_the_same_alone(advisor, samples):
    for sample in sorted(path.parent for path in samples.glob("*/kafka-advisor.toml")):
        whole = report_of(advisor("audit", "--fail-on", "never", "--format", "json", sample), 0)
        assert whole["findings"]
        for file in whole["files"]:
            alone = report_of(
                advisor("audit", "--fail-on", "never", "--format", "json", sample / file["file"]), 0
            )
            assert alone["files"] == [file]
            assert alone["findings"] == [
                finding for finding in whole["findings"] if finding["locations"][0]["file"] == file["file"]
            ]


def test_folder_below_the_root_reports_its_own_findings(advisor, root):
    write(root / "team", producer=BAD)
    report = audited(advisor, "team", cwd=root)
    assert {finding["locations"][0]["file"] for finding in report["findings"]} == {"team/producer.properties"}


def test_nested_root_is_separate(advisor, root):
    """The inner root's producer must not find the outer root's topic, nor the other way round."""
    inner = root / "inner"
    write(inner, producer=PRODUCER)
    (inner / "kafka-advisor.toml").write_text('kafka_version = "3.9"\n')
    report = audited(advisor, ".", cwd=root)
    by_producer = {item["producer"]: item for item in report["deployments"] if item["producer"]}
    assert by_producer["producer.properties#producer"]["topic"] == "topic-orders.properties#orders"
    assert by_producer["inner/producer.properties#producer"]["topic"] is None
    assert by_producer["inner/producer.properties#producer"]["version"] == "3.9"
    assert by_producer["producer.properties#producer"]["version"] == "4.1"
    alone = audited(advisor, "inner", code=0, cwd=root)
    assert statuses(alone) == {"producer.properties": "audited"}


def test_nested_root_does_not_serve_the_outer_one(advisor, tmp_path):
    write(tmp_path / "outer", producer=PRODUCER)
    write(tmp_path / "outer/inner", **{"topic-orders": TOPIC})
    for folder in ("outer", "outer/inner"):
        (tmp_path / folder / "kafka-advisor.toml").write_text("")
    (deployment,) = audited(advisor, "outer/producer.properties", code=0)["deployments"]
    assert deployment["topic"] is None


def test_git_is_a_root(advisor, tmp_path):
    (tmp_path / "repo/.git").mkdir(parents=True)
    write(tmp_path / "repo/app", producer=PRODUCER)
    write(tmp_path / "repo/topics", **{"topic-orders": TOPIC})
    report = audited(advisor, "repo/app/producer.properties", code=0)
    assert list(statuses(report)) == ["app/producer.properties"]
    (deployment,) = report["deployments"]
    assert deployment["topic"] == "topics/topic-orders.properties#orders"


def test_no_link_judges_each_file_alone(advisor, root):
    report = audited(advisor, "--no-link", ".", cwd=root)
    assert all(not deployment["joined_by"] for deployment in report["deployments"])
    assert len(report["deployments"]) == 3
    assert set(codes(report)) >= {"KA006", "KA012"}


def test_file_without_a_root_pulls_nothing_in(advisor, tmp_path):
    write(tmp_path / "home", producer=PRODUCER, **{"topic-orders": TOPIC})
    (deployment,) = audited(advisor, "home/producer.properties", code=0)["deployments"]
    assert deployment["topic"] is None
    together = audited(advisor, "home/producer.properties", "home/topic-orders.properties")
    (deployment,) = together["deployments"]
    assert deployment["topic"] == "topic-orders.properties#orders"


@pytest.mark.parametrize(
    "paths",
    [
        ["a", "a/b"],
        ["a/b", "a"],
        ["a", "a/b/producer.properties"],
        ["a/producer.properties", "a/b", "a/b/producer.properties"],
        ["a/b", "a/b/producer.properties"],
        ["a", "a", "./a", "a/../a"],
    ],
    ids=" ".join,
)
def test_path_named_twice_is_audited_once(advisor, tmp_path, paths):
    write(tmp_path / "a", producer=BAD)
    write(tmp_path / "a/b", producer=BAD)
    report = audited(advisor, *paths)
    places = [finding["locations"][0]["file"] for finding in report["findings"] if finding["code"] == "KA006"]
    assert len(places) == len(set(places)) >= 1
    files = [file["file"] for file in report["files"]]
    assert len(files) == len(set(files))


def test_project_file_names_files_from_its_own_root(advisor, root, tmp_path):
    (root / "kafka-advisor.toml").write_text(
        '[[deployment]]\nproducer = "producer.properties"\ntopic = "orders"\ncluster = "server.properties"\n'
    )
    write(tmp_path / "other", producer=PRODUCER)
    (tmp_path / "other/kafka-advisor.toml").write_text("")
    (alone,) = audited(advisor, root)["deployments"]
    both = audited(advisor, root, tmp_path / "other")["deployments"]
    assert alone["id"] in [deployment["id"] for deployment in both]


def test_profile_is_judged_by_the_path_below_the_root(advisor, tmp_path):
    for name in ("test/a", "b"):
        write(tmp_path / name, producer=PRODUCER)
        (tmp_path / name / "kafka-advisor.toml").write_text("")
    (alone,) = audited(advisor, "test/a", code=0)["deployments"]
    both = audited(advisor, "test/a", "b", code=0)["deployments"]
    assert alone["profile"]["name"] == "prod"
    assert [deployment["profile"]["name"] for deployment in both] == ["prod", "prod"]


def test_report_speaks_of_the_targets_alone(advisor, tmp_path):
    write(tmp_path / "root/dev", producer=PRODUCER)
    write(tmp_path / "root/live", producer=PRODUCER)
    (tmp_path / "root/kafka-advisor.toml").write_text("")
    report = audited(advisor, "--show-effective", "root/dev/producer.properties", code=0)
    assert len(report["effective"]) == 1
    assert report["profile"]["name"] == "dev"


def test_hidden_and_foreign_folders_are_not_walked(advisor, root):
    for folder in (".git", ".cache", "node_modules/x", "venv/lib", "__pycache__"):
        write(root / folder, consumer="group.id=x\nfetch.min.bytes=many\n")
    assert not [name for name in statuses(audited(advisor, ".", cwd=root)) if "/" in name]
    named = audited(advisor, ".cache/consumer.properties", cwd=root)
    assert statuses(named) == {".cache/consumer.properties": "audited"}


def test_folder_link_named_by_the_user(advisor, root, tmp_path):
    write(tmp_path / "elsewhere", producer=BAD)
    (root / "out").symlink_to(tmp_path / "elsewhere")
    assert "out: a link that leads out of the root" in told(advisor("audit", "out", cwd=root), 2)
    write(root / "releases/2", producer=BAD)
    (root / "current").symlink_to("releases/2")
    report = audited(advisor, "current", cwd=root)
    assert list(statuses(report)) == ["releases/2/producer.properties"]


def test_only_targets_are_counted(advisor, root):
    (root / "notes.txt").write_text("x")
    whole = audited(advisor, ".", cwd=root)["summary"]
    one = audited(advisor, "producer.properties", cwd=root)["summary"]
    assert (whole["files"], whole["ignored"]) == (3, 1)
    assert (one["files"], one["ignored"]) == (1, 0)


COMPOSE = """\
services:
  kafka:
    image: apache/kafka:4.1.0
    env_file: {path}
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
"""


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("broker.env", True),
        ("conf/../broker.env", True),
        ("../outside.env", False),
        ("../root-2/outside.env", False),
        ("link.env", False),
        ("{absolute}", False),
        ('"a\\0b"', False),
        ("pipe.env", False),
    ],
)
def test_env_file_never_leaves_the_root(advisor, tmp_path, path, read):
    import os

    root = tmp_path / "root"
    (root / "conf").mkdir(parents=True)
    (tmp_path / "root-2").mkdir()
    (root / "kafka-advisor.toml").write_text("")
    line = "KAFKA_NUM_IO_THREADS=4711\n"
    outside = tmp_path / "outside.env"
    for target in (root / "broker.env", outside, tmp_path / "root-2/outside.env"):
        target.write_text(line)
    (root / "link.env").symlink_to(outside)
    os.mkfifo(root / "pipe.env")
    text = COMPOSE.format(path=path.format(absolute=outside))
    (root / "docker-compose.yml").write_text(text)
    words = ("--select", "KA0", "--format", "json", "--show-effective", root / "docker-compose.yml")
    done = advisor("audit", *words, timeout=30)
    report_of(done, 0)
    assert ("4711" in done.stdout) is read
