"""What plugins may import, one line for a name, a field, a method or an argument: `api.txt` beside this file.
`=` after it: it may be left out.

`python -m tests.plugins.frozen_api` writes it anew. What is added needs a greater second number of
API_VERSION (advisor/hookspecs.py); what is gone, or must be given where it was not, a greater first number.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from advisor import api
from advisor.hookspecs import Hooks

FILE = Path(__file__).parent / "api.txt"


def lines() -> list[str]:
    found = [line for name in dir(api) for line in described(name, getattr(api, name))]
    for hook in vars(Hooks):
        if hook.startswith("advisor_"):
            found += described(f"hook {hook}", getattr(Hooks, hook))
    return sorted(found)


def described(name: str, value: object) -> Iterator[str]:
    yield name
    if inspect.isfunction(value) or isinstance(value, type):
        try:
            signature = inspect.signature(value)
        except ValueError:
            return
        for argument in signature.parameters.values():
            if argument.name != "self" and argument.name[0] != "_":
                needed = argument.default is argument.empty and argument.kind is not argument.VAR_POSITIONAL
                yield f"{name}({argument.name}" + (")" if needed else "=)")
    if isinstance(value, type):
        for member, code in vars(value).items():
            if not member.startswith("_") and inspect.isfunction(code):
                yield from described(f"{name}.{member}", code)


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()))
