"""What `audit` and `fix` are asked alike: which files, by which version, profile and rules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...model import Location

if TYPE_CHECKING:
    from ...engine import Audit, Options


def add_scope(parser: argparse.ArgumentParser, least: str | None = "+") -> None:
    """`least`: how many paths; None where somebody else names them."""
    add = parser.add_argument
    if least is not None:
        add("paths", metavar="PATH", nargs=least, help="a file or a folder")
    add(
        "--kafka-version",
        metavar="V",
        help="the Kafka version to judge by, such as 3.9 (default: the files', else newest)",
    )
    add(
        "--profile",
        choices=("dev", "prod"),
        help="judge as a developer's sandbox or as production (default: guessed)",
    )
    add(
        "--set",
        metavar="X=V",
        action="append",
        default=[],
        help="a value instead of the file's: topic.min.insync.replicas=2, fact.brokers=5 (repeatable)",
    )
    add(
        "--workload",
        metavar="FILE",
        help="traffic as `replay` measured it: a file whose [workload] counts before kafka-advisor.toml's",
    )
    add_rules(parser)
    add_trust(parser)
    add("--no-link", action="store_true", help="judge each file alone")
    add("--no-cache", action="store_true", help="neither read nor write the cache")


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Which rules, and whose: as a fleet is asked too."""
    for name, metavar, about in (
        ("--select", "CODES", "only these rules: codes, beginnings of codes, names"),
        ("--ignore", "CODES", "not these rules"),
        ("--rules", "PACK", "a rule pack of your own, TOML (repeatable)"),
        ("--plugin", "FILE", "a plugin of your own, Python (repeatable)"),
    ):
        parser.add_argument(name, metavar=metavar, action="append", default=[], help=about)


def add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust-plugins",
        action="store_true",
        help="run the Python files that kafka-advisor.toml lists: only in a folder that you trust",
    )


def options_of(args: argparse.Namespace) -> Options:
    from ...engine import Options
    from ...join.versions import choose_version

    if args.kafka_version is not None:
        choose_version(args.kafka_version, ())  # a word that is no version is told before anything is read
    return Options(
        paths=tuple(getattr(args, "paths", ())),
        kafka_version=args.kafka_version,
        profile=args.profile,
        sets=tuple(args.set),
        select=codes_of(args.select),
        ignore=codes_of(args.ignore),
        rules=tuple(args.rules),
        plugins=tuple(args.plugin),
        link=not args.no_link,
        cache=not args.no_cache,
        today=today(),
        workload=args.workload,
        trust_plugins=args.trust_plugins,
    )


def codes_of(words: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for word in words for code in word.split(",") if code.strip())


def today() -> str:
    # Suppressions expire by date; nothing else in an audit may see the clock.
    import time

    return time.strftime("%Y-%m-%d")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """One line on a terminal that says how far the work is, and is gone when it is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda text: None
        return
    shown = 0

    def tell(text: str) -> None:
        nonlocal shown
        sys.stderr.write(f"\r{text.ljust(shown)}")
        sys.stderr.flush()
        shown = len(text)

    try:
        yield tell
    finally:
        if shown:
            sys.stderr.write(f"\r{' ' * shown}\r")
            sys.stderr.flush()


def problems_of(result: Audit, hook: bool) -> list[str]:
    """What makes the exit code 2. The hook is handed every changed file that might be one of ours, so there
    only a file that a format claims must be readable."""
    problems = list(result.missing)
    targets = [(root.prefix, record) for root in result.roots for record in root.files if record.target]
    problems += [
        f"{Location(prefix + record.file, record.error.line)}: {record.reason}"
        for prefix, record in targets
        if record.named and record.error is not None and (record.format is not None or not hook)
    ]
    audited = any(record.documents or record.status == "audited" for _, record in targets)
    if not hook and not result.missing and not audited:
        problems.append("nothing could be audited: no file named is a Kafka configuration that is known here")
    return problems
