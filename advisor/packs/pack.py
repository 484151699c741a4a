"""Rule packs: TOML tables to Rules.

A pack is validated when its bytes are new and kept compiled as JSON: in `compiled.json` beside the TOML for
packs that ship in a package, in the cache for a user's. A warm start reads JSON and nothing else.

    python -m advisor.packs.pack compile [FOLDER]     writes compiled.json (default: the first-party packs)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..memo.cache import Cache, digest
from ..model import Location, UsageError
from ..syntax.numbers import INT, integer, is_digits
from ..tuples import NamedTuple

if TYPE_CHECKING:
    from ..hookspecs import PackSpec
    from ..schemas.tomltext import Lines, Path

COMPILED = "compiled.json"
FIRST_PARTY = "kafka_advisor_rules"
# The evidence a rule gives unless it says otherwise, by what decides it.
_EVIDENCE = {"guarantee": "trace", "when": "budget", "check": "start"}


class Rule(NamedTuple):
    """One rule. Exactly one of `guarantee`, `when` and `check` is there; empty tuples mean "all".

    `part` is which part of the guarantee it asks. `environment` is free of charge, `faults` are counted: each
    of its tables is an alternative.
    """

    code: str
    name: str
    severity: str
    evidence: str
    message: str
    why: str
    fine_when: str
    sources: tuple[str, ...]
    guarantee: str | None
    part: str
    when: Mapping[str, Any] | None
    check: str | None
    params: Mapping[str, Any]
    environment: Mapping[str, int | str]
    faults: tuple[Mapping[str, int | str], ...]
    components: tuple[str, ...]
    profiles: tuple[str, ...]
    clients: tuple[str, ...]
    kafka: str | None
    covers: tuple[str, ...]
    since: str | None
    replaced_by: str | None
    enabled: bool
    examples: tuple[Mapping[str, Any], ...]
    pack: str
    at: Location
    # What a person would write to mend it, (component, key, value, safety): tried as a fix.
    edits: tuple[tuple[str, str, str, str], ...] = ()
    # What to do where no setting helps; fields are filled in as in the message.
    advice: tuple[str, ...] = ()
    # The fault in a few words, for the head of a finding; else the name is taken apart.
    title: str = ""
    # `cluster`: told once for all deployments of a cluster.
    told_of: str = ""
    # What `fix` may do with a change of it: safe | review | advice.
    safety: str = "safe"


class Pack(NamedTuple):
    """A pack as it was read. `narrow` are rows of what it says of other packs' rules, `extends` names the
    packs that count with it."""

    name: str
    file: str
    rules: list[Rule]
    narrow: Sequence[Mapping[str, Any]] = ()
    extends: Sequence[str] = ()


def load_packs(specs: Sequence[PackSpec], files: Sequence[str], cache: Cache) -> tuple[Rule, ...]:
    """The rules of the plugins' packs and of these files, sorted by code."""
    packs: list[Pack] = []
    shipped: dict[str, Mapping[str, Any]] = {}
    for spec in specs:
        folder = pack_folder(spec)
        data = _read(os.path.join(folder, spec.file), f"rule pack {spec.name!r} of {spec.package}")
        if folder not in shipped:
            shipped[folder] = _shipped(folder)
        entry = shipped[folder].get(spec.file)
        # The digest tells a pack that was edited after it was compiled.
        file = f"{spec.package}/{spec.file}"
        if entry is not None and entry["digest"] == digest(data):
            packs.append(_pack(entry, file, spec.name))
        else:
            packs.append(_compiled(file, data, cache, spec.name))
    seen: set[str] = set()
    for file in files:
        place = os.path.realpath(file)
        if place not in seen:
            seen.add(place)
            packs.append(_compiled(file, _read(file, "rule pack"), cache))
    if any(pack.extends or pack.narrow for pack in packs):
        from .narrowing import narrowed, with_extended

        homes = {f"{spec.package}/{spec.file}": pack_folder(spec) for spec in specs}

        def read(path: str, what: str) -> Pack:
            return _compiled(path, _read(path, what), cache)

        rules = narrowed(*with_extended(packs, homes, read))
    else:
        rules = [rule for pack in packs for rule in pack.rules]
    rules.sort(key=lambda rule: (rule.code, rule.at))
    _refuse_doubles(rules)
    return tuple(rules)


