"""Write a rule of your own to start from: a table in a rule pack, with an example that shows it at work. The
pack is made if it is not there; `kafka-advisor plugin check PACK` says whether it finds what it should."""

from __future__ import annotations

import argparse

from .. import show

EPILOG = """\
examples:
  kafka-advisor rule new few-acks --pack house.toml --key producer.acks --value 1
  kafka-advisor rule new ledger-loss --pack house.toml --like KA101      asks what that rule asks
  kafka-advisor rule new ledger-order --pack house.toml --like send-order-kept     the same by guarantee

`kafka-advisor rules` lists the rules. exit codes: 0 written, 2 it cannot be written, or a name is unknown
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("action", choices=("new",), help="new: write a rule")
    add("name", metavar="NAME", help="what the fault is called: lower-case words joined by hyphens")
    add("--pack", metavar="FILE", required=True, help="the rule pack it is written into, TOML")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--like", metavar="RULE", help="a rule or a guarantee whose question it asks (default: KA101)"
    )
    what.add_argument("--key", metavar="KEY", help="a setting that it is about, such as producer.acks")
    add("--value", metavar="VALUE", default="TODO", help="with --key: the value that is wrong")
    add("--plugin", metavar="FILE", action="append", default=[], help="a plugin of your own")


def run(args: argparse.Namespace) -> int:
    from ...author.new_rule import write_rule
    from ...registry import load_registry

    registry = load_registry(args.plugin)
    code = write_rule(args.name, args.pack, args.like, args.key, args.value, registry)
    show(f"wrote {code} {args.name} into {args.pack}")
    show(f"next: fill in what says TODO, then `kafka-advisor plugin check {args.pack}`")
    return 0
