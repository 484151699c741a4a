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
    "only-committed-read": (
        "readers process only what was committed",
        "a reader processes a record of work that was aborted or given up",
    ),
    "records-visible": (
        "what was committed is shown to readers",
        "readers are not shown what was committed",
    ),
    "committed-on-isr": (
        "what a leader counts as committed is on every in-sync replica",
        "a leader counts as committed what an in-sync replica does not have",
    ),
}

# The same for guarantees that `simulate` asks only in scenarios of their own, by a rule and a workload.
COMPUTED: Mapping[str, tuple[str, str]] = {
    "batches-fit": (
        "a full batch of the producer is taken by the topic",
        "full batches are refused by the topic, and their records fail or go out again and again",
    ),
    "deploy-safe": (
        "members moved from one configuration to the other, one by one, go on reading (asked by `compare`)",
        "the deploy stops the group, holds it up, or passes records over",
    ),
    "cluster-steady": (
        "healthy brokers stay registered, and followers that keep up stay in sync",
        "a healthy broker is fenced, or a follower leaves the in-sync replicas, with nothing wrong",
    ),
    "records-delivered": (
        "a record that was handed to the producer is stored, whatever outage it was to outlast",
        "records expire, or are refused, in an outage that the cluster itself survives",
    ),
    "requests-outlast-replication": (
        "a request is not sent again while its records are being copied",
        "a producer gives up too early and stores its records twice",
    ),
    "successor-left": (
        "a short disturbance leaves an in-sync replica that can follow the leader",
        "the leader dies as the only in-sync replica, and nobody can lead",
    ),
    "every-record-processed": (
        "no committed offset and no reset passes over a record that nobody processed",
        "a record is passed over and never processed",
    ),
    "group-stable": (
        "no member is evicted while none has failed",
        "a member is evicted though none has failed",
    ),
    "members-admitted": ("a member that starts is let into its group", "a member is refused by its group"),
    "members-share-work": ("every member has its share of the partitions", "some members have little to do"),
    "processed-in-order": (
        "records of a partition are processed in their order",
        "a record is processed before one that was written earlier",
    ),
    "processed-once": ("no record is processed twice", "a record is processed twice"),
    "reads-in-time": ("a record that can be read is read soon", "a record that can be read is held back"),
    "rebalance-pause": (
        "no partition stays unread for longer than the stated limit",
        "partitions stay unread for longer than the stated limit",
    ),
    "retries-recognised": (
        "brokers remember an idempotent producer for as long as it retries",
        "a late retry finds that the broker has forgotten its producer, and is stored again",
    ),
    "size-chain": (
        "a record that one link of the chain takes is taken by all that follow",
        "a record that the producer or the topic takes is refused, or held up for ever, further on",
    ),
    "storage-bounded": (
        "a log keeps no more, no longer and in no more files than its settings say, and nothing less",
        "a log keeps more, or longer, or in more files than its settings say, or loses what it was to keep",
    ),
    "transactions-complete": (
        "a transaction that takes the stated time can be begun and committed",
        "a transaction is refused, or aborted before its work is done",
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
    "sigstop": ('["sigstop", 3]', "a broker freezes"),
    "sigcont": ('["sigcont", 3]', "and goes on"),
    "kill9": ('["kill9", 1]', "a broker's process dies"),
    "term": ('["term", 1]', "a broker is shut down properly, and the schedule waits for it"),
    "start": ('["start", 1]', "it is started again: it needs some seconds"),
    "wipe": ('["wipe", 1]', "the copy of a broker that is down is deleted"),
    "wait_leader": ('["wait_leader", [2, 3], 30]', "until one of them leads, at most so many seconds"),
    "wait_isr": ('["wait_isr", [1, 2], 30]', "until exactly these are in sync"),
    "wait_nodes": ('["wait_nodes", [1, 2, 3], 30]', "until exactly these are registered and not fenced"),
    "elect": ('["elect"]', "the preferred leader is elected"),
    "topic_config": ('["topic_config", {"min.insync.replicas" = 1}]', "the topic's settings change"),
    "isolate": (
        '["isolate", "brokers"]',
        "the leader is cut off from brokers and controller; also "
        '"minority" (with the producer), "controller-only", "replication-only"',
    ),
    "unisolate": ('["unisolate"]', "the network is whole again"),
    "controller_kill9": ('["controller_kill9"]', "the active controller's process dies"),
    "controller_term": ('["controller_term"]', "the active controller is shut down properly"),
    "controller_start": ('["controller_start"]', "a controller that is away comes back"),
    "controller_failover": ('["controller_failover"]', "another controller takes over at once"),
}
