"""kafka-advisor.toml: what the configuration files themselves do not say.

Read with tomllib and validated with pydantic when its bytes are new, then kept as JSON in the cache, so a
warm start imports neither. `to_toml` writes one for `kafka-advisor init`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..memo.cache import Cache, digest
from ..model import Location, UsageError
from ..syntax.numbers import is_digits
from ..tuples import NamedTuple

if TYPE_CHECKING:
    from ..schemas.tomltext import Path

FILE_NAME = "kafka-advisor.toml"


class Project(NamedTuple):
    """The project file as plain values.

    rules: paths of packs, relative to the file's folder. facts: by short name (`brokers`), as text.
    workload: durations in milliseconds, sizes in bytes. deployments: name?, producer?, topic?, cluster?,
    groups (a list); lists of producers or topics are spread out to one entry each. clients: path, family.
    suppress: rule, path?, resource?, reason, expires? (ISO date), line.
    """

    path: str | None = None
    kafka_version: str | None = None
    profile: str | None = None
    fail_on: str | None = None
    rules: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    params: Mapping[str, Mapping[str, Any]] = {}
    facts: Mapping[str, str] = {}
    workload: Mapping[str, Any] = {}
    deployments: tuple[Mapping[str, Any], ...] = ()
    clients: tuple[Mapping[str, str], ...] = ()
    suppress: tuple[Mapping[str, Any], ...] = ()
    lines: Mapping[str, int] = {}

    def at(self, name: str) -> Location:
        """The place of `facts.brokers`, `severity.KA101` or `deployment.0`; the file lies in the root."""
        return Location(FILE_NAME if self.path is None else os.path.basename(self.path), self.lines.get(name))


EMPTY = Project()


def load_project(path: str, data: bytes | str, cache: Cache) -> Project:
    """The project in these bytes; `path` names it in errors, and rule packs must lie in its folder."""
    raw = data.encode("utf-8") if isinstance(data, str) else data
    key = digest(raw)
    kept = cache.get("project", key)
    if isinstance(kept, dict):
        try:
            return _project(path, kept["values"], kept["lines"])
        except (AttributeError, KeyError, TypeError):
            pass
    values, lines = _validated(path, raw)
    cache.put("project", key, {"values": values, "lines": lines})
    return _project(path, values, lines)


TRUST = "KAFKA_ADVISOR_TRUST_PLUGINS"


def check_trusted(project: Project, name: str, trusted: bool) -> None:
    """Code of the folder that is audited runs only if somebody says so, for this run or for this machine."""
    if not trusted and os.environ.get(TRUST) != "1":
        where = f"{project.path}:{project.lines.get('plugins', 1)}"
        how = f"--trust-plugins (or {TRUST}=1)"
        raise UsageError(f"{where}: plugins: {name!r} is code of this folder and runs only with {how}")


def _project(path: str, values: Mapping[str, Any], lines: Mapping[str, int]) -> Project:
    return Project(
        path=path,
        kafka_version=values.get("kafka_version"),
        profile=values.get("profile"),
        fail_on=values.get("fail_on"),
        rules=tuple(_inside(path, name, lines) for name in values.get("rules", ())),
        plugins=tuple(values.get("plugins", ())),
        severity=values.get("severity", {}),
        params=values.get("params", {}),
        facts={name: str(value) for name, value in values.get("facts", {}).items()},
        workload=values.get("workload", {}),
        deployments=tuple(_spread(values.get("deployment", ()))),
        clients=tuple(values.get("client", ())),
        suppress=tuple(
            {**entry, "line": lines.get(f"suppress.{index}")}
            for index, entry in enumerate(values.get("suppress", ()))
        ),
        lines=lines,
    )


def _inside(path: str, name: str, lines: Mapping[str, int]) -> str:
    """The name of a rule pack, unless it is a link that leads out of the project file's folder."""
    folder = os.path.dirname(path)
    root, target = os.path.realpath(folder), os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath((root, target)) != root:
        where = f"{path}:{lines.get('rules', 1)}"
        raise UsageError(f"{where}: rules: {name!r} is a link out of the folder of this file")
    return name


