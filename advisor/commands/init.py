"""Write a kafka-advisor.toml to start from: every field it may hold, explained, what is known filled in."""

from __future__ import annotations

import argparse
import os

from ..model import UsageError

EPILOG = """\
examples:
  kafka-advisor init
  kafka-advisor init --kafka-version 3.9 --profile prod deploy/

exit codes: 0 written, 2 there is one already, or it cannot be written
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", help="where to write it (default: here)")
    parser.add_argument("--kafka-version", metavar="V", help="the Kafka version you run, such as 3.9")
    parser.add_argument("--profile", choices=("dev", "prod"), help="what the folder is")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run(args: argparse.Namespace) -> int:
    from ..catalog import resolve_version
    from ..files import PROJECT_FILE
    from ..project import to_toml

    if not os.path.isdir(args.folder):
        raise UsageError(f"{args.folder}: no such folder")
    path = os.path.join(args.folder, PROJECT_FILE)
    if os.path.lexists(path) and not args.force:
        raise UsageError(f"{path} is there already; --force replaces it")
    values: dict[str, str] = {}
    if args.kafka_version:
        try:
            resolve_version(args.kafka_version)
        except ValueError as error:
            raise UsageError(str(error)) from None
        values["kafka_version"] = args.kafka_version
    if args.profile:
        values["profile"] = args.profile
    text = to_toml(values)
    try:
        with open(path, "w" if args.force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    print(f"wrote {path}")
    return 0
