"""List the rules, each with a sentence; `--format json` has the evidence they give and their pack besides."""

from __future__ import annotations

import argparse
import sys

from . import show

EPILOG = """\
examples:
  kafka-advisor rules
  kafka-advisor rules --rules house.toml --format json

`kafka-advisor explain CODE` tells what a rule is about. exit codes: 0 listed, 2 a pack or a plugin is broken
"""


_TITLES = {"KA000": "a rule failed", "KA001": "the file cannot be read"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="what to print (default: text)"
    )
    parser.add_argument(
        "--rules", metavar="PACK", action="append", default=[], help="a rule pack of your own"
    )
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    from ..find.failures import BUILT_IN
    from ..memo.cache import open_cache
    from ..packs.pack import load_packs
    from ..registry import load_registry

    registry = load_registry(args.plugin)
    rules = load_packs(registry.packs, args.rules, open_cache(True))
    rows = [
        *(
            (code, name, "error" if code == "KA000" else "warning", "plumbing", "engine", _TITLES[code])
            for code, name in BUILT_IN.items()
        ),
        *(
            (
                rule.code,
                rule.name,
                rule.severity if rule.enabled else "off",
                rule.evidence,
                rule.pack,
                rule.title,
            )
            for rule in rules
        ),
    ]
    header = ("code", "name", "severity", "evidence", "pack", "title")
    if args.format == "json":
        from ..output.text import json_text

        show(json_text([dict(zip(header, row, strict=True)) for row in rows]))
        return 0
    from tabulate import tabulate

    from ..output.terminal import terminal

    shown = [(code, severity, name, title) for code, name, severity, _, _, title in rows]
    table = tabulate(shown, headers=("code", "severity", "name", "what it finds"), tablefmt="simple")
    if sys.stdout.isatty() and max(map(len, table.split("\n"))) > terminal().width:
        # What it finds counts; `explain` tells the name.
        brief = [(code, severity, title) for code, severity, _, title in shown]
        table = tabulate(brief, headers=("code", "severity", "what it finds"), tablefmt="simple")
    show(table)
    return 0
