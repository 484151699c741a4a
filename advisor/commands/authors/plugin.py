"""For plugin authors: a plugin to start from (`new`), what is wrong with one (`check`), and what is loaded,
from where, how long it took and what failed (`list`)."""

from __future__ import annotations

import argparse

from .. import say, show
from ..shared.scope_options import add_trust

EPILOG = """\
examples:
  kafka-advisor plugin new acme-kafka                a distribution that installs and passes its own tests
  kafka-advisor plugin check acme-kafka/             all that is wrong, at once; also a .py or a pack's .toml
  kafka-advisor plugin list --plugin my_plugin.py

`kafka-advisor docs DIR` writes the guide for authors. exit codes: 0 fine, 1 `check` found faults, 2 a plugin
cannot be loaded, or a path cannot be read or written
"""


def configure(parser: argparse.ArgumentParser) -> None:
    words = ("list", "new", "check")
    parser.add_argument("action", choices=words, help="list: what is loaded; new, check: as above")
    parser.add_argument("names", metavar="NAME", nargs="*", help="new: the plugin's name; check: paths")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")
    add_trust(parser)
    parser.add_argument("--dir", metavar="DIR", default=".", help="new: where its folder is made")


def run(args: argparse.Namespace) -> int:
    from ...model import UsageError

    if args.action == "list":
        if args.names:
            raise UsageError(f"plugin list: what is {args.names[0]!r}? A file is named with --plugin")
        return _list(args.plugin, args.trust_plugins)
    if not args.names:
        wanted = "a name, such as acme-kafka" if args.action == "new" else "a path"
        raise UsageError(f"plugin {args.action}: give {wanted}")
    return _new(args.names, args.dir) if args.action == "new" else _check(args.names, args.plugin)


def _list(files: list[str], trusted: bool) -> int:
    from tabulate import tabulate

    from ...author.loaded import listed_here, loaded_plugins

    listed, untrusted = listed_here(trusted)
    found, together = loaded_plugins([*files, *(path for path in listed if path not in files)])
    rows = [
        (*one.plugin[:2], f"{one.milliseconds:.1f}", "failed" if one.fault else one.plugin.where)
        for one in found
    ]
    show(tabulate(rows, headers=("plugin", "source", "ms", "from"), tablefmt="simple") + "\n")
    gives: dict[str, list[str]] = {}
    for one in found:
        for kind, names in one.gives.items():
            gives.setdefault(kind, []).extend(names)
    for kind in ("formats", "packs", "checks", "reporters", "clients", "models"):
        show(f"{kind}: {', '.join(sorted(gives.get(kind, []))) or 'none'}")
    for one in found:
        if one.plugin.source != "built-in" and not one.fault:
            given = "; ".join(f"{kind} {', '.join(names)}" for kind, names in one.gives.items())
            show(f"from {one.plugin.name}: {given or 'nothing'}")
    for line in untrusted:
        show(line)
    faults = [line for one in found for line in one.fault.splitlines()] + together.splitlines()
    for line in faults:
        say(line)
    return 2 if faults else 0


def _new(names: list[str], folder: str) -> int:
    from ...author.new_plugin import write_plugin

    for name in names:
        home = write_plugin(name, folder, lambda path: show(f"wrote {path}"))
        show(f"\nnext: cd {home} && python -m pip install -e . pytest && python -m pytest")
    return 0


def _check(paths: list[str], beside: list[str]) -> int:
    from ...author.check_plugin import check

    count = 0
    for path in paths:
        what, faults, unseen = check(path, beside)
        for fault in faults:
            show(fault)
        count += len(faults)
        if unseen:
            show(f"{path}: no example shows {', '.join(unseen)} at work")
        if not faults:
            show(f"{path}: {what}, nothing is wrong with it")
    if count:
        show(f"{count} fault{'s'[: count > 1]}")
    return 1 if count else 0
