"""What a run tells on stderr though it is no finding: names that mean nothing, suppressions that have no
effect, versions and behaviours that could not be judged as they were asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..catalog import resolve_version
from ..model import Deployment, UsageError
from ..packs.pack import Rule
from ..read.load import FileRecord
from ..read.project import Project
from .failures import BUILT_IN
from .rules.choice import no_rule
from .suppress import Suppressions, inline_comments_of, is_expired

if TYPE_CHECKING:
    from .reuse.outcomes import Answers

# Readers of configuration that are no family of a plugin: they hand their keys on to Java clients.
_FAMILIES_BESIDE = ("connect", "streams")


def check_clients(project: Project, families: Iterable[str]) -> None:
    """A family that nobody knows would be judged as if it were Java's: nothing is judged instead."""
    known = sorted({*families, *_FAMILIES_BESIDE})
    for index, client in enumerate(project.clients):
        family = client.get("family")
        if family is not None and family not in known:
            from ..schemas.explain import did_you_mean

            where = f"{project.path}:{project.lines.get(f'client.{index}', 1)}"
            raise UsageError(f"{where}: client: no family is called {family!r}{did_you_mean(family, known)}")


def version_notices(stated: str | None, deployments: Iterable[Deployment]) -> Iterator[str]:
    """Of versions that another release stands for."""
    asked = [stated] if stated is not None else [deployment.version for deployment in deployments]
    for version in dict.fromkeys(asked):
        note = resolve_version(version).note
        if note is not None:
            yield note


def name_notices(
    project: Project,
    records: Sequence[FileRecord],
    rules: Sequence[Rule],
    prefix: str,
) -> Iterator[str]:
    """Of rules that no pack has, wherever a file names one: what was meant to be changed is not."""
    known = _known(rules)
    params = {name: rule.params for rule in rules for name in (rule.code, rule.name)}
    for table in ("severity", "params"):
        for name in getattr(project, table):
            if name not in known:
                yield f"{prefix}{project.at(f'{table}.{name}')}: {table}: {no_rule(name, known)}"
    for name, given in project.params.items():
        for param in given if name in params else ():
            if param not in params[name]:
                has = ", ".join(sorted(params[name])) or "none"
                where = f"{prefix}{project.at(f'params.{name}')}"
                yield f"{where}: params: {name} has no parameter {param!r} (it has: {has})"
    for index, entry in enumerate(project.suppress):
        if entry["rule"] not in known:
            yield f"{prefix}{project.at(f'suppress.{index}')}: suppress: {no_rule(entry['rule'], known)}"
    for record in records:
        if record.target:
            for line, codes in sorted(_ignored(record)):
                for code in codes:
                    if code not in known:
                        yield f"{prefix}{record.file}:{line}: ignore[{code}]: {no_rule(code, known)}"


def _known(rules: Sequence[Rule]) -> set[str]:
    return {*BUILT_IN, *BUILT_IN.values(), *(name for rule in rules for name in (rule.code, rule.name))}


def _ignored(record: FileRecord) -> Iterator[tuple[int, tuple[str, ...]]]:
    for line, comments in inline_comments_of(record).items():
        for codes, _ in comments:
            yield line, codes


def suppression_notices(
    project: Project,
    records: Sequence[FileRecord],
    suppressions: Suppressions,
    rules: Sequence[Rule],
    whole: bool,
    today: str,
    prefix: str,
) -> Iterator[str]:
    """Of entries that are over, and, if the `whole` of the root was judged by every rule, of those that
    nothing needs any more."""
    known = _known(rules)
    for index, entry in enumerate(project.suppress):
        where = f"{prefix}{project.at(f'suppress.{index}')}"
        if is_expired(entry, today):
            yield f"{where}: the suppression of {entry['rule']} expired on {entry['expires']}"
        elif whole and entry["rule"] in known and index not in suppressions.used:
            yield f"{where}: the suppression of {entry['rule']} fits no finding: it can go"
    for record in records if whole and suppressions.inline else ():
        for line, codes in sorted(_ignored(record)):
            for code in codes or ("",):
                used = (record.file, line, code) in suppressions.used_comments
                if not used and (code in known or not code):
                    comment = f"ignore[{code}]" if code else "ignore"
                    yield f"{prefix}{record.file}:{line}: {comment} fits no finding: it can go"


def limit_notices(answers: Mapping[str, Answers]) -> Iterator[str]:
    """Of guarantees that were not judged because too much is open, which must not read as success."""
    for name, answer in answers.items():
        left = [one for one in answer.guarantees if (one.reason or "").startswith("more than ")]
        if left:
            names = ", ".join(one.name for one in left)
            yield f"{name}: not judged: {names}: {left[0].reason}; state what is open with --set"
