"""What is loaded, from where, and what each gives."""

from __future__ import annotations

import argparse

from . import show

EPILOG = """\
examples:
  kafka-advisor plugin list
  kafka-advisor plugin list --plugin my_plugin.py

exit codes: 0 listed, 2 a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list",), help="list: what is loaded")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    from tabulate import tabulate

    from ..registry import load_registry

    registry = load_registry(args.plugin)
    rows = [(plugin.name, plugin.source, plugin.where) for plugin in registry.plugins]
    show(tabulate(rows, headers=("plugin", "source", "from"), tablefmt="simple") + "\n")
    gives = [
        ("formats", [spec.name for spec in registry.formats]),
        ("packs", [spec.name for spec in registry.packs]),
        ("checks", sorted(registry.checks)),
        ("reporters", sorted(registry.reporters)),
        ("clients", sorted(registry.clients)),
        ("models", [f"{spec.kind} {spec.name}" for spec in registry.models]),
    ]
    for what, names in gives:
        show(f"{what}: {', '.join(names) or 'none'}")
    return 0
