"""`plugin new`: a distribution that installs and passes its own tests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from ..model import UsageError
from ..output.files import write_file

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEMPLATE = os.path.join(os.path.dirname(__file__), "plugin_template.txt")


def write_plugin(name: str, folder: str, told: Callable[[str], None]) -> str:
    """Writes `folder/name/`, tells each file, gives the folder. Nothing that is there is replaced."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"plugin new: {name!r}: write lower-case words and hyphens, such as acme-kafka")
    home = os.path.normpath(os.path.join(folder, name))
    if os.path.lexists(home):
        raise UsageError(f"{home} is there already")
    for path, text in plugin_files(name).items():
        target = os.path.join(home, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_file(target, text, only_new=True)
        told(target)
    return home


def plugin_files(name: str) -> dict[str, str]:
    """The texts by their paths."""
    words = {"name": name, "module": name.replace("-", "_"), "prefix": prefix_of(name)}
    with open(_TEMPLATE, encoding="utf-8") as file:
        template = file.read()
    words["count"] = str(template.count("[[rule]]"))
    text = re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], template)
    _, *parts = re.split(r"^-- (.+)\n", text, flags=re.M)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def prefix_of(name: str) -> str:
    """Of the codes: up to eight letters of the first word of the name, never the built-in rules' own."""
    letters = re.sub("[^A-Z]", "", name.partition("-")[0].upper())[:8]
    return letters if len(letters) >= 2 and letters != "KA" else f"{letters}X"[:8].rjust(2, "X")
