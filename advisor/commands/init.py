"""Write a kafka-advisor.toml to start from, every field explained, with its JSON Schema for editors; or a
recipe: files that hold a promise."""

from __future__ import annotations

import argparse
import os

from ..model import UsageError
from . import show

EPILOG = """\
examples:
  kafka-advisor init
  kafka-advisor init --kafka-version 3.9 --profile prod deploy/
  kafka-advisor init --recipe no-loss kafka/    producer, topic, broker and consumer files that lose nothing

exit codes: 0 written, 2 a file is there already, or cannot be written
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", help="where to write it (default: here)")
    parser.add_argument("--kafka-version", metavar="V", help="the Kafka version you run, such as 3.9")
    parser.add_argument("--profile", choices=("dev", "prod"), help="what the folder is")
    parser.add_argument("--recipe", metavar="NAME", help="write the files of a recipe too: no-loss")
    parser.add_argument(
        "--no-schema",
        action="store_true",
        help="without kafka-advisor.schema.json, by which editors complete and check it",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run(args: argparse.Namespace) -> int:
    from ..join.versions import choose_version
    from ..memo.cache import Cache
    from ..read.files import PROJECT_FILE, SCHEMA_FILE
    from ..read.project import load_project, to_toml
    from ..schemas import schema_text

    if not os.path.isdir(args.folder):
        raise UsageError(f"{args.folder}: no such folder")
    path = os.path.join(args.folder, PROJECT_FILE)
    if args.recipe is not None:
        return _write_recipe(args)
    values: dict[str, str] = {}
    if os.path.lexists(path) and not args.force:
        raise UsageError(f"{path} is there already; --force replaces it")
    if args.kafka_version is not None:
        choose_version(args.kafka_version, ())
        values["kafka_version"] = args.kafka_version
    if args.profile:
        values["profile"] = args.profile
    text = to_toml(values)
    if not args.no_schema:
        # As taplo, and with it most editors, want it named: beside it, so that it is found offline.
        text = f"#:schema ./{SCHEMA_FILE}\n\n{text}"
    # A file that the next audit would refuse is not written.
    load_project(path, text, Cache(None))
    _write(path, text, args.force)
    if not args.no_schema:
        _write(os.path.join(args.folder, SCHEMA_FILE), schema_text("project"), force=True)
    return 0


def _write_recipe(args: argparse.Namespace) -> int:
    from ..join.versions import choose_version
    from ..tell.recipes import files, recipe

    version, _ = choose_version(args.kafka_version, ())
    texts = files(recipe(args.recipe, version.asked), version.asked, args.profile or "prod")
    there = [name for name in texts if os.path.lexists(os.path.join(args.folder, name))]
    if there and not args.force:
        raise UsageError(f"{os.path.join(args.folder, there[0])} is there already; --force replaces it")
    for name, text in texts.items():
        _write(os.path.join(args.folder, name), text, args.force)
    show(f"`kafka-advisor explain {args.recipe}` tells why each line is there")
    return 0


def _write(path: str, text: str, force: bool) -> None:
    from ..output.files import write_file

    write_file(path, text, only_new=not force)
    show(f"wrote {path}")