def applies_to(range: str | None, number: tuple[int, ...]) -> bool:
    """Is the Kafka version in a range such as ">=2.0,<4.0"?

    Only as many parts are compared as the range writes, so 3.9.1 is in "<=3.9" and not in ">3.9".
    """
    if range is None:
        return True
    for part in range.split(","):
        text = part.strip()
        sign = text[:2] if text[:2] in (">=", "<=", "==", "!=") else text[:1]
        words = text[len(sign) :].strip().split(".")
        bound = tuple(one for word in words if (one := integer(word, (0, INT[1]))) is not None)
        if sign not in (">=", "<=", "==", "!=", ">", "<") or len(bound) != len(words):
            raise UsageError(f"{range!r} is no version range; write one like '>=2.0,<4.0'")
        given = (number + (0,) * len(bound))[: len(bound)]
        if not (
            (sign == ">=" and given >= bound)
            or (sign == "<=" and given <= bound)
            or (sign == "==" and given == bound)
            or (sign == "!=" and given != bound)
            or (sign == ">" and given > bound)
            or (sign == "<" and given < bound)
        ):
            return False
    return True


# Loading what is compiled


def pack_folder(spec: PackSpec) -> str:
    """That of the package; of a plugin of one file the folder it lies in."""
    # importlib.resources would cost more than all the packs; a pack ships in a plain folder.
    from importlib import import_module

    try:
        found = import_module(spec.package)
        folders = getattr(found, "__path__", None)
        return next(iter(folders)) if folders is not None else os.path.dirname(found.__file__ or "")
    except (ImportError, AttributeError, StopIteration) as error:
        raise UsageError(f"rule pack {spec.name!r}: {spec.package} cannot be imported: {error}") from None


