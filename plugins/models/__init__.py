"""Pieces of the simulator that rules may name: the code behind each computed guarantee."""

from advisor.api import NUMBER, ModelSpec, hookimpl

# What a rule's `params` may say, by guarantee: () is any value, "" among words that it may be left out.
_PARAMS: dict[str, dict[str, tuple[str, ...]]] = {
    "cluster-steady": {"ask": ("fetches", "heartbeats"), "margin_ms": NUMBER},
    "every-record-processed": {"by": ("", "expiry", "growth", "race", "retention", "stored", "style")},
    "group-stable": {"by": ("", "batch", "heartbeats", "instance", "listener", "pause")},
    "members-admitted": {"by": ("assigned", "assignors", "bounds")},
    "members-share-work": {"by": ("idle", "skew")},
    "only-committed-read": {"without_transactions": ()},
    "processed-once": {"by": ("", "assign", "crash")},
    "reads-in-time": {"by": ("follower", "held", "rack", "timeout"), "limit_ms": NUMBER},
    "rebalance-pause": {
        "by": ("", "coordinator", "crash", "renamed", "roll", "start", "stuck"),
        "limit_ms": NUMBER,
    },
    "records-delivered": {"ask": ("blocking", "buffer", "retries", "timeouts")},
    "records-visible": {"limit_ms": NUMBER},
    "retries-recognised": {"by_retention": ()},
    "size-chain": {"part": ("refused", "stated", "stuck")},
    "storage-bounded": {
        "asks": (
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
    "transactions-complete": {"idle": (), "refused": ()},
}
# One line a guarantee, sorted: (name, module:function).
_GUARANTEES: dict[str, str] = {
    "batches-fit": "advisor.ask.answers.gates:batches_fit",
    "cluster-steady": "advisor.ask.answers.producer.cluster_timeouts:judge",
    "deploy-safe": "advisor.ask.answers.deploy.deploy:judge",
    "every-record-processed": "advisor.ask.answers.groups.processing:judge",
    "group-stable": "advisor.ask.answers.groups.stability:judge",
    "members-admitted": "advisor.ask.answers.groups.members:judge_admitted",
    "members-share-work": "advisor.ask.answers.groups.members:judge_shared",
    "only-committed-read": "advisor.ask.answers.gates:only_committed_read",
    "processed-in-order": "advisor.ask.answers.groups.processing:judge_in_order",
    "processed-once": "advisor.ask.answers.groups.processing:judge_once",
    "reads-in-time": "advisor.ask.answers.groups.members:judge_in_time",
    "rebalance-pause": "advisor.ask.answers.groups.pauses:judge",
    "records-delivered": "advisor.ask.answers.producer.delivery:judge",
    "records-visible": "advisor.ask.answers.gates:records_visible",
    "requests-outlast-replication": "advisor.ask.answers.producer.request_timeouts:judge",
    "retries-recognised": "advisor.ask.answers.gates:retries_recognised",
    "size-chain": "advisor.ask.answers.gates:size_chain",
    "storage-bounded": "advisor.ask.answers.storage.bounded:judge",
    "successor-left": "advisor.ask.answers.producer.cluster_timeouts:judge_successor",
    "transactions-complete": "advisor.ask.answers.gates:transactions_complete",
}


@hookimpl
def advisor_models() -> list[ModelSpec]:
    return [
        ModelSpec("guarantee", name, function, _PARAMS.get(name, {}))
        for name, function in sorted(_GUARANTEES.items())
    ]
