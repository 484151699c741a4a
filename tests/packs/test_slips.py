"""Slips in a pack that would make a rule silent, or fail on every file: one line says what is meant."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from advisor.model import UsageError
from advisor.testing import audit_paths

PACK = """
[pack]
name = "own"
schema = 1
prefix = "XX"

[[rule]]
code = "XX001"
name = "own-rule"
severity = "warning"
message = "found"
why = "A test."
"""


def asked(folder: Path, rule: str, **options: Any) -> dict[str, Any]:
    (folder / "producer.properties").write_text("bootstrap.servers=a:1\nacks=1\n")
    (folder / "pack.toml").write_text(PACK + textwrap.dedent(rule))
    return audit_paths([str(folder)], rules=[str(folder / "pack.toml")], **{"select": ["XX"], **options})


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ('guarantee = "group-stable"\npart = "heartbeat"', "part is 'heartbeat'; group-stable has batch, "),
        (
            'guarantee = "rebalance-pause"\npart = "crash"\nparams = { limit_ms = "soon" }',
            "params.limit_ms is 'soon', must be a",
        ),
        (
            'guarantee = "rebalance-pause"\npart = "crash"\nparams = { limit_ms = -1 }',
            "params.limit_ms is -1, must be a number",
        ),
        (
            'guarantee = "rebalance-pause"\npart = "crash"\nparams = { limit_ms = true }',
            "params.limit_ms is True, must be a",
        ),
        (
            'guarantee = "acked-records-survive"\nfaults = { broker_krash = 1 }',
            "did you mean 'broker_crash'?",
        ),
        ('guarantee = "send-order-kept"\nfaults = { power_loss = 1 }', "is not asked about 'power_loss'"),
        ('guarantee = "send-order-kept"\nfaults = { lost_response = "rf" }', "wants a number"),
        ('guarantee = "members-admitted"', "part is missing; members-admitted has assigned, "),
        (
            'guarantee = "group-stable"\npart = "batch"\nparams = { by = "batch" }',
            "no param 'by'; there is none",
        ),
        ('guarantee = "size-chain"\npart = "stuk"', "size-chain has refused, stated, stuck"),
        ('guarantee = "storage-bounded"\npart = "ages"', "part is 'ages'"),
        ('guarantee = "records-delivered"\npart = "retry"', "part is 'retry'"),
        ('guarantee = "batches-fit"\nparams = { by = "x" }', "no param 'by'; there is none"),
        ('guarantee = "batches-fit"\npart = "x"', "part is 'x'; batches-fit has none"),
        (
            'guarantee = "writes-available"\npart = "offset"',
            "part is 'offset'; writes-available has auto-created, ",
        ),
        ('when = { key = "producer.ackss", eq = "1" }', "did you mean producer.acks?"),
        ('when = { key = "producer.ack", eq = "1" }', "did you mean producer.acks?"),
        ('when = { key = "topic.min.insync.replica", lt = 2 }', "did you mean topic.min.insync.replicas?"),
        ('when = { key = "producer.min.insync.replicas", lt = 2 }', "it is a setting of"),
        ('when = { key = "fact.broker", lt = 2 }', "did you mean fact.brokers?"),
        ('when = { key = "workload.record_size", lt = 2 }', "there is "),
        (
            'when = { key = "producer.retries", lt = "{fact.replication_facter}" }',
            "did you mean fact.replication_factor?",
        ),
    ],
)
def test_one_line_says_what_is_meant(tmp_path: Path, rule: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        asked(tmp_path, rule)
    (line,) = str(error.value).splitlines()
    assert "pack.toml:7: rule XX001: " in line
    assert says in line


@pytest.mark.parametrize(
    "key",
    [
        "producer.acks",
        "producer.message.send.max.retries",  # librdkafka's
        "broker.zookeeper.connect",  # of releases before 4.0
        "producer.com.example.limit",  # of one's own
        "producer.schema.registry.url",
        "connector.whatever",
        "fact.brokers",
        "fact.example",
        "workload.record_bytes",
    ],
)
def test_what_can_be_there_is_not_refused(tmp_path: Path, key: str) -> None:
    asked(tmp_path, f'when = {{ key = "{key}", eq = "no such value" }}')


def test_a_param_of_the_project_file_is_held_to_the_same(tmp_path: Path) -> None:
    (tmp_path / "kafka-advisor.toml").write_text('[params.KA431]\nlimit_ms = "soon"\n')
    with pytest.raises(UsageError, match=r"params\.KA431\.limit_ms is 'soon', must be a number"):
        asked(tmp_path, 'when = { key = "producer.acks", eq = "1" }', select=["KA431"])


def test_a_rule_for_some_releases_and_a_fix_of_another_get_along(tmp_path: Path) -> None:
    """A fix is tried against every rule, on a document that no file holds."""
    report = asked(
        tmp_path,
        """\
        when = { key = "producer.acks", eq = "1" }
        edits = [{ component = "producer", key = "acks", values = ["all"] }]

        [[rule]]
        code = "XX002"
        name = "for-some-releases"
        severity = "warning"
        message = "all"
        why = "A test."
        when = { key = "producer.linger.ms", eq = "77" }
        applies = { kafka = ">=3.0", components = ["producer"] }

        [[rule]]
        code = "XX003"
        name = "always-there"
        severity = "warning"
        message = "there"
        why = "A test."
        when = { key = "producer.acks", set = true }
        applies = { kafka = ">=3.0", components = ["producer"] }
        """,
    )
    assert [one["code"] for one in report["findings"]] == ["XX001", "XX003"]
    (fix,) = report["findings"][0]["fixes"]
    assert [change["to"] for change in fix["changes"]] == ["all"]
