"""Markdown that fits a comment on a pull request: what survives what, the causes, their runs folded away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from advisor.api import faults_text, headline_text, message_of, printable, run_lines, run_of, spent_in

from .causes import Cause, also_text, causes_of, change_text, count

# GitHub takes 65,536 characters, GitLab a million.
LENGTH_MAX = 60_000
PLACES_MAX = 5
DEPLOYMENTS_MAX = 10
_JOINER = "\u2060"
_SIGNS = {"error": "🔴", "warning": "🟡", "note": "🔵"}
Report = Mapping[str, Any]


def render(report: Report, options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    findings = [
        one for one in report["findings"] if one["suppressed"] is None and one.get("baseline") != "known"
    ]
    causes = causes_of(report, findings)
    titles = {rule["code"]: rule["title"] for rule in report.get("rules", ())}
    parts = ["## kafka-advisor", "", f"**{_summary(report)}**", "", *_changes(report), *_upgrade(report)]
    parts += _survives(report)
    length = sum(len(part) + 1 for part in parts)
    for number, cause in enumerate(causes):
        if cause.severity == "note" and not options.get("all"):
            parts += _notes(causes[number:])
            break
        block = list(_cause(cause, titles, path_of))
        length += sum(len(line) + 1 for line in block)
        if length > LENGTH_MAX:
            parts.append(
                f"… and {count(len(causes) - number, 'more cause')}; `kafka-advisor audit` shows all."
            )
            break
        parts += block
    return "\n".join(parts).rstrip() + "\n"


def _summary(report: Report) -> str:
    summary = report["summary"]
    told = [count(summary[f"{word}s"], word) for word in ("error", "warning", "note") if summary[f"{word}s"]]
    compared = "baseline" in report or "changes" in report
    none = "No new finding" if compared else "No finding"
    return f"{', '.join(told) or none} in {count(summary['files'], 'file')}"


def _upgrade(report: Report) -> Iterator[str]:
    """Of `compare`: rolls that nothing stops, the steps of an upgrade, the defaults that move."""
    compared = report.get("compared", {})
    yield from (f"- {_text(roll)}" for roll in compared.get("rolls", ()))
    for number, step in enumerate(compared.get("steps", ()), 1):
        places = ", ".join(f"{at['file']}:{at['line']}" for at in step["at"])
        yield f"{number}. {_text(step['text'] + (f' ({places})' if places else ''))}"
    yield from (f"- default {_text(default)}" for default in compared.get("defaults", ()))
    if any(compared.get(name) for name in ("rolls", "steps", "defaults")):
        yield ""


def _changes(report: Report) -> Iterator[str]:
    """Of --diff-base: what the change makes worse, what it costs, and what it makes better."""
    told = report.get("changes")
    if told is None:
        return
    for key, word in (("worse", "⬇️ worse"), ("costs", "cost"), ("better", "⬆️ better")):
        yield from (f"- **{word}** {_text(sentence)}" for sentence in told[key])
    if not told["worse"] and not told["costs"] and not told["better"]:
        yield "- nothing is worse or better"
    yield ""


def _survives(report: Report) -> Iterator[str]:
    rows = [
        (deployment["id"], tuple(headline_text(deployment["headline"], deployment["guarantees"])))
        for deployment in report["deployments"]
    ]
    rows = [(name, sentences) for name, sentences in rows if sentences]
    for name, sentences in rows[:DEPLOYMENTS_MAX]:
        yield f"- {_code(name)}: {'; '.join(sentences)}"
    if len(rows) > DEPLOYMENTS_MAX:
        yield f"- and {count(len(rows) - DEPLOYMENTS_MAX, 'more deployment')}"
    if rows:
        yield ""


def _cause(cause: Cause, titles: Mapping[str, str], path_of: Any) -> Iterator[str]:
    finding = cause.first
    yield f"### {_SIGNS[cause.severity]} {cause.severity} {cause.code}: {_text(cause.title)}"
    yield ""
    yield _text(message_of(finding))
    yield ""
    places = list(dict.fromkeys(_place(one, path_of) for one in cause.findings))
    more = len(places) - PLACES_MAX
    yield f"at {', '.join(map(_code, places[:PLACES_MAX]))}" + (f" and {more} more" if more > 0 else "")
    yield ""
    bullets = list(_bullets(cause, titles))
    yield from [*bullets, ""] if bullets else []
    yield from _run(finding)


def _bullets(cause: Cause, titles: Mapping[str, str]) -> Iterator[str]:
    finding = cause.first
    if finding["assuming"]:
        yield f"- **Assuming** {_text('; '.join(finding['assuming']))}"
    for fix in finding["fixes"][:1]:
        yield f"- **Fix** {', '.join(_code(change_text(change)) for change in fix['changes'])}"
        if fix["price"]:
            yield f"- **Cost** {_text(fix['price'])}"
    yield from (f"- **Fix** {_text(step)}" for step in finding["advice"] if not finding["fixes"])
    if also := also_text(cause, titles):
        yield f"- **Also** {_text(also)}"


def _run(finding: Mapping[str, Any]) -> Iterator[str]:
    evidence = finding["evidence"]
    if not evidence["trace"]:
        return
    faults = faults_text(spent_in(evidence["trace"]))
    lines = [
        printable(line)
        for line in run_lines(run_of(evidence["trace"], evidence["guarantee"]), 100, True, "", all_rows=False)
    ]
    fence = "`" * max(3, 1 + max(map(_ticks, lines), default=0))
    yield f"<details><summary>How it happens{f' ({faults})' if faults else ''}</summary>"
    yield ""
    yield from (f"{fence}text", *lines, fence, "", "</details>", "")


def _notes(causes: Sequence[Cause]) -> Iterator[str]:
    number = sum(len(cause.findings) for cause in causes)
    rules = list(dict.fromkeys((cause.code, cause.title) for cause in causes))
    told = ", ".join(f"{code} {_text(title)}" for code, title in rules[:PLACES_MAX])
    more = len(rules) - PLACES_MAX
    yield f"{count(number, 'note')}: {told}" + (f" and {more} more" if more > 0 else "")


def _place(finding: Mapping[str, Any], path_of: Any) -> str:
    at = finding["locations"][0]
    return path_of(at["file"]) + (f":{at['line']}" if at["line"] is not None else "")


def _text(value: str) -> str:
    """Text that is shown as it is: no markup, no link, nobody mentioned."""
    plain = printable(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for letter in "\\`*_[]|~":
        plain = plain.replace(letter, f"\\{letter}")
    # A mention, a reference and a bare address are found in what is shown, so escapes do not hide them: an
    # invisible letter takes them apart.
    for sign in ("@", "#", "!", ":/", "www"):
        plain = plain.replace(sign, sign + _JOINER)
    return plain


def _code(value: str) -> str:
    plain = printable(value)
    fence = "`" * (1 + _ticks(plain))
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{space}{plain}{space}{fence}"


def _ticks(text: str) -> int:
    """The longest row of backticks."""
    longest = here = 0
    for letter in text:
        here = here + 1 if letter == "`" else 0
        longest = max(longest, here)
    return longest
