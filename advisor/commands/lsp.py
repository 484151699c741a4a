"""Serve an editor by the Language Server Protocol, on stdin and stdout.

Findings of the open files appear while you type, judged with the files around them; hovering over a setting
tells its facts and the run that breaks a guarantee; a quick fix is the smallest change that was tried.

It needs the package pygls: pip install 'pygls>=2,<3'."""

from __future__ import annotations

import argparse
import os

from ..model import UsageError
from .shared.scope_options import add_scope, options_of

EPILOG = """\
examples:
  kafka-advisor lsp
  kafka-advisor lsp --kafka-version 3.9 --profile prod

An editor starts it. Its command is `kafka-advisor lsp`, for files of these languages: properties, yaml, json,
terraform, dotenv, toml, java, kotlin, python, go, javascript. For Neovim, for example:

  vim.lsp.config('kafka-advisor', { cmd = { 'kafka-advisor', 'lsp' },
    filetypes = { 'jproperties', 'yaml', 'json', 'terraform', 'toml' },
    root_markers = { 'kafka-advisor.toml', '.git' } })
  vim.lsp.enable('kafka-advisor')

exit codes: 0 the editor has ended it, 2 pygls is not installed, or the command, a pack or a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser, None)
    # What editors' libraries add of themselves: there is no other way to speak.
    parser.add_argument("--stdio", action="store_true", help="speak on stdin and stdout (always so)")


def run(args: argparse.Namespace) -> int:
    options = options_of(args)
    try:
        from ..editor.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("`lsp` needs the package pygls: pip install 'pygls>=2,<3'") from None
    # A relative path of an option is one from here, wherever the editor's files are.
    here = os.getcwd()
    serve(
        options._replace(
            rules=tuple(os.path.join(here, path) for path in options.rules),
            plugins=tuple(os.path.join(here, path) for path in options.plugins),
        )
    )
    return 0
