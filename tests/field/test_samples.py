"""Samples of repositories as people have them: each has what its README says, and nothing else."""

from __future__ import annotations

import pytest

from advisor.testing import audit_paths, places
from tests.conftest import ROOT

ORDERS = "checkout/src/main/resources/application.yml:7"
SHOWN = {
    "connect": {
        ("KA026", "connectors/orders-source.json:11"),
        ("KA026", "connectors/orders-source.json:12"),
        ("KA601", "connectors/orders-sink.json:10"),
        ("KA602", "connectors/orders-sink.json:9"),
    },
    "helm": {("KA102", "values.yaml:24"), ("KA201", "values.yaml:24")},
    "services": {
        ("KA010", "search/indexer.py:14"),
        ("KA101", ORDERS),
        ("KA201", "topics/payments.properties:3"),
        ("KA301", ORDERS),
        ("KA302", ORDERS),
    },
    "terraform": {("KA012", "msk.tf:29"), ("KA101", "msk.tf:1")},
}
# What `fix` leaves: what a person must decide, or run on the cluster.
LEFT = {
    "connect": {"KA026", "KA601"},
    "helm": {"KA102", "KA201"},
    "services": {"KA010"},
    "terraform": set(),
}
OWNERS = {"shop/checkout": 1, "shop/platform": 1, "shop/search": 1}


def above_notes(report):
    return {finding["code"] for finding in report["findings"] if finding["severity"] != "note"}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_sample_shows_what_it_says_and_nothing_else(name):
    report = audit_paths([str(ROOT / "samples" / name)])
    assert places(report) == sorted(f"{code} {at}" for code, at in SHOWN[name])


@pytest.mark.parametrize("name", sorted(LEFT))
def test_fix_of_a_sample_leaves_what_only_a_person_can_do(advisor, samples, name):
    done = advisor("fix", "--write", samples / name)
    assert done.returncode == (1 if LEFT[name] else 0), done.stderr
    assert above_notes(audit_paths([str(samples / name)])) == LEFT[name]


def test_errors_of_several_teams_are_counted_for_each():
    report = audit_paths([str(ROOT / "samples/services")])
    assert {one["owner"]: one["errors"] for one in report["owners"] if one["errors"]} == OWNERS


CLIENTS = {
    "java": ["KA010 Orders.java:13"],
    "librdkafka": ["KA006 worker.py:8", "KA010 worker.py:7"],
    "micronaut": ["KA102 application.yml:8", "KA301 application.yml:8", "KA302 application.yml:8"],
    "mirror-maker": ["KA215 mm2.properties:6"],
    "quarkus": [
        "KA101 application.properties:2",
        "KA301 application.properties:2",
        "KA302 application.properties:2",
    ],
    "streams": ["KA010 streams.properties:5", "KA214 streams.properties:4"],
}


def test_every_client_of_the_samples_is_known():
    assert {path.name for path in (ROOT / "samples/clients").iterdir() if path.is_dir()} == set(CLIENTS)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_mistake_that_only_who_knows_the_client_can_find(name):
    assert places(audit_paths([str(ROOT / "samples/clients" / name)])) == CLIENTS[name]
