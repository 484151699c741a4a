"""Every guarantee that a rule may name: the code behind it, its parts and params, and what it means.

The simulator's search answers the first ones, a model of the clock, the log or the groups the others.
"""

from advisor.api import NUMBER, SEARCHED, ModelSpec, hookimpl

# Parts of a searched guarantee: none (the topic of the deployment), a topic that Kafka makes for itself, or
# the topic with logs cut as the brokers of an old version cut them.
_TOPICS = (
    "",
    "auto-created",
    "by-default",
    "connect-config",
    "connect-offsets",
    "connect-status",
    "offsets",
    "streams",
    "streams-writes",
    "transactions",
)


def _searched(name: str, says: str, broken: str) -> ModelSpec:
    parts = (*_TOPICS, "own-protocol")
    return ModelSpec(SEARCHED, name, "advisor.sim.questions:ask", {}, parts, says, broken)


def _guarantee(
    name: str,
    function: str,
    says: str,
    broken: str,
    parts: tuple[str, ...] = (),
    params: dict[str, tuple[str, ...]] | None = None,
) -> ModelSpec:
    return ModelSpec("guarantee", name, f"advisor.ask.answers.{function}", params or {}, parts, says, broken)


# In the order of the help of `simulate`.
_SEARCHED = (
    _searched(
        "acked-records-survive",
        "a record that was acknowledged is never lost",
        "a record that the producer was told is stored is gone",
    ),
    _searched(
        "replicas-agree",
        "all copies hold the same record at the same offset",
        "two copies hold different records at the same offset, both as committed",
    ),
    _searched(
        "writes-available", "writes go on while brokers are away", "nobody can write, though brokers are left"
    ),
    _searched(
        "group-available",
        "consumer groups find a coordinator and can commit while brokers are away",
        "consumer groups stand still, though brokers are left",
    ),
    _searched("records-stored-once", "no record is stored twice", "a record is stored twice"),
    _searched(
        "send-order-kept",
        "records of a partition are stored in the order of sending",
        "records are stored against the order of sending",
    ),
    _searched(
        "committed-on-isr",
        "what a leader counts as committed is on every in-sync replica",
        "a leader counts as committed what an in-sync replica does not have",
    ),
)
_GUARANTEES = (
    _guarantee(
        "batches-fit",
        "gates:batches_fit",
        "a full batch of the producer is taken by the topic",
        "full batches are refused by the topic, and their records fail or go out again and again",
    ),
    _guarantee(
        "cluster-steady",
        "producer.cluster_timeouts:judge",
        "healthy brokers stay registered, and followers that keep up stay in sync",
        "a healthy broker is fenced, or a follower leaves the in-sync replicas, with nothing wrong",
        parts=("fetches", "heartbeats"),
        params={"margin_ms": NUMBER},
    ),
    _guarantee(
        "deploy-safe",
        "deploy.deploy:judge",
        "members moved from one configuration to the other, one by one, go on reading (asked by `compare`)",
        "the deploy stops the group, holds it up, or passes records over",
    ),
    _guarantee(
        "every-record-processed",
        "groups.processing:judge",
        "no committed offset and no reset passes over a record that nobody processed",
        "a record is passed over and never processed",
        parts=("expiry", "growth", "race", "retention", "stored", "style"),
        params={"usual_longest_outage_ms": NUMBER},
    ),
    _guarantee(
        "group-stable",
        "groups.stability:judge",
        "no member is evicted while none has failed",
        "a member is evicted though none has failed",
        parts=("batch", "heartbeats", "instance", "listener", "pause"),
    ),
    _guarantee(
        "members-admitted",
        "groups.members:judge_admitted",
        "a member that starts is let into its group",
        "a member is refused by its group",
        parts=("assigned", "assignors", "bounds", "protocol"),
    ),
    _guarantee(
        "members-share-work",
        "groups.members:judge_shared",
        "every member has its share of the partitions",
        "some members have little to do",
        parts=("idle", "skew"),
    ),
    _guarantee(
        "only-committed-read",
        "gates:only_committed_read",
        "readers process only what was committed",
        "a reader processes a record of work that was aborted or given up",
        parts=("aborted", "unfinished"),
    ),
    _guarantee(
        "processed-in-order",
        "groups.processing:judge_in_order",
        "records of a partition are processed in their order",
        "a record is processed before one that was written earlier",
    ),
    _guarantee(
        "processed-once",
        "groups.processing:judge_once",
        "no record is processed twice",
        "a record is processed twice",
        parts=("assign", "crash"),
    ),
    _guarantee(
        "reads-in-time",
        "groups.members:judge_in_time",
        "a record that can be read is read soon",
        "a record that can be read is held back",
        parts=("follower", "held", "rack", "timeout"),
        params={"limit_ms": NUMBER},
    ),
    _guarantee(
        "rebalance-pause",
        "groups.pauses:judge",
        "no partition stays unread for longer than the stated limit",
        "partitions stay unread for longer than the stated limit",
        parts=("coordinator", "crash", "renamed", "roll", "start", "stuck"),
        params={"limit_ms": NUMBER},
    ),
    _guarantee(
        "records-delivered",
        "producer.delivery:judge",
        "a record that was handed to the producer is stored, whatever outage it was to outlast",
        "records expire, or are refused, in an outage that the cluster itself survives",
        parts=("blocking", "buffer", "retries", "timeouts"),
    ),
    _guarantee(
        "records-visible",
        "gates:records_visible",
        "what was committed is shown to readers",
        "readers are not shown what was committed",
        parts=("abandoned", "late"),
        params={"limit_ms": NUMBER},
    ),
    _guarantee(
        "requests-outlast-replication",
        "producer.request_timeouts:judge",
        "a request is not sent again while its records are being copied",
        "a producer gives up too early and stores its records twice",
    ),
    _guarantee(
        "retries-recognised",
        "gates:retries_recognised",
        "brokers remember an idempotent producer for as long as it retries",
        "a late retry finds that the broker has forgotten its producer, and is stored again",
        parts=("expired", "purged"),
    ),
    _guarantee(
        "size-chain",
        "gates:size_chain",
        "a record that one link of the chain takes is taken by all that follow",
        "a record that the producer or the topic takes is refused, or held up for ever, further on",
        parts=("refused", "stated", "stuck"),
    ),
    _guarantee(
        "storage-bounded",
        "storage.bounded:judge",
        "a log keeps no more, no longer and in no more files than its settings say, and nothing less",
        "a log keeps more, or longer, or in more files than its settings say, or loses what it was to keep",
        parts=(
            "age",
            "cleaner",
            "compaction",
            "future-timestamps",
            "jitter",
            "partitions",
            "quiet-keys",
            "rolls-together",
            "segments",
            "size",
            "state",
            "tombstones",
            "total-size",
        ),
        params={
            "commits_per_second": NUMBER,
            "copies_min": NUMBER,
            "disk_bytes": NUMBER,
            "maps_max": NUMBER,
            "overwritten_max_ms": NUMBER,
            "replicas_a_broker_max": NUMBER,
            "replicas_min": NUMBER,
            "retention_min_ms": NUMBER,
            "segment_bytes_min": NUMBER,
            "segments_max": NUMBER,
            "state_topics": (),
            "times_max": NUMBER,
            "tiny_ms": NUMBER,
        },
    ),
    _guarantee(
        "successor-left",
        "producer.cluster_timeouts:judge_successor",
        "a short disturbance leaves an in-sync replica that can follow the leader",
        "the leader dies as the only in-sync replica, and nobody can lead",
    ),
    _guarantee(
        "transactions-complete",
        "gates:transactions_complete",
        "a transaction that takes the stated time can be begun and committed",
        "a transaction is refused, or aborted before its work is done",
        parts=("idle", "outlived", "refused"),
    ),
)


@hookimpl
def advisor_models() -> list[ModelSpec]:
    return [*_SEARCHED, *_GUARANTEES]
