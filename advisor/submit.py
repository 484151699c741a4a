"""`kafka-advisor fleet` as the Python file that spark-submit asks for.

    spark-submit --master yarn "$(python -m advisor.submit)" SOURCE --out DIR

Without words it prints where it is.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    if len(sys.argv) == 1:
        print(os.path.abspath(__file__))
        return 0
    # Run by its path, Python looks for modules beside it first, and `cache` or `link` may be anybody's.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    from advisor.cli import main as command

    return command(["fleet", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
