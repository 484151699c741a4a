"""`python -m advisor` is the command."""

import sys

try:
    from .cli import main

    sys.exit(main())
except KeyboardInterrupt:  # before the command could expect it
    sys.exit(130)
