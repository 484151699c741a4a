"""Text fit for XML."""

from __future__ import annotations

from advisor.api import printable


def xml_text(value: str) -> str:
    """Fit for an attribute and for text; what XML cannot hold is escaped first."""
    plain = printable(value)
    for letter, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "apos")):
        plain = plain.replace(letter, f"&{name};")
    return plain