def _read(path: str, what: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{what}: {path} cannot be read: {error.strerror or error}") from None


def _shipped(folder: str) -> Mapping[str, Any]:
    """The packs in a folder's compiled.json, by file name; none if it is missing or of another format."""
    import json

    try:
        with open(os.path.join(folder, COMPILED), "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict) or found.get("format") != 1:
        return {}
    packs: Mapping[str, Any] = found["packs"]
    return packs


def _compiled(file: str, data: bytes, cache: Cache, name: str = "") -> Pack:
    key = digest(data)
    kept = cache.get("pack", key)
    if isinstance(kept, dict):
        try:
            return _pack(kept, file, name)
        except (AttributeError, KeyError, TypeError):
            pass
    rows = compile_pack(file, data)
    cache.put("pack", key, rows)
    return _pack(rows, file, name)


def _pack(rows: Mapping[str, Any], file: str, name: str) -> Pack:
    """`name`: as the plugin calls it, which need not be what the file says."""
    rules = [_rule(row, file) for row in rows["rules"]]
    return Pack(name or rows.get("name", ""), file, rules, rows.get("narrow", ()), rows.get("extends", ()))


def _rule(row: Mapping[str, Any], file: str) -> Rule:
    applies = row.get("applies", {})
    faults = row.get("faults", ())
    return Rule(
        code=row["code"],
        name=row["name"],
        severity=row["severity"],
        evidence=row["evidence"],
        message=row["message"],
        why=row["why"],
        fine_when=row.get("fine_when", ""),
        sources=tuple(row.get("sources", ())),
        guarantee=row.get("guarantee"),
        part=row.get("part", ""),
        when=row.get("when"),
        check=row.get("check"),
        params=row.get("params", {}),
        environment=row.get("environment", {}),
        faults=(faults,) if isinstance(faults, dict) else tuple(faults),
        components=tuple(applies.get("components", ())),
        profiles=tuple(applies.get("profiles", ())),
        clients=tuple(applies.get("clients", ())),
        kafka=applies.get("kafka"),
        covers=tuple(row.get("covers", ())),
        since=row.get("since"),
        replaced_by=row.get("replaced_by"),
        enabled=row.get("enabled", True),
        examples=tuple(row.get("example", ())),
        pack=row["pack"],
        at=Location(file, row["line"]),
        edits=tuple(
            (edit["component"], edit["key"], value, edit.get("safety", ""))
            for edit in row.get("edits", ())
            for value in edit["values"]
        ),
        advice=tuple(row.get("advice", ())),
        title=row.get("title") or row["name"].replace("-", " "),
        told_of=row.get("told_of", ""),
        safety=row.get("safety", "safe"),
    )


def _refuse_doubles(rules: Sequence[Rule]) -> None:
    seen: dict[str, Rule] = {}
    # Names of ours are taken: whoever brings one again is told.
    for rule in sorted(rules, key=lambda rule: not rule.at.file.startswith(f"{FIRST_PARTY}/")):
        for word, what in ((rule.code, "code"), (rule.name, "name")):
            first = seen.setdefault(word, rule)
            if first is not rule:
                raise UsageError(
                    f"{rule.at}: {what} {word!r} is taken: {first.code} {first.name} has it at {first.at}"
                )


# Compiling


def compile_pack(file: str, data: bytes) -> dict[str, Any]:
    """A pack's TOML as plain rows, validated; a UsageError has one line for each fault."""
    from ..schemas import load_schema
    from ..schemas.explain import complaints
    from ..schemas.tomltext import read_toml

    value, lines = read_toml(file, data)

    def name(path: Path) -> str:
        return _named(path, value)

    found = complaints(file, value, lines, load_schema("pack"), name)
    if not found:
        found = [f"{file}:{lines.of(path)}: {name(path)}: {what}" for path, what in _faults(value)]
    if found:
        raise UsageError("\n".join(found))
    pack = value["pack"]
    rows: dict[str, Any] = {
        "rules": [_row(rule, pack, lines, index) for index, rule in enumerate(value.get("rule", ()))]
    }
    if "extends" in pack or "narrow" in value:
        rows |= {"name": pack["name"], "extends": pack.get("extends", [])}
        rows["narrow"] = [
            {"rule": rule, "line": lines.of(("narrow", rule)), **given}
            for rule, given in value.get("narrow", {}).items()
        ]
    return rows


def _row(rule: dict[str, Any], pack: Mapping[str, Any], lines: Lines, index: int) -> dict[str, Any]:
    decided_by = next(word for word in _EVIDENCE if word in rule)
    given = {"evidence": _EVIDENCE[decided_by], "pack": pack["name"], "line": lines.of(("rule", index))}
    return given | rule


def _faults(value: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What a schema cannot say."""
    from .conditions import ConditionError, compile_condition

    prefix = value["pack"]["prefix"]
    first: dict[str, int] = {}
    for index, rule in enumerate(value.get("rule", ())):
        here: Path = ("rule", index)
        if not rule["code"].startswith(prefix) or not is_digits(rule["code"][len(prefix) :]):
            yield (*here, "code"), f"{rule['code']!r} must be the pack's prefix {prefix!r} and digits"
        for word in ("code", "name"):
            if first.setdefault(rule[word], index) != index:
                yield (*here, word), f"{rule[word]!r} is taken by rule {first[rule[word]] + 1} of this pack"
        if "when" in rule:
            try:
                condition = compile_condition(rule["when"])
            except ConditionError as error:
                yield (*here, "when", *error.path), str(error)
            else:
                for read in condition.reads:
                    head, _, param = read.partition(".")
                    if head == "param" and param not in rule.get("params", {}):
                        yield (*here, "when"), f"{read!r} is read, but params has no {param!r}"


def _named(path: Path, value: Mapping[str, Any]) -> str:
    """`rule KA101: when.all[0].eq`; a rule without a usable code goes by its number."""
    words = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    if len(path) < 2 or path[0] != "rule" or not isinstance(path[1], int):
        return words.lstrip(".") or "pack file"
    rule = value["rule"][path[1]]
    code = rule.get("code") if isinstance(rule, dict) else None
    label = f"rule {code if isinstance(code, str) and code else path[1] + 1}"
    rest = words[len(f".rule[{path[1]}]") :].lstrip(".")
    return f"{label}: {rest}" if rest else label


def compile_folder(folder: str) -> str:
    """The text of compiled.json for all TOML packs of a folder: one rule a line, so that a diff reads."""
    import json

    def dump(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    packs = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            data = _read(os.path.join(folder, name), "rule pack")
            made = compile_pack(name, data)
            rows = ",\n".join(map(dump, made.pop("rules")))
            more = f",{dump(made)[1:-1]}" if made else ""
            packs.append(f'{dump(name)}:{{"digest":"{digest(data)}"{more},"rules":[\n{rows}\n]}}')
    return '{"format":1,"packs":{\n' + ",\n".join(packs) + "\n}}\n"


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] != "compile" or len(arguments) > 2:
        print("usage: python -m advisor.packs.pack compile [FOLDER]")
        return 2
    from ..output.files import write_file

    try:
        if len(arguments) == 2:
            folder = arguments[1]
        else:
            from ..hookspecs import PackSpec

            folder = pack_folder(PackSpec("first-party", FIRST_PARTY, ""))
        write_file(os.path.join(folder, COMPILED), compile_folder(folder))
    except UsageError as error:
        print(error)
        return 2
    print(f"{os.path.join(folder, COMPILED)} written")
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
