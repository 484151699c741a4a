"""Advice that was seen to harm, one case each: it is not given any more, and what is said instead."""

from __future__ import annotations

from advisor.testing import audit_paths

from .test_cases import fix, texts
from .test_command import place

TWO_TOPICS = """
[[deployment]]
producer = "producer.properties"
topic = "orders"
[[deployment]]
producer = "producer.properties"
topic = "audit"
"""
CONSUMER = (
    "bootstrap.servers=kafka:9092\ngroup.id=billing\nenable.auto.commit=false\nauto.offset.reset=earliest\n"
)


def producer(**settings: str) -> str:
    return "bootstrap.servers=kafka:9092\n" + properties(**settings)


def properties(**settings: str) -> str:
    return "".join(f"{key.replace('_', '.')}={value}\n" for key, value in settings.items())


def topic(replicas: int, **settings: str) -> str:
    return f"partitions=6\nreplication.factor={replicas}\n" + properties(**settings)


def offered(folder, version: str) -> dict[str, set[tuple[str, str]]]:
    """By code: the changes that are offered."""
    report = audit_paths([str(folder)], kafka_version=version, profile="prod")
    found: dict[str, set[tuple[str, str]]] = {}
    for finding in report["findings"]:
        for one in finding["fixes"]:
            changes = {(change["key"], change["to"]) for change in one["changes"]}
            found.setdefault(finding["code"], set()).update(changes)
    return found


def no_minimum_of_one(found: dict[str, set[tuple[str, str]]]) -> None:
    assert not any(
        key.endswith(("min.insync.replicas", "min.isr")) and to == "1"
        for one in found.values()
        for key, to in one
    )


def test_a_producer_shared_by_topics_of_three_and_two_replicas(tmp_path):
    """With acks=all the smaller topic stops with one broker away: no minimum of 1 makes that good."""
    two = topic(2, min_insync_replicas="2", unclean_leader_election_enable="false")
    three = topic(3, min_insync_replicas="2", unclean_leader_election_enable="false")
    repo = place(
        tmp_path,
        {
            "producer.properties": producer(acks="1"),
            "topic-orders.properties": three,
            "topic-audit.properties": two,
            "kafka-advisor.toml": TWO_TOPICS,
        },
    )
    no_minimum_of_one(offered(repo, "3.9"))
    before = texts(repo)
    code, _, told = fix(repo, "--write", "--kafka-version", "3.9", ".")
    assert code == 1
    assert texts(repo) == before
    assert "acks=all: it would introduce KA201" in told


def test_two_replicas_and_no_producer_in_sight(tmp_path):
    """min.insync.replicas=2 would stop the writes of a producer with acks=all, which is the default."""
    repo = place(tmp_path, {"topic-orders.properties": topic(2, min_insync_replicas="1")})
    before = texts(repo)
    fix(repo, "--write", ".")
    assert texts(repo) == before


def test_a_lower_minimum_beside_unclean_elections(tmp_path):
    """On a cluster that was upgraded to 4.1 eligible leader replicas are off."""
    repo = place(
        tmp_path,
        {
            "producer.properties": producer(acks="all"),
            "topic-orders.properties": topic(
                3, min_insync_replicas="3", unclean_leader_election_enable="true"
            ),
        },
    )
    found = offered(repo, "4.1")["KA201"]
    assert found == {("min.insync.replicas", "2"), ("unclean.leader.election.enable", "false")}


def test_a_lower_minimum_costs_what_it_costs(tmp_path):
    repo = place(
        tmp_path,
        {
            "producer.properties": producer(acks="all"),
            "topic-orders.properties": topic(
                3, min_insync_replicas="3", unclean_leader_election_enable="false"
            ),
        },
    )
    _, diff, _ = fix(repo, "--kafka-version", "3.9", ".")
    assert "+min.insync.replicas=2" in diff
    assert "cost: acknowledged records survive 1 broker lost for good (now 2)" in diff


def test_nobody_adds_a_broker_for_a_note(tmp_path):
    repo = place(
        tmp_path,
        {
            "producer.properties": producer(acks="all"),
            "topic-orders.properties": topic(
                3, min_insync_replicas="2", unclean_leader_election_enable="false"
            ),
        },
    )
    for version in ("2.8", "3.9", "4.1"):
        found = offered(repo, version)
        assert not {"KA104", "KA105", "KA202"} & found.keys()


