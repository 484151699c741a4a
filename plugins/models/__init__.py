"""Pieces of the simulator that rules may name: the code behind each computed guarantee."""

from advisor.api import ModelSpec, hookimpl

# One line a guarantee, sorted: (name, module:function).
_GUARANTEES: dict[str, str] = {
    "deploy-safe": "advisor.answers.deploying:judge",
    "storage-bounded": "advisor.answers.storage:judge",
    "only-committed-read": "advisor.answers.transactions:judge_committed",
    "records-visible": "advisor.answers.transactions:judge_visible",
    "retries-recognised": "advisor.answers.transaction_times:judge_recognised",
    "transactions-complete": "advisor.answers.transaction_times:judge_complete",
}


@hookimpl
def advisor_models() -> list[ModelSpec]:
    return [ModelSpec("guarantee", name, function) for name, function in sorted(_GUARANTEES.items())]
