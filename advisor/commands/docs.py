"""Write the documentation as a site of files: a page for every rule, guarantee, setting and scenario, with
every run to play, and the guide for plugin authors. It is made of the rule packs, the catalog, the glossary
and the simulator as they are now, needs no server and asks nobody: open index.html."""

from __future__ import annotations

import argparse

from . import say, show
from .shared.scope_options import progress

EPILOG = """\
examples:
  kafka-advisor docs site/
  kafka-advisor docs site/ --kafka-version 3.9 --rules house.toml

exit codes: 0 written, 2 the folder cannot be written, or a pack or a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="DIR", help="where to write it; files of the same names are replaced")
    add("--kafka-version", metavar="V", help="the Kafka version (default: the newest known)")
    add("--rules", metavar="PACK", action="append", default=[], help="a rule pack of your own")
    add("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    from ..explain.site.build import build_site
    from ..join.versions import choose_version
    from ..memo.cache import open_cache
    from ..packs.pack import load_packs
    from ..registry import load_registry

    registry = load_registry(args.plugin)
    cache = open_cache(True)
    if cache.note:
        say(cache.note)
    rules = load_packs(registry.packs, args.rules, cache)
    version, _ = choose_version(args.kafka_version, ())
    with progress() as tell:
        count = build_site(args.folder, version, rules, dict(registry.guarantees), tell)
    show(f"{count} pages: open {args.folder.rstrip('/')}/index.html")
    return 0
