"""Audits as tests want them: the JSON report on files, on texts, on settings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from ..engine import Options, audit
from ..output.files import write_file
from ..syntax.numbers import is_digits
from ..tell.report import build_report


def audit_paths(paths: Sequence[str], **options: Any) -> dict[str, Any]:
    """The JSON report on these files or folders; options are the fields of `advisor.engine.Options`."""
    show = bool(options.pop("show_effective", False))
    return build_report(audit(_options(paths, {"count_hidden": True, **options})), show)


def compare_paths(
    old: str, new: str, from_version: str | None = None, to_version: str | None = None, **options: Any
) -> dict[str, Any]:
    """The JSON report on the change from one file or folder to another, or from one version to another."""
    from ..tell.compare import compare
    from ..tell.compare_report import build_compared

    before, after = (
        _options([path], {**options, "kafka_version": version or options.get("kafka_version")})
        for path, version in ((old, from_version), (new, to_version))
    )
    return build_compared(compare(before, after, lambda text: None))


def _options(paths: Sequence[str], options: Mapping[str, Any]) -> Options:
    lists = {
        name: tuple(options[name])
        for name in ("sets", "select", "ignore", "rules", "plugins")
        if name in options
    }
    return Options(paths=tuple(paths), **{"cache": False, **options, **lists})


def audit_texts(texts: Mapping[str, str], **options: Any) -> dict[str, Any]:
    """The report on files with these names and texts, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, text)
        return audit_paths([folder], **options)


def audit_settings(
    configs: Mapping[str, Mapping[str, str]], client: str = "java", **options: Any
) -> dict[str, Any]:
    """The report on settings by component, as a rule pack's examples state them; `fact` and `workload` go
    into a project file, `files` are files as they are."""
    return audit_texts(settings_texts(configs, client), **options)


def settings_texts(configs: Mapping[str, Mapping[str, str]], client: str = "java") -> dict[str, str]:
    """Settings as .properties files of unmistakable names, so that they take the way of every file."""
    texts: dict[str, str] = {}
    project = []
    for component, settings in configs.items():
        if component == "files":
            texts |= settings
            continue
        if component in ("fact", "workload"):
            table = "facts" if component == "fact" else component
            project += [f"[{table}]", *(f"{key} = {_toml(value)}" for key, value in settings.items())]
            continue
        lines = [f"{_escaped(key)}={_escaped(str(value))}" for key, value in settings.items()]
        texts[f"{_FILE_NAMES.get(component, component)}.properties"] = "\n".join(lines) + "\n"
    if client != "java":
        project += ["[[client]]", 'path = "*"', f'family = "{client}"']
    if project:
        texts["kafka-advisor.toml"] = "\n".join(project) + "\n"
    return texts


_FILE_NAMES = {"broker": "server", "topic": "topic-example", "connect": "connect-distributed"}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("=", "\\=").replace(":", "\\:").replace("\n", "\\n")


def _toml(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if is_digits(text) or text in ("true", "false") else f'"{text}"'
