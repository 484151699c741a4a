"""One key, one value: does the release's definition take it, and what value results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.catalog import Key, Version, is_password, keys

from . import values
from .results import Reason

_BOUNDS = {"int": values.INT, "long": values.LONG, "short": values.SHORT}
_SIZES = {"int": "32-bit integer", "long": "64-bit integer", "short": "16-bit integer"}


class Skip(Exception):
    """A check needs a value that is templated, invalid or unknown to this release."""


class Problem(Exception):
    """A value that its definition refuses; carries everything of the Reason but the key."""

    def __init__(self, kind: str, detail: str, needs: str | None = None, near: str | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.needs, self.near = kind, detail, needs, near


_Outcome = tuple[Any, Problem | None]
_memo: dict[tuple[str, str], dict[tuple[str, str], _Outcome]] = {}
_required: dict[tuple[str, str], tuple[str, ...]] = {}
_MEMO_MAX = 50_000


class Config:
    """A configuration under judgement: raw text in, values out on demand."""

    __slots__ = ("_parsed", "component", "derived", "minor", "outcomes", "raw", "read", "table", "version")

    def __init__(self, component: str, version: Version, raw: Mapping[str, object]) -> None:
        self.component = component
        self.version = version
        self.minor = max(version.number[:2], (2, 0))
        self.raw = raw
        self.table = keys(component, version)
        mark = component, version.release
        outcomes = _memo.get(mark)
        if outcomes is None:
            outcomes = _memo[mark] = {}
        self.outcomes = outcomes
        self._parsed: dict[str, Any] = {}
        self.read: set[str] = set()  # every key that was asked for, given or not
        self.derived: dict[str, Any] = {}  # what several checks work out from the same keys

    def since(self, major: int, minor: int) -> bool:
        return self.minor >= (major, minor)

    def has(self, key: str) -> bool:
        self.read.add(key)
        return key in self.raw

    def knows(self, key: str) -> bool:
        return key in self.table

    def text(self, key: str) -> str | None:
        """The raw text, None if absent; Skip if it cannot be known."""
        self.read.add(key)
        given = self.raw.get(key)
        if given is None and key not in self.raw:
            return None
        if isinstance(given, str):
            return given
        reveal = getattr(given, "reveal", None)
        if reveal is None:
            raise Skip
        return str(reveal())

    def get(self, key: str) -> Any:
        """The value the component would work with: given or default."""
        if key in self._parsed:
            return self._parsed[key]
        self.read.add(key)
        known = self.table.get(key)
        if known is None:
            raise Skip
        if key not in self.raw:
            if known.required:
                raise Skip
            value = known.default
        else:
            value, problem = self.outcome(known)
            if problem is not None:
                raise Skip
        self._parsed[key] = value
        return value

    def outcome(self, key: Key) -> _Outcome:
        """What the definition makes of the given value."""
        text = self.text(key.name)
        if text is None:
            raise Skip
        if not isinstance(self.raw[key.name], str):
            return parse_value(key, text, self.version)  # secrets leave no trace in the memo
        mark = key.name, text
        found = self.outcomes.get(mark)
        if found is None:
            found = parse_value(key, text, self.version)
            if len(self.outcomes) < _MEMO_MAX and len(text) < 2000:
                self.outcomes[mark] = found
        return found

    def shown(self, key: str) -> str:
        """The given value for a message; never that of a secret."""
        self.read.add(key)
        given = self.raw.get(key)
        if not isinstance(given, str) or is_password(key):
            return "<secret>" if given is not None else "unset"
        return repr(given if len(given) <= 80 else given[:77] + "...")


def definition_reasons(config: Config) -> list[Reason]:
    """Every given key against its definition, then every required key that is missing."""
    reasons: list[Reason] = []
    for name in config.raw:
        known = config.table.get(name)
        if known is None:
            continue
        given = config.raw[name]
        found = config.outcomes.get((name, given)) if isinstance(given, str) else None
        try:
            _, problem = found or config.outcome(known)
        except Skip:
            continue
        if problem is not None:
            detail = f"{name} = {config.shown(name)}: {problem.detail}"
            reasons.append(Reason(problem.kind, (name,), detail, problem.needs, problem.near))
    for name in required_keys(config):
        if name not in config.raw:
            detail = f"{name} has no default and is not set; {config.component} does not start without it"
            reasons.append(Reason("required", (name,), detail))
    config.read.clear()  # what the definition looks at, it looks at in every configuration
    return reasons


def required_keys(config: Config) -> tuple[str, ...]:
    mark = config.component, config.version.release
    found = _required.get(mark)
    if found is None:
        found = _required[mark] = tuple(name for name, key in config.table.items() if key.required)
    return found


def parse_value(key: Key, text: str, version: Version) -> _Outcome:
    try:
        value = parse_type(key.type, text, version)
        return _validate(key, value, version), None
    except Problem as problem:
        return None, problem


def parse_type(kind: str, text: str, version: Version) -> Any:
    """Kafka trims every text before it reads it."""
    text = values.trim(text)
    if kind in _BOUNDS:
        number = values.integer(text, _BOUNDS[kind])
        if number is None:
            raise Problem("type", f"expected a {_SIZES[kind]} in plain digits, without unit or separator")
        return number
    if kind == "boolean":
        lower = text.lower()
        if lower not in ("true", "false"):
            raise Problem("type", "expected true or false")
        return lower == "true"
    if kind == "double":
        double = values.parse_double(text)
        if double is None:
            raise Problem("type", "expected a number")
        return double
    if kind == "list":
        return values.split_list(text)
    if kind == "class":
        from . import classes

        if not classes.exists(text, version):
            raise missing_class(text)
        return text
    return text  # string, password


def missing_class(name: str) -> Problem:
    from . import classes

    near = classes.looks_like_class(name)
    if near is not None:
        return Problem("class", f"there is no such class; {near} is probably meant", None, near)
    if name == "":
        return Problem("class", "a class name is expected")
    if "." not in name:
        return Problem("class", "a class name with its package is expected")
    return Problem("class", "this class does not come with Kafka and must be on the class path", "classpath")


def _validate(key: Key, value: Any, version: Version) -> Any:
    if key.type in ("int", "long", "short", "double"):
        if key.min is not None and value < key.min:
            raise Problem("range", _range(key))
        if key.max is not None and value > key.max:
            raise Problem("range", _range(key))
    if key.valid is not None and not isinstance(value, bool):
        _one_of(key, value)
    if key.type == "list":
        value = _validate_list(key, value)
    if key.non_empty and value == "":
        raise Problem("format", "must not be empty")
    if key.validator is not None:
        from .validators import run

        run(key.validator, value)
    return value


def _range(key: Key) -> str:
    if key.min is not None and key.max is not None:
        return f"must be from {key.min} to {key.max}"
    return f"must be at least {key.min}" if key.min is not None else f"must be at most {key.max}"


def _one_of(key: Key, value: Any) -> None:
    allowed = tuple(item for item in key.valid or () if item not in (None, "null"))
    if key.case_insensitive:
        ok = isinstance(value, str) and value.upper() in {item.upper() for item in allowed}
    else:
        ok = value in allowed
    if not ok:
        ending = " in any case" if key.case_insensitive else ""
        raise Problem("enum", f"must be one of {', '.join(allowed)}{ending}")


def _validate_list(key: Key, value: tuple[str, ...]) -> tuple[str, ...]:
    if key.empty_allowed is not None:
        # From 4.2 lists are checked more strictly, after dropping repeated items.
        value = tuple(dict.fromkeys(value))
        if not value and not key.empty_allowed:
            raise Problem("format", "must not be empty")
        if "" in value:
            raise Problem("format", "has an empty item: a comma too many")
    if key.valid_items is not None:
        for item in value:
            if item not in key.valid_items:
                raise Problem("enum", f"each item must be one of {', '.join(key.valid_items)}")
    if key.max_items is not None and len(value) > key.max_items:
        raise Problem("range", f"at most {key.max_items} items are taken")
    return value
