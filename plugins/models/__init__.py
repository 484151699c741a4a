"""Pieces of the simulator that rules may name: the code behind each computed guarantee."""

from advisor.api import ModelSpec, hookimpl

# One line a guarantee, sorted: (name, module:function).
_GUARANTEES: dict[str, str] = {
    "storage-bounded": "advisor.answers.storage:judge",
}


@hookimpl
def advisor_models() -> list[ModelSpec]:
    return [ModelSpec("guarantee", name, function) for name, function in sorted(_GUARANTEES.items())]
