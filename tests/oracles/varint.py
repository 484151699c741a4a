"""varint: bytes and sizes of the variable-length integers."""

from __future__ import annotations

from typing import Any

from advisor.sim.wire import varint as ours


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What we write, in the form of the recorded output."""
    value = case["input"]["value"]
    written = {"varlong": ours.varlong(value), "unsigned_varlong": ours.unsigned_varlong(value)}
    sizes = {"varlong": ours.varint_size(value), "unsigned_varlong": ours.unsigned_varlong_size(value)}
    if -(2**31) <= value < 2**31:
        written |= {"varint": ours.varint(value), "unsigned_varint": ours.unsigned_varint(value)}
        sizes |= {"varint": ours.varint_size(value), "unsigned_varint": ours.unsigned_varint_size(value)}
    return {f"{name}_hex": data.hex() for name, data in written.items()} | {
        f"{name}_size": size for name, size in sizes.items()
    }


def compare(case: dict[str, Any]) -> str | None:
    """None if we write as Kafka did, else the first difference."""
    mine, kafka = answer(case), case["output"]
    for field in sorted(mine.keys() | kafka.keys()):
        if mine.get(field) != kafka.get(field):
            return f"{field} {mine.get(field)}, Kafka {kafka.get(field)}"
    return None
