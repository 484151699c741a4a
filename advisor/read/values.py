"""From a raw `key = text` in a file to a Setting: secrets wrapped, templates made Unknown.

Every format goes through `setting()`, so no loader can forget either. What is a secret, `secrets` says.
"""

from __future__ import annotations

from ..model import Location, Origin, Secret, Setting, Undisclosed, Unknown, Value
from .secrets import KNOWN, SECRET, holds_secret, kind_of_key, misfits
from .template.places import (
    is_template,
    is_template_outside_quotes,
    shown_places,
    shown_template,
    without_places,
)


def value_of(key: str, text: str) -> Value:
    """The value as it may travel: a Secret, an Unknown, the text itself, or Undisclosed if nobody knows the
    key."""
    kind = kind_of_key(key)
    if kind == SECRET:
        if not text:
            return text
        # What is around the places may be the secret: only their names are kept.
        return Unknown(shown_places(text)) if is_template_outside_quotes(text) else Secret(text)
    if is_template(text):
        if holds_secret(without_places(text)):
            return Secret(text)
        return Unknown(shown_template(text, kind == KNOWN))
    if misfits(key, text) or holds_secret(text):
        return Secret(text) if text else text
    return text if kind == KNOWN or not text else Undisclosed(text)


def setting(key: str, text: str, file: str, line: int | None, note: str = "") -> Setting:
    return Setting(key, value_of(key, text), Origin("file", Location(file, line), note))
