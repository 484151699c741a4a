"""Regular expressions that are compiled when first used: a plain audit uses a third of what it loads."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        """Asked for a name once: from then on it is found without this."""
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found
