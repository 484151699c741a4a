"""One module per command: `configure(parser)` names its words, `run(args)` gives the exit code; the module's
docstring and its EPILOG are what `--help` prints."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from .. import __version__
from ..guard.calls import PluginError
from ..model import UsageError
from ..output.text import printable

if TYPE_CHECKING:
    from types import ModuleType

    from _typeshed import SupportsWrite

COMMANDS = {
    "audit": "find the runs that lose, double or reorder records, and what Kafka refuses or ignores",
    "fix": "the smallest verified change as a diff; --write makes it",
    "explain": "a rule or a setting: what it is, by Kafka version",
    "rules": "list the rules",
    "simulate": "the run that breaks a guarantee: of settings, of files, of a scenario",
    "reproduce": "play a finding on a real, throw-away Kafka, and once more with its fix",
    "compare": "what a deploy or an upgrade breaks on the way, and what is different after it",
    "docs": "write the documentation as a site, with every run to play",
    "fleet": "audit many configurations on Spark: tables, and who owns what",
    "replay": "a recorded workload through the configuration, on Spark: batches, segments, lag, what-if",
    "init": "write a kafka-advisor.toml to start from",
    "lsp": "serve an editor: findings while you type, facts, quick fixes",
    "plugin": "for plugin authors: new, check, and list what is loaded, from where",
    "rule": "write a rule of your own to start from",
    "completion": "what bash, zsh or fish needs to complete words on Tab",
}


# The folder of a command that does not lie here.
_ROOMS = {"plugin": "authors.", "rule": "authors."}


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Given a width, argparse does not load shutil, which every option would otherwise pay for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=110)


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own passes over an output that cannot be written.
        if message and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def format_usage(self) -> str:
        """Above an error: without the options, which would push it out of sight."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [one for one in self._actions if not one.option_strings], [])
        return formatter.format_help().replace(self.prog, f"{self.prog} [OPTION ...]", 1)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            from ..schemas.explain import did_you_mean

            what = f"invalid choice: {value!r}{did_you_mean(value, map(str, action.choices))}"
            raise argparse.ArgumentError(action, what)

    def error(self, message: str) -> NoReturn:
        message = self._with_meant(message)
        # It repeats words of the command line as they are, which may be a secret.
        from ..read.secrets import without_secrets

        super().error(printable(without_secrets(message)))

    def _with_meant(self, message: str) -> str:
        """With the options that were meant."""
        _, colon, words = message.partition("unrecognized arguments: ")
        if not colon:
            return message
        from difflib import get_close_matches

        known = list(self._option_string_actions)
        slips = [word.partition("=")[0] for word in words.split() if word.startswith("-")]
        near = dict.fromkeys(match for slip in slips for match in get_close_matches(slip, known, n=1))
        meant = f"did you mean {' and '.join(near)}?" if near else f"`{self.prog} --help` lists the options"
        return f"{message}; {meant}"


def run(words: Sequence[str]) -> int:
    return ended(lambda: _run(words))


def ended(work: Callable[[], int]) -> int:
    """The exit code of `work`: its own, or that of what went wrong, told in one line."""
    try:
        if sys.stdout is None:
            raise UsageError("the report cannot be written: standard output is closed")
        if isinstance(sys.stdout, TextIOWrapper):
            # A terminal that cannot show a letter gets its number.
            sys.stdout.reconfigure(errors="backslashreplace")
        code = work()
        sys.stdout.flush()
        return code
    except (UsageError, PluginError) as error:
        for line in str(error).splitlines():
            say(line)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nobody is left to tell.
        _drop_output()
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        _drop_output()
        return 130
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            _drop_output()
            say(f"the report cannot be written: {(error.strerror or str(error)).lower()}")
        elif os.environ.get("KAFKA_ADVISOR_DEBUG"):
            raise
        else:
            say(f"a mistake in kafka-advisor: {_mistake(error)}; KAFKA_ADVISOR_DEBUG=1 shows where")
    return 2


def _run(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    if name not in COMMANDS:
        return _top_level(words)
    args = _parsed(parser_of(name), words[1:])
    if isinstance(args, int):
        return args
    code: int = _module(name).run(args)
    return code


def parser_of(name: str) -> argparse.ArgumentParser:
    """The words of a command."""
    module = _module(name)
    parser = _Parser(
        prog=f"kafka-advisor {name}",
        description=module.__doc__,
        epilog=module.EPILOG,
        formatter_class=_Formatter,
    )
    module.configure(parser)
    return parser


def _module(name: str) -> ModuleType:
    return import_module(f"{__name__}.{_ROOMS.get(name, '')}{name}")


def _parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace | int:
    """The words; or the exit code, where argparse has told the usage or the help already."""
    try:
        return parser.parse_args(words)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0


def _mistake(error: Exception) -> str:
    # Not its words: they may quote what a file holds, and a secret.
    from traceback import extract_tb

    frame = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {os.path.basename(frame.filename)}:{frame.lineno}"


def _drop_output() -> None:
    """What is still to be written goes nowhere: the interpreter would try again at exit, and complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return  # no file behind it: closed, or a test's own


def show(text: str) -> None:
    """Lines to stdout: what a rule pack or a plugin says is shown, and drives no terminal."""
    sys.stdout.write("".join(f"{printable(line)}\n" for line in text.split("\n")))


def say(text: str) -> None:
    """One line to stderr, without secrets and with control characters escaped: names and values in it are
    whatever a file or the command line holds."""
    from ..read.secrets import without_secrets

    text = without_secrets(text)
    if sys.stderr is not None:
        try:
            print(f"kafka-advisor: {printable(text)}", file=sys.stderr)
        except OSError:
            return  # full, or nobody reads it: the exit code must do


def _top_level(words: Sequence[str]) -> int:
    parser = _Parser(
        prog="kafka-advisor",
        description="Audits Kafka producer, broker, topic and consumer settings.",
        epilog="commands:\n"
        + "".join(f"  {name:<11}{about}\n" for name, about in COMMANDS.items())
        + "\n`kafka-advisor COMMAND --help` tells more. Start with: kafka-advisor audit .",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"kafka-advisor {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=list(COMMANDS), help="one of those below")
    if not words:
        parser.print_help(sys.stderr)
        return 2
    done = _parsed(parser, words)
    return done if isinstance(done, int) else 2
