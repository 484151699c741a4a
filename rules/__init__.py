"""First-party rule packs, one TOML file per family; `compiled.json` is what a start reads."""

from advisor.api import PackSpec, hookimpl

_PACKS = (
    "availability",
    "connect",
    "consumers",
    "delivery",
    "deploy",
    "durability",
    "ordering",
    "plumbing",
    "sizes",
    "start",
    "storage",
    "topology",
    "transactions",
)


@hookimpl
def advisor_packs() -> list[PackSpec]:
    return [PackSpec(name, __name__, f"{name}.toml") for name in _PACKS]
