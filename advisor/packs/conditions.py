"""The `when` of a rule: data compiled once to closures, answered with three values.

A node is one of
    { all = [node, ...] }    { any = [node, ...] }    { not = node }
    { key = "topic.retention.ms", ge = 0, lt = "1h" }
where a key with several operators asks for all of them. The first word of a key is a component, `fact`,
`workload` or `param` (the rule's own params). The operators:

    eq, ne, in, not_in   as numbers (or versions) if both sides are, as booleans in any case, else as text
    lt, le, gt, ge       as numbers, or as versions if the key ends in `version`; a side that is neither makes
                         the answer unknown
    set                  true: the value is written in a file; false: it is Kafka's default or absent
    matches              a regular expression found anywhere in the value; anchor it with ^ and $

An operand is a literal or, in braces, another name: ge = "{fact.replication_factor}". A literal may carry a
unit: 500ms 30s 5m 1h 7d resolve to the unit that the key is measured in (`.ms`, `.seconds`, `.minutes`,
`.hours`; milliseconds if it names none), 10KiB 10MiB 1GiB and 10kB 10MB 1GB to bytes. -1 is a number like
any other: write `ge = 0` beside `lt` where it means "no limit".

Unknown in, unknown out (None), by Kleene's logic: `all` with one false part is false whatever the rest. A key
without a value equals nothing, so `ne` and `not_in` hold for it and every other comparison is false. A
fact or a workload that nobody stated does have a value in reality, so it is unknown instead. A secret is
never compared: everything but `set` is unknown.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..model import Secret, Undisclosed, Unknown, Value
from ..syntax.numbers import INT, integer
from ..tuples import NamedTuple

Get = Callable[[str], tuple[Value | None, bool]]
Test = Callable[[Get], bool | None]
Path = tuple[str | int, ...]
_Operand = Callable[[Get], Any]
_Compare = Callable[[Any, Any], bool | None]

COMPONENTS = (
    "producer", "consumer", "admin", "broker", "topic", "connect", "connect-standalone", "streams", "group",
    "mm2", "connector", "user",
)  # fmt: skip
HEADS = (*COMPONENTS, "fact", "workload", "param")
# Names of ours rather than Kafka's: their values may carry units too, and absent means "not stated".
_STATED = ("fact.", "workload.", "param.")
OPERATORS = ("eq", "ne", "in", "not_in", "lt", "le", "gt", "ge", "set", "matches")

MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
BYTES = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
_MEASURED_IN = {"ms": 1, "seconds": 1_000, "secs": 1_000, "minutes": 60_000, "hours": 3_600_000}


class ConditionError(ValueError):
    """A condition that says nothing; `path` leads to the part at fault."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


class Condition(NamedTuple):
    """`reads`: every name it may ask for, sorted. `test(get)`: True, False, or None for unknown."""

    reads: tuple[str, ...]
    test: Test


def compile_condition(when: Mapping[str, Any]) -> Condition:
    reads: set[str] = set()
    test = _node(when, (), reads)
    return Condition(tuple(sorted(reads)), test)


def number(text: str) -> int | float | None:
    """The text as a number the way Kafka reads one: no units, no underscores, no infinities."""
    text = text.strip()
    if not text or text.strip("0123456789+-.eE"):
        return None
    whole = integer(text)
    if whole is not None:
        return whole
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) != float("inf") else None


def quantity(text: str, name: str = "") -> int | float | None:
    """Like `number`, with units: a duration in what `name` is measured in, a size in bytes."""
    plain = number(text)
    if plain is not None:
        return plain
    text = text.strip()
    head = text.rstrip("BKMGTikmshd")
    amount, unit = number(head), text[len(head) :]
    if amount is None:
        return None
    if unit in BYTES:
        return _whole(amount * BYTES[unit])
    if unit in MS:
        last = name.replace("_", ".").rpartition(".")[2]
        try:
            return _whole(amount * MS[unit] / _MEASURED_IN.get(last, 1))
        except OverflowError:  # hundreds of digits
            return None
    return None


