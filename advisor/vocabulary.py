"""The guarantees and faults in the words of the help: what `simulate` can be asked."""

from __future__ import annotations

from collections.abc import Mapping

# What each guarantee says, and what it means that it is broken, for a reader who meets it here first.
GUARANTEES: Mapping[str, tuple[str, str]] = {
    "acked-records-survive": (
        "a record that was acknowledged is never lost",
        "a record that the producer was told is stored is gone",
    ),
    "replicas-agree": (
        "all copies hold the same record at the same offset",
        "two copies hold different records at the same offset, both as committed",
    ),
    "writes-available": (
        "writes go on while brokers are away",
        "nobody can write, though brokers are left",
    ),
    "group-available": (
        "consumer groups find a coordinator and can commit while brokers are away",
        "consumer groups stand still, though brokers are left",
    ),
    "records-stored-once": ("no record is stored twice", "a record is stored twice"),
    "send-order-kept": (
        "records of a partition are stored in the order of sending",
        "records are stored against the order of sending",
    ),
    "committed-on-isr": (
        "what a leader counts as committed is on every in-sync replica",
        "a leader counts as committed what an in-sync replica does not have",
    ),
}

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
}