def test_no_rack_and_no_roll_is_worth_a_copy(tmp_path):
    broker = (
        "node.id={0}\nprocess.roles=broker,controller\n"
        "controller.quorum.voters=1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nadvertised.listeners=PLAINTEXT://kafka-{0}:9092\n"
        "controller.listener.names=CONTROLLER\nlog.dirs=/var/lib/kafka\nbroker.rack={1}\n"
        "default.replication.factor=3\noffsets.topic.replication.factor=3\nmin.insync.replicas=2\n"
    )
    files = {f"server-{n}.properties": broker.format(n, "ab"[n % 2]) for n in (1, 2, 3)}
    files["producer.properties"] = "bootstrap.servers=kafka-1:9092\nacks=1\n"
    files["topic-orders.properties"] = topic(3, min_insync_replicas="2")
    for version in ("2.8", "3.9", "4.1"):
        no_minimum_of_one(offered(place(tmp_path / version, files), version))


def cluster(brokers: int, **settings: str) -> dict[str, str]:
    voters = "1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093"
    text = (
        "node.id={0}\nprocess.roles=broker,controller\ncontroller.quorum.voters={1}\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\nadvertised.listeners=PLAINTEXT://kafka-{0}:9092\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        "controller.listener.names=CONTROLLER\nlog.dirs=/var/lib/kafka\n"
    )
    return {
        f"server-{n}.properties": text.format(n, voters) + properties(**settings)
        for n in range(1, brokers + 1)
    }


def test_two_brokers_hold_no_transaction_log_of_one_copy(tmp_path):
    files = cluster(2, offsets_topic_replication_factor="2", transaction_state_log_replication_factor="3")
    files["producer.properties"] = "bootstrap.servers=kafka-1:9092\ntransactional.id=import\n"
    repo = place(tmp_path, files)
    no_minimum_of_one(offered(repo, "3.9"))
    _, _, told = fix(repo, "--kafka-version", "3.9", ".")
    assert "with 3 brokers, running before anybody uses __transaction_state, it can stay" in told


def test_a_minimum_of_every_replica_stops_groups(tmp_path):
    """The brokers' minimum may be meant for the topics: __consumer_offsets can have one of its own."""
    files = cluster(3, offsets_topic_replication_factor="3", min_insync_replicas="3")
    repo = place(tmp_path, files)
    report = audit_paths([str(repo)], kafka_version="3.9", profile="prod")
    (found,) = [one for one in report["findings"] if one["code"] == "KA204"]
    assert found["locations"][0] == {"file": "server-1.properties", "line": 10, "key": "min.insync.replicas"}
    assert found["advice"] == [
        "run kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type topics "
        "--entity-name __consumer_offsets --add-config min.insync.replicas=2"
    ]


def test_a_poll_interval_is_not_shortened_while_processing_is_unknown(tmp_path):
    files = {"consumer.properties": CONSUMER + "max.poll.interval.ms=1800000\n"}
    repo = place(tmp_path / "unknown", files)
    assert ("max.poll.interval.ms", "300000") not in offered(repo, "3.9").get("KA432", set())
    stated = {**files, "kafka-advisor.toml": "[workload]\nprocessing_ms = 50\n"}
    assert ("max.poll.interval.ms", "300000") in offered(place(tmp_path / "stated", stated), "3.9")["KA432"]


def test_a_session_is_not_shortened_while_pauses_are_unknown(tmp_path):
    files = {"consumer.properties": CONSUMER + "session.timeout.ms=300000\n"}
    repo = place(tmp_path / "unknown", files)
    assert "KA431" not in offered(repo, "3.9")
    _, diff, told = fix(repo, "--kafka-version", "3.9", ".")
    assert diff == ""
    assert "was raised on purpose, and [workload] longest_pause_ms is not stated" in told
    stated = {**files, "kafka-advisor.toml": "[workload]\nlongest_pause_ms = 9000\n"}
    assert offered(place(tmp_path / "stated", stated), "3.9")["KA431"] == {("session.timeout.ms", "45000")}


