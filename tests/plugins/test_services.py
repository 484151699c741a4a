"""Services that are not Kafka: each finds in its sample what Kafka's own checks pass."""

from __future__ import annotations

import shutil

import pytest

from advisor.testing import audit_paths, places
from tests.conftest import ROOT

CLOUDS = ROOT / "samples/clouds"
START = ["KA00", "KA01"]
SHOWN = {
    "confluent-cloud": ["KA005 topic-orders.properties:3"],
    "event-hubs": [
        "KA005 producer.properties:5",
        "KA011 consumer.properties:1",
        "KA011 producer.properties:7",
    ],
    "msk-serverless": ["KA005 topic-orders.properties:4", "KA005 topic-orders.properties:5"],
    "redpanda": ["KA011 topic-orders.properties:3", "KA011 topic-orders.properties:4"],
    "warpstream": ["KA011 topic-orders.properties:3", "KA011 topic-orders.properties:4"],
}


def test_every_service_has_a_sample():
    assert {path.name for path in CLOUDS.iterdir() if path.is_dir()} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_what_the_service_does_is_told(name):
    assert places(audit_paths([str(CLOUDS / name)], select=START)) == SHOWN[name]


@pytest.mark.parametrize("name", SHOWN)
def test_as_kafka_nothing_of_it_is_wrong(name, tmp_path):
    home = shutil.copytree(CLOUDS / name, tmp_path / name)
    (home / "kafka-advisor.toml").write_text('[[client]]\npath = "*"\nfamily = "java"\n')
    assert places(audit_paths([str(home)], select=START)) == []


def test_a_service_is_known_by_its_address_in_many_files_too(tmp_path):
    """Those of one shape are read and asked once: an address is more than a name here."""
    for number in range(30):
        host = f"shop{number}.servicebus.windows.net:9093" if number % 3 == 0 else f"kafka{number}:9092"
        text = f"bootstrap.servers={host}\nclient.id=shop{number}\nacks=all\nmax.request.size=2000000\n"
        (tmp_path / f"producer-{number:02}.properties").write_text(text)
    found = places(audit_paths([str(tmp_path)], select=["KA005"]))
    assert found == [f"KA005 producer-{number:02}.properties:4" for number in range(0, 30, 3)]