def _spread(entries: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for entry in entries:
        for producer in entry.get("producer", (None,)):
            for topic in entry.get("topic", (None,)):
                yield {**entry, "producer": producer, "topic": topic, "groups": entry.get("groups", [])}


# Reading a file whose bytes are new


def _validated(path: str, raw: bytes) -> tuple[dict[str, Any], dict[str, int]]:
    from ..schemas.tomltext import read_toml

    value, lines = read_toml(path, raw)
    if is_plain(value):
        return value, {".".join(map(str, place)): line for place, line in lines.items() if len(place) <= 2}
    # Imported only where there is something to check: pydantic takes ten times as long as the audit.
    from pydantic import ValidationError

    from .project_schema import ProjectFile

    try:
        project = ProjectFile.model_validate(value)
    except ValidationError as error:
        found = set()
        for fault in error.errors(include_url=False):
            place, what = _sentence(fault, value)
            found.add((lines.of(place), f"{_dotted(place)}: {what}"))
        raise UsageError("\n".join(f"{path}:{line}: {what}" for line, what in sorted(found))) from None
    shown = {".".join(map(str, place)): line for place, line in lines.items() if len(place) <= 2}
    return project.model_dump(mode="json", exclude_none=True), shown


_WORDS = {"profile": ("dev", "prod"), "fail_on": ("error", "warning", "note", "unknown", "never")}


def is_plain(value: Mapping[str, Any]) -> bool:
    """Nothing but the three words that most files have, each of them right: pydantic would change nothing."""
    for name, given in value.items():
        if name == "kafka_version" and isinstance(given, str):
            parts = given.split(".")
            if not (2 <= len(parts) <= 4 and all(map(is_digits, parts))):
                return False
        elif given not in _WORDS.get(name, ()):
            return False
    return True


def _sentence(fault: Any, value: Mapping[str, Any]) -> tuple[Path, str]:
    from ..schemas.explain import did_you_mean

    # pydantic's place may end in words of its own, such as "[key]": keep what the file has.
    place: Path = ()
    node: Any = value
    for part in fault["loc"]:
        if not (isinstance(node, dict) and part in node) and not (
            isinstance(node, list) and isinstance(part, int)
        ):
            break
        place, node = (*place, part), node[part]
    kind = fault["type"]
    if kind == "missing":
        return place, f"lacks {fault['loc'][-1]!r}"
    if kind == "extra_forbidden":
        top = _fields(())
        if len(place) > 1 and place[-1] in top:
            return place, f"belongs to the top of the file, above the first [table], not into [{place[0]}]"
        return place, "unknown field" + did_you_mean(place[-1], _fields(place[:-1]))
    given = _shown(fault["input"])
    if kind == "literal_error":
        allowed = fault["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        return place, f"{given} is not allowed" + did_you_mean(given.strip("'"), allowed)
    if kind == "string_pattern_mismatch":
        return place, f'{given} is no version; write one like "4.1"'
    if kind == "value_error":
        return place, str(fault["ctx"]["error"])
    if kind in ("string_too_short", "too_short"):
        return place, "must not be empty"
    if kind in ("model_type", "dict_type"):
        return place, f"must be a table, not {given}"
    return place, fault["msg"].replace("Input should be", "must be") + f", not {given}"


def _shown(value: object) -> str:
    # Not what a table or a list holds: that may be anything, and a secret.
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)


def _fields(place: Path) -> list[str]:
    """The field names that the published schema allows at a place."""
    from ..schemas import load_schema

    schema = load_schema("project")
    node = schema
    for part in place:
        node = node["items"] if isinstance(part, int) else node["properties"][part]
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return list(node["properties"])


def _dotted(place: Path) -> str:
    words = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return words.lstrip(".") or "project file"


# Writing


def to_toml(project: Mapping[str, Any]) -> str:
    """A commented kafka-advisor.toml with these values (in the file's own shape).

    What is not given stands as a comment without a blank (`#fail_on = "error"`), ready to be taken up.
    """
    from ..schemas import load_schema

    schema = load_schema("project")
    unknown = sorted(set(project) - set(schema["properties"]))
    if unknown:
        raise ValueError(f"no fields of {FILE_NAME}: {', '.join(unknown)}")
    blocks = [f"# {schema['description']}"]
    for name, field in schema["properties"].items():
        given = project.get(name)
        item = field.get("items", field)
        model = schema["$defs"].get(item.get("$ref", "").rpartition("/")[2])
        block = [f"# {field['description'][0].upper()}{field['description'][1:]}."]
        if model is None:
            block += _assignments(
                {name: field["examples"][0]} if given is None else {name: given}, given is None
            )
        else:
            header = f"[[{name}]]" if "items" in field else f"[{name}]"
            for entry in given if isinstance(given, list) else [given]:
                block += _table(header, entry, model["properties"])
        blocks.append("\n".join(block))
    return "\n\n".join(blocks) + "\n"


def _table(header: str, given: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> Iterator[str]:
    yield header if given is not None else f"#{header}"
    for name, field in fields.items():
        absent = given is None or name not in given
        value = field["examples"][0] if given is None or name not in given else given[name]
        for line in _assignments({name: value}, absent):
            yield f"{line}  # {field['description']}"


def _assignments(value: Mapping[str, Any], absent: bool) -> list[str]:
    import json

    import toml

    def text(value: str) -> str:
        # toml's own escaping loses control characters; JSON's is also TOML's, but for DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    encoder: toml.TomlEncoder[dict[str, Any]] = toml.TomlEncoder()
    encoder.dump_funcs[str] = text
    mark = "#" if absent else ""
    return [mark + line for line in toml.dumps(dict(value), encoder).split("\n") if line]
