"""The faults and the steps of schedules in the words of the help: what `simulate` can be asked."""

from __future__ import annotations

from collections.abc import Mapping

# The faults, in the order and the words of the help.
BROKER_FAULTS: Mapping[str, str] = {
    "broker_crash": "a broker's process dies; its log is kept, it may come back",
    "broker_lost": "a broker is gone for good, with its disk",
    "power_loss": "a broker comes back without the end of its log that was not flushed",
    "disk_wiped": "a broker comes back empty, under its old id",
    "slow_follower": "a follower falls behind and leaves the in-sync replicas",
    "clean_stop": "a broker is shut down properly",
    "roll": "every broker is restarted in turn",
    "partitioned": "a broker is cut off from the others and the controller, not from producers",
    "rack_lost": "all brokers of a rack are gone for good",
    "controller_failover": "another controller takes over",
    "leader_move": "the lead is moved to another in-sync replica",
}
PRODUCER_FAULTS: Mapping[str, str] = {
    "lost_request": "a request never reaches the broker",
    "lost_response": "the broker's answer never reaches the producer",
    "retriable_error": "the broker refuses once, with an error that passes",
    "leader_move": "the lead moves to the other replica",
    "producer_crash": "the producer's process dies",
    "late_request": "a request that the producer gave up reaches the broker later",
    "delivery_expired": "the delivery timeout of a batch that was sent is over",
}
# What is asked of the model of a producer, and of no other; the same of transactions.
PRODUCER_GUARANTEES = ("records-stored-once", "send-order-kept")
TRANSACTION_GUARANTEES = ("only-committed-read", "records-visible")
TRANSACTION_FAULTS: Mapping[str, str] = {
    "producer_crash": "the producer's process dies",
    "producer_pause": "the producer stops for so long that another takes over, and then goes on",
    "late_request": "a request that the producer gave up reaches the broker later",
}

# The steps of a schedule: how each is written, and what it does.
STEPS: Mapping[str, tuple[str, str]] = {
    "send": ('["send", 100, {gap_us = 10000, size = 100}]', "records, in a thread of its own"),
    "await": ('["await", 30]', "until every record is answered, at most so many seconds"),
    "sleep": ('["sleep", 5]', "seconds"),
    "freeze": ('["freeze", 3]', "a broker freezes"),
    "resume": ('["resume", 3]', "and goes on"),
    "kill": ('["kill", 1]', "a broker's process dies"),
    "stop": ('["stop", 1]', "a broker is shut down properly, and the schedule waits for it"),
    "start": ('["start", 1]', "it is started again: it needs some seconds"),
    "wipe": ('["wipe", 1]', "the copy of a broker that is down is deleted"),
    "wait_leader": ('["wait_leader", [2, 3], 30]', "until one of them leads, at most so many seconds"),
    "wait_isr": ('["wait_isr", [1, 2], 30]', "until exactly these are in sync"),
    "wait_nodes": ('["wait_nodes", [1, 2, 3], 30]', "until exactly these are registered and not fenced"),
    "elect": ('["elect"]', "the preferred leader is elected"),
    "topic_config": ('["topic_config", {"min.insync.replicas" = 1}]', "the topic's settings change"),
    "cut": (
        '["cut", "brokers"]',
        "the leader is cut off from brokers and controller; also "
        '"minority" (with the producer), "controller-only", "replication-only"',
    ),
    "heal": ('["heal"]', "the network is whole again"),
    "controller_kill": ('["controller_kill"]', "the active controller's process dies"),
    "controller_stop": ('["controller_stop"]', "the active controller is shut down properly"),
    "controller_start": ('["controller_start"]', "a controller that is away comes back"),
    "controller_failover": ('["controller_failover"]', "another controller takes over at once"),
}
# What the simulator, and recordings of clusters, call some of them; a schedule may say it so too.
RECORDED_STEPS: Mapping[str, str] = {
    "sigstop": "freeze",
    "sigcont": "resume",
    "kill9": "kill",
    "term": "stop",
    "isolate": "cut",
    "unisolate": "heal",
    "controller_kill9": "controller_kill",
    "controller_term": "controller_stop",
}
