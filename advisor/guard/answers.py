"""Is what a plugin's function gave what its spec promises? Checked where it comes in, so that a mistake is
reported with the plugin's name, and not by whatever trips over it later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..accept import Accepted, Reason, Rejected, Rewrite
from ..context import Hit, Judgement
from ..model import (
    Change,
    Deployment,
    Document,
    Dropped,
    Edit,
    Fact,
    Fix,
    Loaded,
    Location,
    Origin,
    Secret,
    Setting,
    Unknown,
)
from .calls import PluginError

VERDICTS = ("holds", "broken", "unknown")
SEVERITIES = ("error", "warning", "note")
STATUSES = ("audited", "partial", "skipped")


def checked(who: str, gives: str, value: Any) -> Any:
    """The answer, or a PluginError that says what is wrong with it. `gives`: what the spec promises."""
    try:
        wrong, made = _CHECKS[gives](value)
    except Exception as error:  # values that fail when they are looked at
        raise PluginError(f"{who} gave what cannot be read: {type(error).__name__}") from error
    if wrong:
        raise PluginError(f"{who} {wrong}")
    return made


_Checked = tuple[str, Any]


def _claim(value: Any) -> _Checked:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        return f"gave {_shown(value)} where a claim from 0 to 100 is expected", None
    return "", value


def _text(value: Any) -> _Checked:
    if not isinstance(value, str):
        return f"gave {_shown(value)} where a text is expected", None
    return "", value


def _partition(value: Any) -> _Checked:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"gave {_shown(value)} where the number of a partition is expected", None
    return "", value


def _plan(value: Any) -> _Checked:
    if not isinstance(value, Mapping):
        return f"gave {_shown(value)} where a dict of member id to (topic, partition) pairs is expected", None
    for member, pairs in value.items():
        if not isinstance(member, str) or not isinstance(pairs, (list, tuple, set, frozenset)):
            return f"gave {_shown(pairs)} for a member where (topic, partition) pairs are expected", None
        for pair in pairs:
            if (
                not isinstance(pair, tuple)
                or len(pair) != 2
                or not isinstance(pair[0], str)
                or isinstance(pair[1], bool)
                or not isinstance(pair[1], int)
            ):
                return f"gave {_shown(pair)} where a (topic, partition) pair is expected", None
    return "", value


def _refusal(value: Any) -> _Checked:
    if isinstance(value, Accepted):
        wrong = _each("rewrites", value.rewrites, Rewrite)
        return wrong or _fields(value.rewrites, ("key", str), ("because", tuple), ("detail", str)), value
    if not isinstance(value, Rejected):
        return f"gave {_shown(value)} where Accepted or Rejected is expected", None
    wrong = _each("reasons", value.reasons, Reason)
    wrong = wrong or _fields(value.reasons, ("kind", str), ("keys", tuple), ("detail", str))
    for reason in () if wrong else value.reasons:
        wrong = wrong or _each("keys", reason.keys, str)
        if not wrong and reason.kind not in REASONS:
            wrong = f"gave a Reason of kind {_shown(reason.kind)}; there is {', '.join(REASONS)}"
    return wrong, value


REASONS = (
    "type", "range", "enum", "required", "unknown-key", "format", "cross-key", "class", "security",
)  # fmt: skip


def _loaded(value: Any) -> _Checked:
    if not isinstance(value, Loaded):
        return f"gave {_shown(value)} where Loaded is expected", None
    if value.status not in STATUSES or not isinstance(value.reason, str | None):
        return f"gave Loaded with status {_shown(value.status)}; there is {', '.join(STATUSES)}", None
    wrong = _each("documents", value.documents, Document)
    for document in () if wrong else value.documents:
        wrong = wrong or _document(document)
    return wrong, value


def _document(document: Document) -> str:
    words = ("file", str), ("format", str), ("component", str), ("name", str), ("client", str)
    wrong = _fields((document,), *words, ("line", int | None))
    wrong = wrong or _each("settings", document.settings, Setting)
    wrong = wrong or _fields(document.settings, ("key", str), ("value", str | Secret | Unknown), _ORIGIN)
    wrong = wrong or _each("facts", document.facts, Fact)
    wrong = wrong or _fields(document.facts, ("name", str), ("value", str), _ORIGIN)
    wrong = wrong or _each("dropped", document.dropped, Dropped)
    wrong = wrong or _fields(document.dropped, ("key", str), ("at", Location), ("cause", str))
    wrong = wrong or _each("hints", document.hints, tuple)
    if wrong:
        return wrong
    places = (*(one.origin.at for one in document.settings), *(one.at for one in document.dropped))
    return _places(place for place in places if place is not None)


_ORIGIN = ("origin", Origin)


def _hits(value: Any) -> _Checked:
    found, wrong = _items(value, Hit)
    for hit in found:
        wrong = wrong or _hit(hit)
    return wrong, found


def _hit(hit: Hit) -> str:
    wrong = _fields((hit,), ("at", Location), ("fields", Mapping), ("check", str | None))
    wrong = wrong or _places((hit.at,))
    wrong = wrong or _each("keys", hit.keys, str)
    wrong = wrong or _each("settings", hit.settings, tuple) or _each("numbers", hit.numbers, tuple)
    wrong = wrong or _each("also_at", hit.also_at, Location) or _places(hit.also_at)
    wrong = wrong or _each("edits", hit.edits, Edit) or _each("advice", hit.advice, str)
    wrong = wrong or _each("fixes", hit.fixes, Fix)
    if wrong:
        return wrong
    for fix in hit.fixes:
        wrong = wrong or _each("changes", fix.changes, Change)
    for pair in hit.settings:
        if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], Setting):
            return f"gave a Hit whose settings hold {_shown(pair)} where (component, Setting) is expected"
    for row in hit.numbers:
        if len(row) != 2 or not all(isinstance(word, str) for word in row):
            return f"gave a Hit whose numbers hold {_shown(row)} where (name, text) is expected"
    if hit.severity is not None and hit.severity not in SEVERITIES:
        return f"gave a Hit with severity {_shown(hit.severity)}; there is {', '.join(SEVERITIES)}"
    return wrong


def _judgements(value: Any) -> _Checked:
    found, wrong = _items(value, Judgement)
    for one in found:
        wrong = wrong or _judgement(one)
    return wrong, found


def _judgement(one: Judgement) -> str:
    if one.verdict not in VERDICTS:
        return f"gave the verdict {_shown(one.verdict)}; there is {', '.join(VERDICTS)}"
    if one.verdict == "broken" and one.hit is None:
        return "gave the verdict 'broken' without a Hit that says where"
    wrong = _hit(one.hit) if isinstance(one.hit, Hit) else ""
    wrong = wrong or _fields((one,), ("hit", Hit | None), ("environment", Mapping), ("faults", Mapping))
    wrong = wrong or _fields((one,), ("bounds", str | None), ("states", int | None), ("reason", str | None))
    if not wrong and one.verdict == "unknown" and one.reason is None:
        return "gave the verdict 'unknown' without a reason"
    return wrong or _each("depends_on", one.depends_on, str) or _each("trace", one.trace, Mapping)


_CHECKS: dict[str, Callable[[Any], _Checked]] = {
    "claim": _claim,
    "hits": _hits,
    "judgements": _judgements,
    "loaded": _loaded,
    "partition": _partition,
    "plan": _plan,
    "refusal": _refusal,
    "text": _text,
}


# Words


def _shown(value: object) -> str:
    """Short, and never the contents of what was audited."""
    try:
        text = "" if isinstance(value, Document | Deployment) else repr(value)
    except Exception:
        text = ""
    return text if 0 < len(text) <= 60 else f"a {type(value).__name__}"


def _items(value: Any, kind: type) -> tuple[list[Any], str]:
    if value is None or isinstance(value, str) or not isinstance(value, Iterable):
        return [], f"gave {_shown(value)} where {kind.__name__}s are expected"
    found = list(value)
    for item in found:
        if not isinstance(item, kind):
            return [], f"gave {_shown(item)} where a {kind.__name__} is expected"
    return found, ""


def _each(name: str, value: Any, kind: type) -> str:
    if not isinstance(value, tuple):
        return f"gave {_shown(value)} as {name} where a tuple is expected"
    for item in value:
        if not isinstance(item, kind):
            return f"gave {name} that hold {_shown(item)} where a {kind.__name__} is expected"
    return ""


def _fields(values: Iterable[Any], *kinds: tuple[str, Any]) -> str:
    for value in values:
        for name, kind in kinds:
            if not isinstance(getattr(value, name), kind):
                given = _shown(getattr(value, name))
                return f"gave a {type(value).__name__} whose {name} is {given}"
    return ""


def _places(places: Iterable[Location]) -> str:
    for at in places:
        if not isinstance(at.file, str) or isinstance(at.line, bool) or not isinstance(at.line, int | None):
            return f"gave {_shown(at)}, which is no place in a file"
    return ""
