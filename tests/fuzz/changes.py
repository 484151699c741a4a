"""The mutators: each takes chance, a file's name and its bytes, and gives other bytes.

From the coarse to the fine: bytes, lines, values, keys, structure. A mutator that finds nothing to change
gives the bytes back, and another one is drawn.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable
from random import Random
from typing import Any

from .corpus import corpus
from .words import (
    ASSIGNMENT,
    ODD,
    VALUES,
    WHOLE,
    catalog_keys,
    corpus_keys,
    corpus_values,
    lines_by_suffix,
    password_keys,
    suffix_of,
    values_by_key,
)

Mutator = Callable[[Random, str, bytes], bytes]
COMPONENTS = (
    "producer",
    "consumer",
    "topic",
    "broker",
    "streams",
    "connect",
    "admin",
    "template",
    "listener",
)


def mutate(chance: Random, name: str, data: bytes) -> bytes:
    """One change. TOML is read strictly, and most changes would end at its reader: another is drawn."""
    strict = name.endswith(".toml")
    for _ in range(8):
        mutator: Mutator = chance.choices(MUTATORS, WEIGHTS)[0]
        if strict and chance.random() < 0.6:
            mutator = chance.choice(CAREFUL)
        changed = mutator(chance, name, data)
        if changed != data and not (strict and chance.random() < 0.9 and not _is_toml(changed)):
            return changed
    return data


def _is_toml(data: bytes) -> bool:
    try:
        tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Bytes that were no text come back as they were, and lone surrogates as bytes that are no text."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


# -- bytes ---------------------------------------------------------------------------------------------------


def _at(chance: Random, data: bytes) -> int:
    return chance.randint(0, len(data))


def flip_bit(chance: Random, name: str, data: bytes) -> bytes:
    if not data:
        return b"\x00"
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def set_byte(chance: Random, name: str, data: bytes) -> bytes:
    at = _at(chance, data)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def insert_odd(chance: Random, name: str, data: bytes) -> bytes:
    at = _at(chance, data)
    return data[:at] + bytes_of(chance.choice(ODD)) + data[at:]


def delete_bytes(chance: Random, name: str, data: bytes) -> bytes:
    at = _at(chance, data)
    return data[:at] + data[at + chance.choice((1, 1, 2, 10, 100)) :]


def repeat_bytes(chance: Random, name: str, data: bytes) -> bytes:
    at = _at(chance, data)
    piece = data[at : at + chance.choice((1, 2, 10, 80))]
    return data[:at] + piece * chance.choice((2, 2, 3, 50, 2000)) + data[at:]


def truncate(chance: Random, name: str, data: bytes) -> bytes:
    return data[: _at(chance, data)]


def splice(chance: Random, name: str, data: bytes) -> bytes:
    """The beginning of this one, the end of another."""
    _, other = chance.choice(chance.choice(corpus()).files)
    return data[: _at(chance, data)] + other[_at(chance, other) :]


def encode_anew(chance: Random, name: str, data: bytes) -> bytes:
    coding = chance.choice(("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32"))
    return text_of(data).encode(coding, "replace")


# -- lines ---------------------------------------------------------------------------------------------------


def change_lines(chance: Random, name: str, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(8):
        case 0:
            lines.insert(other, lines[at])
        case 1:
            del lines[at]
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(other, lines.pop(at))
        case 4:
            lines[at] = chance.choice((b" ", b"  ", b"\t", b"    ", b"- ")) + lines[at]
        case 5:
            lines[at] = lines[at].lstrip()
        case 6:
            lines[at : at + 1] = lines[at : at + chance.randint(1, 8)] * chance.choice((2, 3, 200))
        case 7:
            lines[at] = lines[at].rstrip() + chance.choice((b"\\", b" #", b" \\\\", b"|", b" &a", b" ,"))
    return b"\n".join(lines)


def change_line_ends(chance: Random, name: str, data: bytes) -> bytes:
    end = chance.choice(
        (b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8", b"\\\n", b"")
    )
    if chance.random() < 0.5:
        return data.replace(b"\n", end)
    return data.replace(b"\n", end, chance.randint(1, 3))


# -- values and keys -----------------------------------------------------------------------------------------


def any_value(chance: Random) -> str:
    return chance.choice(corpus_values()) if chance.random() < 0.2 else chance.choice(chance.choice(VALUES))


def any_key(chance: Random) -> str:
    return chance.choice(catalog_keys() if chance.random() < 0.5 else corpus_keys())


def _rewritten(chance: Random, data: bytes, rewrite: Callable[[re.Match[str]], list[str]]) -> bytes:
    """One assignment of the text, and what is written in its place."""
    lines = text_of(data).split("\n")
    found = [(at, match) for at, line in enumerate(lines) if (match := ASSIGNMENT.match(line))]
    if not found:
        return data
    at, match = chance.choice(found)
    lines[at : at + 1] = rewrite(match)
    return bytes_of("\n".join(lines))


def change_value(chance: Random, name: str, data: bytes) -> bytes:
    def rewrite(found: re.Match[str]) -> list[str]:
        old, value = found[5], any_value(chance)
        quote = old[:1] if old[:1] in ("'", '"') and old[-1:] == old[:1] else ""
        match chance.randrange(8):
            case 0:
                value = old + value
            case 1:
                value = value + old
            case 2:
                quote = chance.choice(('"', "'", ""))
        # A number among others on its line is the likelier one to be used.
        if chance.random() < 0.3 and (numbers := list(re.finditer(r"\d+", old))):
            number = chance.choice(numbers)
            return [found[0][: found.start(5) + number.start()] + value + old[number.end() :]]
        if name.endswith(".toml") and chance.random() < 0.8:
            # Most values are no TOML without quotes, and would end every such file at its reader.
            quote, value = (
                "",
                value if re.fullmatch(r"-?\d{1,18}|true|\[\]|\{\}", value) else json.dumps(value),
            )
        return [found[0][: found.start(5)] + quote + value + quote]

    return _rewritten(chance, data, rewrite)


def change_key(chance: Random, name: str, data: bytes) -> bytes:
    def rewrite(found: re.Match[str]) -> list[str]:
        key = found[3]
        match chance.randrange(5):
            case 0 | 1:
                key = styled(key, any_key(chance))
            case 2:
                at = chance.randrange(len(key))
                key = (
                    key[:at]
                    + chance.choice(("", key[at] * 2, "_", ".", "-", "[0]", "x", "..", "é"))
                    + key[at + 1 :]
                )
            case 3:
                key = chance.choice(
                    (key.upper(), key.swapcase(), key.replace(".", "_"), key.replace("-", "."))
                )
            case 4:
                key = chance.choice(
                    ("", ".", "...", chance.choice(COMPONENTS) + "." + key, key + "." + key, "[]")
                )
        value = found[5] if chance.random() < 0.6 else any_value(chance)
        return [f"{found[1]}{found[2]}{key}{found[2]}{found[4]}{value}"]

    return _rewritten(chance, data, rewrite)


def add_setting(chance: Random, name: str, data: bytes) -> bytes:
    def rewrite(found: re.Match[str]) -> list[str]:
        key = styled(found[3], any_key(chance))
        return [found[0], f"{found[1]}{found[2]}{key}{found[2]}{found[4]}{any_value(chance)}"]

    return _rewritten(chance, data, rewrite)


def styled(like: str, key: str) -> str:
    """The key as its neighbour is written: `acks` beside KAFKA_BROKER_ID is KAFKA_ACKS."""
    if like.isupper() and "_" in like:
        return like.partition("_")[0] + "_" + key.upper().replace(".", "_").replace("-", "_")
    if like.startswith("spring.") and "." in key:
        return like.rpartition(".")[0] + "." + key
    return key


def change_number(chance: Random, name: str, data: bytes) -> bytes:
    """A number that stays one: the reader is content, and those who use it have the trouble."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return data
    number = chance.choice(found)
    old = int(number[0]) if len(number[0]) < 20 else 0
    near = (old - 1, old + 1, old * 2, old * 10, old * 1000, old // 2, old // 1000)
    new = chance.choice(WHOLE) if chance.random() < 0.5 else str(chance.choice(near))
    return data[: number.start()] + new.encode() + data[number.end() :]


def change_to_kin(chance: Random, name: str, data: bytes) -> bytes:
    """What another seed says of the same key."""

    def rewrite(found: re.Match[str]) -> list[str]:
        return [found[0][: found.start(5)] + chance.choice(values_by_key().get(found[3], (found[5],)))]

    return _rewritten(chance, data, rewrite)


def add_kin(chance: Random, name: str, data: bytes) -> bytes:
    """A line of another file of this kind."""
    lines = lines_by_suffix().get(suffix_of(name))
    if not lines:
        return data
    line = chance.choice(lines)
    return _rewritten(chance, data, lambda found: [found[0], line])


def swap_words(chance: Random, name: str, data: bytes) -> bytes:
    one, other = chance.sample(COMPONENTS, 2)
    return data.replace(one.encode(), other.encode(), chance.choice((1, -1)))


def plant_secret(chance: Random, data: bytes, secret: str) -> tuple[bytes, str | None]:
    """A password beside a setting, written as that one is, and the line that holds it."""
    planted: list[str] = []

    def rewrite(found: re.Match[str]) -> list[str]:
        key = styled(found[3], chance.choice(password_keys()))
        old = found[5]
        quote = old[:1] if old[:1] in ("'", '"') else '"' if found[4] == " = " else ""
        line = f"{found[1]}{found[2]}{key}{found[2]}{found[4]}{quote}{secret}{quote}"
        planted.append(line)
        return [found[0], line] if chance.random() < 0.5 else [line, found[0]]

    written = _rewritten(chance, data, rewrite)
    if not planted or not _is_setting(written, planted[0]) or _is_prose(written, secret):
        return data, None
    return written, planted[0]


def _is_setting(data: bytes, line: str) -> bool:
    """A line that goes on from the one before is a part of that one's value."""
    lines = text_of(data).split("\n")
    return not lines[lines.index(line) - 1].rstrip().endswith("\\") or lines[0] == line


def _is_prose(data: bytes, secret: str) -> bool:
    """Within the text of another value, such as the story of a scenario, which is there to be shown."""
    try:
        found = _places([tomllib.loads(data.decode())])
    except (ValueError, RecursionError):
        return False
    return all(holder[key] != secret for holder, key in found)


# -- structure -----------------------------------------------------------------------------------------------


def change_structure(chance: Random, name: str, data: bytes) -> bytes:
    """A value of a TOML or YAML tree becomes one of another type, or a part of another place."""
    try:
        if name.endswith(".toml"):
            tree: Any = [tomllib.loads(data.decode())]
        elif name.endswith((".yml", ".yaml", ".json")):
            import yaml

            tree = list(yaml.load_all(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        else:
            return data
        places = _places(tree)
        holder, key = chance.choice(places)
        holder[key] = _other(chance, holder[key], [holder[key] for holder, key in places])
        return _dumped(name, tree)
    except Exception:  # Not a tree, or none that can be written: other mutators have their turn.
        return data


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    left = [tree]
    while left and len(found) < 3000:
        holder = left.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        left += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


def _other(chance: Random, value: Any, values: list[Any]) -> Any:
    import datetime

    if isinstance(value, str) and chance.random() < 0.4:
        return chance.choice([one for one in values if isinstance(one, str)])
    plain = [None, True, 0, -1, 2**63, 10**30, 1.5, float("inf"), float("nan"), "", "x", "1d", [], {}]
    match chance.randrange(6):
        case 0 | 1:
            return chance.choice([*plain, datetime.date(2001, 1, 1), [[]], [{}], {"": {}}, {"x": []}, {1: 2}])
        case 2:
            return [value]
        case 3:
            return {any_key(chance): value}
        case 4:
            # A copy: a tree that holds itself is written for ever.
            return copy.deepcopy(chance.choice(values))
        case _:
            return any_value(chance)


def _dumped(name: str, tree: Any) -> bytes:
    if name.endswith(".toml"):
        import toml

        return bytes_of(toml.dumps(tree[0]))
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return bytes_of(yaml.dump_all(tree, Dumper=dumper, sort_keys=False, allow_unicode=True))


# What is likely to be taken as it is.
CAREFUL = (change_number, change_number, change_to_kin, change_to_kin, change_structure, change_lines)
MUTATORS, WEIGHTS = zip(
    *(
        (flip_bit, 3),
        (set_byte, 2),
        (insert_odd, 6),
        (delete_bytes, 3),
        (repeat_bytes, 3),
        (truncate, 1),
        (splice, 2),
        (encode_anew, 1),
        (change_lines, 8),
        (change_line_ends, 2),
        (change_value, 25),
        (change_number, 25),
        (change_to_kin, 20),
        (add_kin, 15),
        (change_key, 12),
        (add_setting, 12),
        (swap_words, 3),
        (change_structure, 14),
    ),
    strict=True,
)
