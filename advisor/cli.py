"""The command line: words in, exit code out. No logic of its own.

`--version` returns before argparse or any plugin is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        from . import __version__

        print(f"kafka-advisor {__version__}")
        return 0
    from .commands import run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
