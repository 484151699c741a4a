"""What a JSON Schema has against a file, as sentences: file, line, what is wrong, what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .tomltext import Lines, Path

_KINDS = {"object": "a table", "array": "a list", "string": "text", "integer": "a whole number"}
_KINDS |= {"number": "a number", "boolean": "true or false", "null": "nothing"}


def complaints(
    file: str, value: Any, lines: Lines, schema: Mapping[str, Any], name: Callable[[Path], str]
) -> list[str]:
    """One sentence for each fault, in the order of the file; `name` says what a path is to the reader."""
    import jsonschema

    found = []
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        path = tuple(error.absolute_path)
        for tail, what in _sentences(error):
            here = (*path, *tail)
            found.append((lines.of(here), f"{name(here)}: {what}"))
    return [f"{file}:{line}: {what}" for line, what in sorted(set(found))]


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or the words that are allowed."""
    import difflib

    words = sorted(allowed)
    near = difflib.get_close_matches(str(word), words, n=1)
    listed = ", ".join(words)
    return f"; did you mean {near[0]!r}? (allowed: {listed})" if near else f" (allowed: {listed})"


def _sentences(error: Any) -> list[tuple[Path, str]]:
    """The faults of one error, each with the rest of its path."""
    rule, wanted, given = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties" and wanted is False:
        known = error.schema.get("properties", {})
        return [((key,), "unknown field" + did_you_mean(key, known)) for key in given if key not in known]
    if rule == "required":
        return [((), f"lacks {key!r}") for key in wanted if key not in given]
    if rule == "dependentRequired":
        lacking = [(key, needs) for key, needs in wanted.items() if key in given and not {*needs} <= {*given}]
        return [((key,), f"needs {', '.join(needs)} beside it") for key, needs in lacking]
    if rule == "enum":
        word = given if isinstance(given, str) else ""
        return [((), f"{_shown(given)} is not allowed" + did_you_mean(word, map(str, wanted)))]
    if rule == "const":
        return [((), f"is {_shown(given)}, must be {wanted!r}")]
    if rule in ("oneOf", "anyOf") and all(set(part) == {"required"} for part in wanted):
        if not isinstance(given, dict):
            return [((), f"is {_shown(given)}, must be a table")]
        words = [word for part in wanted for word in part["required"]]
        have = [word for word in words if word in given]
        count = "exactly" if rule == "oneOf" else "at least"
        return [((), f"needs {count} one of {', '.join(words)}; has {' and '.join(have) or 'none'}")]
    about = error.schema.get("description")
    if rule == "type" and not about:
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return [((), f"is {_shown(given)}, must be {' or '.join(_KINDS[kind] for kind in kinds)}")]
    if rule in ("minItems", "minLength", "minProperties"):
        return [((), "must not be empty")]
    if about:
        return [((), f"is {_shown(given)}, must be {about}")]
    if rule == "uniqueItems":
        return [((), "has an item twice")]
    return [((), "does not fit" if isinstance(given, dict | list) else str(error.message))]


def _shown(value: object) -> str:
    """What a table or a list holds may be a secret."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
