"""One module per command: `configure(parser)` names its words, `run(args)` gives the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from .. import __version__
from ..model import UsageError

COMMANDS = {
    "audit": "find what Kafka would refuse, rewrite, ignore or never receive in these files",
    "explain": "a rule or a setting: what it is, by Kafka version",
    "rules": "list the rules",
    "init": "write a kafka-advisor.toml to start from",
    "plugin": "list what is loaded, and from where",
}

_EXIT_CODES = """\
exit codes:
  0  nothing at or over --fail-on
  1  findings at or over --fail-on
  2  a path cannot be read, nothing could be audited, or the command, a pack or a plugin is broken
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Given a width, argparse does not load shutil, which every option would otherwise pay for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=110)


def run(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    if name not in COMMANDS:
        return _top_level(words)
    module = import_module(f"{__name__}.{name}")
    parser = argparse.ArgumentParser(
        prog=f"kafka-advisor {name}",
        description=module.__doc__,
        epilog=_EXIT_CODES if name == "audit" else None,
        formatter_class=_Formatter,
    )
    module.configure(parser)
    try:
        code: int = module.run(parser.parse_args(words[1:]))
        sys.stdout.flush()
        return code
    except UsageError as error:
        for line in str(error).splitlines():
            print(f"kafka-advisor: {line}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nobody is left to tell. Closing stdout here keeps the
        # interpreter from complaining about it at exit.
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("kafka-advisor: interrupted", file=sys.stderr)
        return 130


def _top_level(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="kafka-advisor",
        description="Audits Kafka producer, broker, topic and consumer settings.",
        epilog="commands:\n"
        + "".join(f"  {name:<9}{about}\n" for name, about in COMMANDS.items())
        + "\n`kafka-advisor COMMAND --help` tells more. Start with: kafka-advisor audit .",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"kafka-advisor {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=list(COMMANDS), help="one of those below")
    if not words:
        parser.print_help(sys.stderr)
        return 2
    parser.parse_args(words)
    return 2
