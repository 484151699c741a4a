"""dev or prod by evidence (`profiles.txt`), and what dev hides is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.testing import audit_paths, audit_texts
from tests.rules.case_files import read_cases

CASES = read_cases(Path(__file__).with_name("profiles.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_evidence_decides(case, tmp_path):
    report = audit_paths([str(case.place(tmp_path))])
    told = {f"{one['profile']['name']} ({one['profile']['why']})" for one in report["deployments"]}
    assert sorted(told) == case.expected


SANDBOX = {
    "docker-compose.yml": "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment:\n"
    "      KAFKA_NODE_ID: 1\n      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1\n",
    "producer.properties": "bootstrap.servers=kafka:9092\nacks=1\n",
    "topic-orders.properties": "partitions=3\nreplication.factor=1\n",
}


def test_what_dev_hides_is_what_prod_shows():
    dev = audit_texts(SANDBOX)
    prod = audit_texts(SANDBOX, profile="prod")
    shown = {(one["code"], str(one["locations"])) for one in dev["findings"]}
    hidden = sum((one["code"], str(one["locations"])) not in shown for one in prod["findings"])
    assert hidden > 0
    assert (dev["summary"]["hidden"], prod["summary"]["hidden"]) == (hidden, 0)


def test_the_last_line_counts_it(advisor, tmp_path):
    for name, text in SANDBOX.items():
        (tmp_path / name).write_text(text)
    done = advisor("audit", ".")
    count = audit_paths([str(tmp_path)])["summary"]["hidden"]
    assert (
        " ".join(done.stdout.splitlines()[-2:])
        .replace("   ", " ")
        .endswith(
            f"{count} findings hidden: dev because its cluster has one broker, docker-compose.yml:2; "
            "`--profile prod` shows them"
        )
    )
    assert "hidden" not in advisor("audit", "--profile", "prod", ".").stdout