def test_a_transaction_is_not_shortened_while_its_work_is_unknown(tmp_path):
    files = {
        "producer.properties": producer(
            acks="all", transactional_id="import", transaction_timeout_ms="900000"
        ),
        "consumer.properties": CONSUMER + "isolation.level=read_committed\n",
        "topic-orders.properties": topic(3, min_insync_replicas="2"),
    }
    assert "KA342" not in offered(place(tmp_path / "unknown", files), "3.9")
    stated = {**files, "kafka-advisor.toml": "[workload]\ntransaction_ms = 5000\n"}
    assert "KA342" in offered(place(tmp_path / "stated", stated), "3.9")


def test_one_line_of_the_brokers_and_not_one_of_each_topic(tmp_path):
    """What every topic inherits is changed where it stands."""
    files = {f"topic-{name}.properties": topic(3) for name in ("orders", "audit", "mail")}
    files["server.properties"] = (
        "broker.id=0\nlog.dirs=/var/lib/kafka\nzookeeper.connect=zk:2181\n"
        "listeners=PLAINTEXT://kafka:9092\ndefault.replication.factor=3\n"
        "offsets.topic.replication.factor=3\nmin.insync.replicas=1\n"
    )
    files["producer.properties"] = producer(acks="all")
    files["kafka-advisor.toml"] = "".join(
        f'[[deployment]]\nproducer = "producer.properties"\ntopic = "{name}"\n'
        for name in ("orders", "audit", "mail")
    )
    repo = place(tmp_path, files)
    before = texts(repo)
    fix(repo, "--write", "--kafka-version", "3.9", "--select", "KA102", ".")
    after = texts(repo)
    assert [name for name in after if after[name] != before[name]] == ["server.properties"]
    assert b"min.insync.replicas=2" in after["server.properties"]


def test_what_needs_a_review_is_written_when_its_code_is_named(tmp_path):
    files = {
        "consumer.properties": "bootstrap.servers=kafka:9092\ngroup.id=billing\nenable.auto.commit=false\n"
        "auto.offset.reset=latest\n",
        "topic-orders.properties": topic(3, min_insync_replicas="2"),
    }
    repo = place(tmp_path, files)
    before = texts(repo)
    code, _, told = fix(repo, "--write", "--kafka-version", "3.9", ".")
    assert (code, texts(repo)) == (1, before)
    assert "KA404 growth-skips-records: it needs a review; `fix --write --select KA404` makes it" in told
    _, diff, _ = fix(repo, "--kafka-version", "3.9", ".")
    assert "# +auto.offset.reset=earliest" in diff
    assert all(line.startswith("#") for line in diff.splitlines())
    fix(repo, "--write", "--kafka-version", "3.9", "--select", "KA4", ".")
    assert texts(repo) == before, "a beginning names no code"
    fix(repo, "--write", "--kafka-version", "3.9", "--select", "KA404", ".")
    assert b"auto.offset.reset=earliest" in texts(repo)["consumer.properties"]


def test_what_needs_code_is_never_written(tmp_path):
    files = {
        "consumer.properties": "bootstrap.servers=kafka:9092\ngroup.id=billing\nenable.auto.commit=true\n",
        "kafka-advisor.toml": '[workload]\nprocessing = "workers"\n',
    }
    repo = place(tmp_path, files)
    before = texts(repo)
    for words in ((), ("--select", "KA401"), ("--reviewed",)):
        code, _, told = fix(repo, "--write", "--kafka-version", "3.9", *words, ".")
        assert (code, texts(repo)) == (1, before)
        assert "together with the application's code: set enable.auto.commit = false" in told


def test_a_note_is_left_alone_until_it_is_named(tmp_path):
    files = {"producer.properties": producer(acks="all", linger_ms="10000")}
    repo = place(tmp_path, files)
    before = texts(repo)
    code, _, told = fix(repo, "--write", "--kafka-version", "3.9", ".")
    assert (code, texts(repo)) == (0, before), told
    assert "1 note has a fix, made when the code is named" in told
    fix(repo, "--write", "--kafka-version", "3.9", "--select", "KA327", ".")
    assert texts(repo) != before
