"""What rules came to, as JSON: a second audit of the same files asks nothing and loads no simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ... import model
from ...memo.cache import digest
from ...model import Deployment, Document, Finding, GuaranteeAnswer
from ...packs.pack import Rule
from ...tuples import NamedTuple

# Up to so many documents are kept as they are. Of more, each shape is kept (see shapes.py), under names that
# stand for any, and of an audit no more than SHAPES_MAX.
KEPT_MAX = 10
SHAPES_MAX = 300

_KINDS = {
    kind.__name__: kind
    for kind in (
        model.Change,
        model.Evidence,
        model.Finding,
        model.Fix,
        model.GuaranteeAnswer,
        model.Location,
        model.Origin,
        model.Setting,
        model.Tolerated,
        model.Unknown,
    )
}


class Answers(NamedTuple):
    """What one deployment comes to."""

    headline: Mapping[str, int | None] | None
    guarantees: tuple[GuaranteeAnswer, ...]


class NotKept(Exception):
    """What was found and cannot be kept: a value that JSON must not hold, the answer of a search cut short,
    a rule that failed."""

    def __init__(self, findings: tuple[Finding, ...], answers: Answers | None = None) -> None:
        super().__init__()
        self.findings, self.answers = findings, answers


def not_kept(findings: tuple[Finding, ...]) -> NoReturn:
    raise NotKept(findings)


def may_be_kept(deployments: Sequence[Deployment]) -> bool:
    return len(deployments) <= KEPT_MAX


def mark_of(subjects: Sequence[Document | Deployment], rules: Sequence[Rule], about: object) -> str:
    """All that the answers depend on besides the program; secrets show as such."""
    asked = [rule._replace(examples=(), why="", fine_when="", sources=()) for rule in rules]
    return mark_among(subjects, f"{asked!r}{about!r}")


def mark_among(subjects: Sequence[Document | Deployment], about: str) -> str:
    """What tells these from others, among answers to the same questions."""
    # What prints as hidden may still decide a rule.
    unshown = [
        setting.value.compared()
        for subject in subjects
        for document in documents_of(subject)
        for setting in document.settings
        if isinstance(setting.value, model.Undisclosed)
    ]
    return digest(f"{subjects!r}{unshown!r}{about}".encode("utf-8", "surrogatepass"))


def documents_of(subject: Document | Deployment) -> list[Document]:
    return model.members_of(subject) if isinstance(subject, Deployment) else [subject]


def as_json(findings: tuple[Finding, ...], answers: Mapping[str, Answers]) -> dict[str, Any]:
    try:
        return {
            "findings": plain(findings),
            "answers": {name: [one.headline, plain(one.guarantees)] for name, one in answers.items()},
        }
    except TypeError:
        raise NotKept(findings) from None


def from_json(value: Mapping[str, Any]) -> tuple[tuple[Finding, ...], dict[str, Answers]]:
    found: tuple[Finding, ...] = restored(value["findings"])
    answers = {
        name: Answers(headline, restored(guarantees))
        for name, (headline, guarantees) in value["answers"].items()
    }
    return found, answers


def plain(value: Any) -> Any:
    """A value of the model as a list that begins with its kind, any other tuple as a list; tables, such as
    the steps of a run, are JSON already."""
    if isinstance(value, tuple):
        kind = type(value).__name__ if type(value) is not tuple else ""
        if kind and kind not in _KINDS:
            raise TypeError(kind)
        return [kind, *map(plain, value)]
    if isinstance(value, model.Unknown):
        return ["Unknown", value.template]
    if value is None or isinstance(value, (str, int, dict)):
        return value
    raise TypeError(type(value).__name__)


def restored(value: Any) -> Any:
    if isinstance(value, list):
        kind, *parts = value
        made = map(restored, parts)
        return _KINDS[kind](*made) if kind else tuple(made)
    return value
