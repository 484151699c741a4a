"""Of `compare`: the rolls that nothing stops, the steps of an upgrade, and the defaults that move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from advisor.api import printable, wrapped


def compared_lines(report: Mapping[str, Any], width: int) -> Iterator[str]:
    compared = report["compared"]
    if compared.get("rolls"):
        yield ""
        for roll in compared["rolls"]:
            yield from wrapped(printable(roll), width, "  ")
    if compared.get("steps"):
        old, new = (compared[side]["kafka_version"] for side in ("old", "new"))
        yield ""
        yield printable(f"From Kafka {old} to {new}, in this order:")
        for number, step in enumerate(compared["steps"], 1):
            places = ", ".join(f"{at['file']}:{at['line']}" for at in step["at"])
            text = step["text"] + (f" [{places}]" if places else "")
            yield from _item(f"{number:>3}. ", text, width)
    if compared.get("defaults"):
        yield ""
        yield "Defaults that change, as no file sets them:"
        for default in compared["defaults"]:
            yield from _item("  ", default, width)


def _item(head: str, text: str, width: int) -> Iterator[str]:
    """The lines under the first are as far in as its words."""
    first, *more = wrapped(printable(text), width - len(head))
    yield head + first
    yield from (" " * max(len(head), 4) + line for line in more)
