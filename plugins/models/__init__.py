"""Pieces of the simulator that rules may name: the code behind each computed guarantee."""

from advisor.api import ModelSpec, hookimpl

# One line a guarantee, sorted: (name, module:function).
_GUARANTEES: dict[str, str] = {
    "batches-fit": "advisor.answers.gates:batches_fit",
    "cluster-steady": "advisor.answers.steadiness:judge",
    "deploy-safe": "advisor.answers.deploying:judge",
    "every-record-processed": "advisor.answers.consumers:judge",
    "group-stable": "advisor.answers.groups:judge",
    "members-admitted": "advisor.answers.members:judge_admitted",
    "members-share-work": "advisor.answers.members:judge_shared",
    "only-committed-read": "advisor.answers.gates:only_committed_read",
    "processed-in-order": "advisor.answers.consumers:judge_in_order",
    "processed-once": "advisor.answers.consumers:judge_once",
    "reads-in-time": "advisor.answers.members:judge_in_time",
    "rebalance-pause": "advisor.answers.rebalances:judge",
    "records-delivered": "advisor.answers.delivery:judge",
    "records-visible": "advisor.answers.gates:records_visible",
    "requests-outlast-replication": "advisor.answers.resending:judge",
    "retries-recognised": "advisor.answers.gates:retries_recognised",
    "size-chain": "advisor.answers.gates:size_chain",
    "storage-bounded": "advisor.answers.storage:judge",
    "successor-left": "advisor.answers.steadiness:judge_successor",
    "transactions-complete": "advisor.answers.gates:transactions_complete",
}


@hookimpl
def advisor_models() -> list[ModelSpec]:
    return [ModelSpec("guarantee", name, function) for name, function in sorted(_GUARANTEES.items())]
