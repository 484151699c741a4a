"""Settings in the simulator's words. A producer is the one that starts: what is decoded agrees with what
Kafka accepts and rewrites (`accept`, which is held against Kafka's own classes)."""

from __future__ import annotations

from itertools import product

import pytest

from advisor.accept import Rejected, would_accept
from advisor.ask.answers.producer.setup import timed
from advisor.ask.policies import decode, decode_internal, replication_policies
from advisor.catalog import keys, resolve_version
from advisor.model import Fact, Origin
from tests.rules.test_deciding import deployment, document

SETTINGS = {
    "acks": (None, "0", "1", "all"),
    "enable.idempotence": (None, "true", "false"),
    "transactional.id": (None, "orders-1"),
    "retries": (None, "0", "3"),
    "max.in.flight.requests.per.connection": (None, "1", "6"),
}
INTERNAL_TOPICS = ("offsets", "transactions", "auto-created")
NEEDED = {
    "bootstrap.servers": "127.0.0.1:9092",
    "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
    "value.serializer": "org.apache.kafka.common.serialization.StringSerializer",
}
PRODUCERS = [
    {key: value for key, value in zip(SETTINGS, values, strict=True) if value is not None}
    for values in product(*SETTINGS.values())
]


def in_force(version, producer, accepted):
    """acks and idempotence after the defaults of the release and Kafka's rewrites."""
    known = keys("producer", resolve_version(version))
    found = {
        key: producer.get(key, str(known[key].default).lower()) for key in ("acks", "enable.idempotence")
    }
    for rewrite in accepted.rewrites:
        if rewrite.key in found and rewrite.becomes is not None:
            found[rewrite.key] = rewrite.becomes
    acks = {"-1": "all"}.get(found["acks"], found["acks"])
    return acks, found["enable.idempotence"] == "true"


@pytest.mark.parametrize("version", ["2.0", "2.8", "3.0", "3.9", "4.0", "4.3"])
def test_a_producer_is_decoded_as_kafka_starts_it(version):
    for producer in PRODUCERS:
        judged = would_accept("producer", version, {**NEEDED, **producer})
        decoded = decode(deployment(version, producer)).producer
        if isinstance(judged, Rejected):
            assert decoded is None, producer
            continue
        assert decoded is not None, producer
        acks, idempotence = in_force(version, producer, judged)
        assert (decoded["acks"].values, decoded["idempotence"].values) == ((acks,), (idempotence,)), producer


def test_idempotence_raises_the_default_of_retries_on_the_clock_too():
    # In 2.0 retries is 0 by default, and 2147483647 with idempotence (KafkaProducer.configureRetries).
    assert timed(deployment("2.0", {"acks": "all"})).setup.client.retries == 0
    assert timed(deployment("2.0", {"enable.idempotence": "true"})).setup.client.retries is None
    assert timed(deployment("2.0", {"enable.idempotence": "true", "retries": "3"})).setup.client.retries == 3


def test_the_topic_of_transactions_elects_no_unclean_leader():
    """TransactionStateManager.transactionTopicConfigs, from 0.11 on; other topics go by the brokers."""
    brokers = document("broker", {"unclean.leader.election.enable": "true"})
    three = Fact("cluster.brokers", "3", Origin("set"))
    for version in ("2.8", "4.3"):
        found = deployment(version)._replace(cluster=(brokers,), facts=(three,))
        unclean = {name: decode_internal(found, name).knobs["unclean"].values for name in INTERNAL_TOPICS}
        assert unclean == {"offsets": (True,), "transactions": (False,), "auto-created": (True,)}


def cluster(version, *nodes, topic=None, **facts):
    made = tuple(Fact(f"cluster.{name}", value, Origin("set")) for name, value in facts.items())
    documents = tuple(document("broker", settings) for settings in nodes)
    return deployment(version, topic=topic or {}, factor="3")._replace(
        cluster=documents, facts=(*made, Fact("topic.replication_factor", "3", Origin("set")))
    )


BROKER = {"process.roles": "broker", "min.insync.replicas": "2", "unclean.leader.election.enable": "true"}
CONTROLLER = {"process.roles": "controller"}


def policies(found):
    return {(one.policy.elr, one.policy.min_isr) for one in replication_policies(decode(found))}


def test_with_elr_the_controllers_give_the_cluster_its_minimum():
    """Seen on 4.3.1: brokers with 2 in their files, a controller without; the topic's minimum is 1, by a
    dynamic default of the cluster."""
    assert policies(cluster("3.9", BROKER, CONTROLLER)) == {(False, 2)}
    assert policies(cluster("4.1", BROKER, CONTROLLER, elr="on")) == {(True, 1)}
    assert policies(cluster("4.1", BROKER, CONTROLLER, elr="off")) == {(False, 2)}
    assert policies(cluster("4.1", BROKER, CONTROLLER)) == {(True, 1), (False, 2)}
    own = {"min.insync.replicas": "3"}
    assert policies(cluster("4.1", BROKER, CONTROLLER, topic=own, elr="on")) == {(True, 3)}
    both = {**BROKER, "process.roles": "broker,controller"}
    assert policies(cluster("4.1", both, elr="on")) == {(True, 2)}
    # No controller in sight: they are taken to have what the brokers have.
    assert policies(cluster("4.1", BROKER, elr="on")) == {(True, 2)}


def test_unclean_election_is_up_to_the_controllers():
    def unclean(found):
        return decode(found).knobs["unclean"].values

    assert unclean(cluster("3.9", BROKER, CONTROLLER)) == (False,)
    assert unclean(cluster("3.9", BROKER, {**CONTROLLER, "unclean.leader.election.enable": "true"})) == (
        True,
    )
    assert unclean(cluster("3.9", BROKER)) == (True,)
    # ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic answers false in KRaft before 3.9.
    always = {"unclean.leader.election.enable": "true"}
    assert unclean(cluster("3.8", BROKER, mode="kraft", topic=always)) == (False,)
    assert unclean(cluster("3.8", {"zookeeper.connect": "z:2181"}, mode="zk", topic=always)) == (True,)