def _whole(value: int | float) -> int | float | None:
    if abs(value) == float("inf"):
        return None
    return int(value) if value == int(value) else value


def _version(text: str) -> tuple[int, ...] | None:
    """3.9, 2.8-IV1 or 0.10.2 as numbers."""
    parts = text.strip().partition("-")[0].split(".")
    numbers = [integer(part, (0, INT[1])) for part in parts]
    return None if None in numbers else tuple(number for number in numbers if number is not None)


# A node to a closure


def _node(when: object, path: Path, reads: set[str]) -> Test:
    if not isinstance(when, Mapping):
        raise ConditionError("a condition is a table with one of all, any, not, key", path)
    kinds = [word for word in ("all", "any", "not", "key") if word in when]
    if len(kinds) != 1:
        found = "has " + " and ".join(kinds) if kinds else "has none"
        raise ConditionError(f"a condition has exactly one of all, any, not, key; this one {found}", path)
    kind = kinds[0]
    if kind == "key":
        return _leaf(when, path, reads)
    if len(when) > 1:
        other = next(word for word in when if word != kind)
        raise ConditionError(f"{other!r} cannot stand beside {kind!r}", (*path, str(other)))
    inner = when[kind]
    if kind == "not":
        return _not(_node(inner, (*path, "not"), reads))
    if not isinstance(inner, list | tuple) or not inner:
        raise ConditionError(f"{kind!r} is a list of one or more conditions", (*path, kind))
    parts = tuple(_node(part, (*path, kind, index), reads) for index, part in enumerate(inner))
    return parts[0] if len(parts) == 1 else _all(parts) if kind == "all" else _any(parts)


def _leaf(when: Mapping[str, Any], path: Path, reads: set[str]) -> Test:
    key = when["key"]
    _check_name(key, (*path, "key"))
    reads.add(key)
    parts: list[Test] = []
    for operator, operand in when.items():
        if operator == "key":
            continue
        here = (*path, operator)
        if operator not in OPERATORS:
            raise ConditionError(f"unknown operator {operator!r}; operators are {', '.join(OPERATORS)}", here)
        parts.append(_operation(key, operator, operand, here, reads))
    if not parts:
        raise ConditionError(f"{key!r} has no operator; operators are {', '.join(OPERATORS)}", path)
    return parts[0] if len(parts) == 1 else _all(tuple(parts))


def _check_name(name: object, path: Path) -> None:
    if not isinstance(name, str) or name.partition(".")[0] not in HEADS or not name.partition(".")[2]:
        raise ConditionError(f"{name!r} is no name: it starts with one of {', '.join(HEADS)} and a dot", path)


def _operation(key: str, operator: str, operand: object, path: Path, reads: set[str]) -> Test:
    if operator == "set":
        if not isinstance(operand, bool):
            raise ConditionError("'set' is true or false", path)
        return _is_set(key, operand)
    if operator == "matches":
        return _matches(key, operand, path)
    if operator in ("in", "not_in"):
        if not isinstance(operand, list | tuple) or not operand:
            raise ConditionError(f"{operator!r} is a list of one or more values", path)
        rights = [_operand(key, item, (*path, index), reads) for index, item in enumerate(operand)]
        parts = tuple(_comparison(key, right, _equal) for right in rights)
        return _any(parts) if operator == "in" else _not(_any(parts))
    right = _operand(key, operand, path, reads)
    if operator == "eq":
        return _comparison(key, right, _equal)
    if operator == "ne":
        return _not(_comparison(key, right, _equal))
    if isinstance(operand, bool) or (
        isinstance(operand, str)
        and not _is_reference(operand)
        and isinstance(_typed(operand, key, True), str)
    ):
        raise ConditionError(
            f"{operator!r} needs a number, a duration such as 1h, a size such as 10MiB, "
            f"or a name in braces, not {operand!r}",
            path,
        )
    return _comparison(key, right, _ORDER[operator])


