"""`rule new`: a table for a pack, with its example, to start from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..catalog import NEWEST, components_of, is_known, lookup, suggest
from ..memo.cache import Cache
from ..model import UsageError
from ..output.files import write_file
from ..packs.conditions import COMPONENTS
from ..packs.pack import Rule, compile_pack, load_packs
from ..registry import Registry
from ..schemas.explain import did_you_mean
from .new_plugin import prefix_of

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_rule(
    name: str, pack: str, like: str | None, key: str | None, value: str, registry: Registry
) -> str:
    """Appends the table to the pack, which is made if it is not there; gives the rule's code. The pack is
    checked before it is written."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"rule new: {name!r}: write lower-case words and hyphens that name the fault")
    text = _text(pack)
    rules = load_packs(registry.packs, [pack] if text else [], Cache(None))
    if not text:
        stem = re.sub("[^a-z0-9]+", "-", os.path.basename(pack).removesuffix(".toml").lower()).strip("-")
        text = f'[pack]\nname = "{stem or "house"}"\nschema = 1\nprefix = "{prefix_of(stem or "house")}"\n'
    code = _next_code(text, rules)
    table = _from_key(key, value) if key is not None else _from_rule(like or "KA101", rules)
    head = {
        "code": code,
        "name": name,
        "title": name.replace("-", " "),
        "severity": "warning",
        "message": _message(table),
        "why": "TODO: what happens if nobody mends it",
    }
    lines = [f"{word} = {_toml(given)}" for word, given in {**head, **table}.items() if word != "example"]
    made = "\n[[rule]]\n" + "\n".join(lines) + "\n"
    for example in table.get("example", ()):
        made += "\n[[rule.example]]\n"
        made += "".join(f"{line}\n" for line in _example(example))
    compile_pack(pack, (text + made).encode())
    write_file(pack, text + made)
    return code


def _text(pack: str) -> str:
    try:
        with open(pack, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{pack} cannot be read: {error}") from None


def _next_code(text: str, rules: Sequence[Rule]) -> str:
    import tomllib

    prefix = tomllib.loads(text)["pack"]["prefix"]
    taken = {rule.code for rule in rules}
    return next(code for number in range(1, 10_000) if (code := f"{prefix}{number:03}") not in taken)


def _from_key(name: str, value: str) -> dict[str, Any]:
    """A condition on one setting, with the release's default as what is good."""
    component, _, key = name.partition(".")
    if component not in COMPONENTS or not key:
        raise UsageError(f"rule new: --key {name}: write a component and a key, such as producer.acks")
    if not is_known(component, key, NEWEST):
        near, others = suggest(component, key, NEWEST), components_of(key, NEWEST)
        meant = f"; did you mean {component}.{near}?" if near else ""
        meant = meant or (f"; it is a setting of {' and '.join(others)}" if others else "")
        if meant:
            raise UsageError(f"rule new: --key {name}: no such setting{meant}")
    known = lookup(component, key, NEWEST)
    default = "" if known is None or known.default is None else str(known.default)
    good = default if default not in ("", value) else "TODO"
    return {
        "when": {"key": name, "eq": value},
        "example": ({"bad": {component: {key: value}}, "good": {component: {key: good}}},),
    }


def _from_rule(like: str, rules: Sequence[Rule]) -> dict[str, Any]:
    """What another rule asks, with its examples."""
    rule = next((one for one in rules if like in (one.code, one.name)), None)
    rule = rule or next((one for one in rules if like == one.guarantee and one.examples), None)
    if rule is None:
        known = {word for one in rules for word in (one.name, one.guarantee) if word}
        near = did_you_mean(like, known).partition(" (allowed")[0]
        raise UsageError(f"rule new: --like {like}: no such rule or guarantee{near}")
    asked: dict[str, Any] = {
        "guarantee": rule.guarantee,
        "part": rule.part or None,
        "when": rule.when,
        "check": rule.check,
        "params": dict(rule.params),
        "environment": dict(rule.environment),
        "faults": rule.faults[0] if len(rule.faults) == 1 else list(rule.faults),
        "fine_when": rule.fine_when,
        "applies": {"components": list(rule.components), "profiles": list(rule.profiles)},
    }
    asked["applies"] = {word: given for word, given in asked["applies"].items() if given}
    return {word: given for word, given in asked.items() if given} | {"example": rule.examples}


def _message(table: Mapping[str, Any]) -> str:
    key = table.get("when", {}).get("key")
    return f"{key.partition('.')[2]} is {{{key}}}" if key else "TODO: what is wrong here"


def _example(example: Mapping[str, Any]) -> list[str]:
    lines = []
    for word, given in example.items():
        if isinstance(given, Mapping):
            lines += [f"{word}.{component} = {_toml(table)}" for component, table in given.items()]
        else:
            lines.append(f"{word} = {_toml(given)}")
    return lines


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_toml(item)}" for key, item in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # TOML's short strings escape as JSON's do, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)
