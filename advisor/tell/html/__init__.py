"""One self-contained HTML page: a title, numbers, plots and tables; no network, light and dark.

    page("Kafka fleet", "12 services", [numbers(...), bars(...), table(...)], runs)

Every value is hostile: data travels as JSON inside the page with `<`, `>` and `&` escaped, and the script
puts it into the document as text alone. A policy in the page forbids every request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ..run_table import trace_table

Section = Mapping[str, Any]
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(title: str, about: str, sections: Sequence[Section], runs: Mapping[str, Any] | None = None) -> str:
    """`runs` are findings as in the JSON report, by code: a cell of a column of kind `run` opens one."""
    here = files(__name__)
    style = (here / "page.css").read_text(encoding="utf-8")
    script = (here / "page.js").read_text(encoding="utf-8")
    told = {code: _run(finding) for code, finding in (runs or {}).items()}
    data = {"title": title, "about": about, "sections": list(sections), "runs": told}
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        '<noscript>This page draws its tables with a script of its own.</noscript>\n<main id="page"></main>\n'
        f'<script type="application/json" id="data">{_json(data)}</script>\n<script>\n{script}</script>\n'
        "</body>\n</html>\n"
    )


def _run(finding: Mapping[str, Any]) -> dict[str, Any]:
    """What the dialog shows; the run as the text report prints it."""
    evidence = finding.get("evidence") or {}
    trace = evidence.get("trace") or []
    return {
        "title": f"{finding['code']} {finding['name']}",
        "message": finding["message"],
        "settings": [[s["component"], s["key"], s["value"]] for s in finding.get("settings") or []],
        "steps": "\n".join(line.removeprefix("  ") for line in trace_table(trace)) if trace else "",
        "numbers": [[name, str(value)] for name, value in (evidence.get("numbers") or {}).items()],
        "fixes": [_fix(fix) for fix in finding.get("fixes") or []],
        "advice": list(finding.get("advice") or []),
    }


def _fix(fix: Mapping[str, Any]) -> dict[str, Any]:
    changes = [[c["component"], c["key"], c["from"] or "(unset)", c["to"]] for c in fix["changes"]]
    notes = [f"{word}: {fix[word]}" for word in ("condition", "price") if fix.get(word)]
    return {"changes": changes, "notes": notes}


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # A lone surrogate is no text that a file can hold.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def numbers(items: Sequence[tuple[str, int | str, str]]) -> Section:
    """Figures with a word each; the third is a tone: "", "error", "warning" or "note"."""
    return {"kind": "numbers", "items": [list(item) for item in items]}


def text(title: str, lines: Sequence[str]) -> Section:
    return {"kind": "text", "title": title, "lines": list(lines)}


def table(
    name: str,
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    note: str = "",
) -> Section:
    """`columns` are (name, kind): text, number, facet (few values: a filter of its own), severity, run."""
    made = []
    for position, (label, kind) in enumerate(columns):
        values = [row[position] for row in rows]
        if kind == "number":
            made.append({"name": label, "kind": kind, "values": values})
        else:
            # A column of names repeats few of them: each once, and a number per row.
            shown = ["" if value is None else str(value) for value in values]
            words = sorted(set(shown))
            order = {word: number for number, word in enumerate(words)}
            made.append(
                {"name": label, "kind": kind, "words": words, "rows": [order[word] for word in shown]}
            )
    return {"kind": "table", "name": name, "title": title, "columns": made, "count": len(rows), "note": note}


def bars(
    title: str, series: Sequence[tuple[str, str]], rows: Sequence[tuple[str, Sequence[int]]], note: str = ""
) -> Section:
    """Stacked bars: `series` are (name, tone), each row a label and a number for each of them."""
    return {"kind": "bars", "title": title, "series": [list(s) for s in series],
            "rows": [[label, list(values)] for label, values in rows], "note": note}  # fmt: skip


def heat(
    title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]], note: str = ""
) -> Section:
    """A grid of shares from 0 to 1; None is nothing to show."""
    return {"kind": "heat", "title": title, "columns": list(columns),
            "rows": [[label, list(values)] for label, values in rows], "note": note}  # fmt: skip


def trend(title: str, labels: Sequence[str], series: Sequence[tuple[str, str, Sequence[int]]]) -> Section:
    """Lines over runs: (name, tone, values)."""
    return {
        "kind": "trend",
        "title": title,
        "labels": list(labels),
        "series": [[n, t, list(v)] for n, t, v in series],
    }