def _all(parts: tuple[Test, ...]) -> Test:
    def test(get: Get) -> bool | None:
        answer: bool | None = True
        for part in parts:
            one = part(get)
            if one is False:
                return False
            if one is None:
                answer = None
        return answer

    return test


def _any(parts: tuple[Test, ...]) -> Test:
    def test(get: Get) -> bool | None:
        answer: bool | None = False
        for part in parts:
            one = part(get)
            if one is True:
                return True
            if one is None:
                answer = None
        return answer

    return test


def _not(part: Test) -> Test:
    def test(get: Get) -> bool | None:
        one = part(get)
        return None if one is None else not one

    return test


# Operands and comparisons


def _is_reference(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")


def _operand(key: str, operand: object, path: Path, reads: set[str]) -> _Operand:
    """The right side as a function of `get`; numbers in literals are found once, here."""
    if isinstance(operand, str) and _is_reference(operand):
        name = operand[1:-1].strip()
        _check_name(name, path)
        reads.add(name)
        return lambda get: _value(name, get)
    if isinstance(operand, bool):
        literal: object = "true" if operand else "false"
    elif isinstance(operand, int | float):
        literal = _typed(str(operand), key, True)
    elif isinstance(operand, str):
        literal = _typed(operand, key, True)
    else:
        raise ConditionError(f"{operand!r} is no text, number or boolean", path)
    return lambda get: literal


def _value(name: str, get: Get) -> object:
    """A number, a text, None for no value, or Unknown for what cannot be told."""
    value, _ = get(name)
    stated = name.startswith(_STATED)
    if value is None:
        return Unknown("not stated") if stated else None
    if isinstance(value, Undisclosed):
        value = value.compared()
    elif isinstance(value, Secret):
        return Unknown("secret")
    return _typed(value, name, stated) if isinstance(value, str) else value


def _typed(text: str, name: str, units: bool) -> object:
    """The text as the number or version it is, else as it stands."""
    if name.endswith("version"):
        # As numbers, 3.10 would equal 3.1.
        found: object = _version(text)
    else:
        found = quantity(text, name) if units else number(text)
    return text if found is None else found


def _comparison(key: str, right: _Operand, compare: _Compare) -> Test:
    def test(get: Get) -> bool | None:
        left, other = _value(key, get), right(get)
        if isinstance(left, Unknown) or isinstance(other, Unknown):
            return None
        if left is None or other is None:
            return False
        return compare(left, other)

    return test


def _equal(left: Any, right: Any) -> bool | None:
    if isinstance(left, str) and isinstance(right, str):
        return left == right or (left.strip().lower() == right.strip().lower() in ("true", "false"))
    return bool(left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> _Compare:
    def test(left: Any, right: Any) -> bool | None:
        comparable = isinstance(left, tuple) == isinstance(right, tuple)
        if not comparable or isinstance(left, str) or isinstance(right, str):
            return None
        return compare(left, right)

    return test


_ORDER: dict[str, _Compare] = {
    "lt": _ordered(lambda left, right: bool(left < right)),
    "le": _ordered(lambda left, right: bool(left <= right)),
    "gt": _ordered(lambda left, right: bool(left > right)),
    "ge": _ordered(lambda left, right: bool(left >= right)),
}


def _is_set(key: str, wanted: bool) -> Test:
    def test(get: Get) -> bool | None:
        value, is_set = get(key)
        # A template in a file is set, whatever it becomes; a side that is not in sight may set it or not.
        if isinstance(value, Unknown) and not is_set:
            return None
        return is_set is wanted

    return test


def _matches(key: str, operand: object, path: Path) -> Test:
    import re

    if not isinstance(operand, str):
        raise ConditionError("'matches' is a regular expression", path)
    try:
        search = re.compile(operand).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ConditionError(f"{operand!r} is no regular expression: {error}", path) from None

    def test(get: Get) -> bool | None:
        value, _ = get(key)
        if isinstance(value, Undisclosed):
            value = value.compared()
        if isinstance(value, Unknown | Secret) or (value is None and key.startswith(_STATED)):
            return None
        return value is not None and search(value) is not None

    return test
