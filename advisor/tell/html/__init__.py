"""Pages for a browser, each one self-contained file: no network, light and dark.

    page("Kafka fleet", "12 services", [numbers(...), bars(...), table(...)], runs)

is a page of sections, for many rows and plots (`fleet`, `replay`); `audit_page.py` is the page of an audit,
`player.py` the run player of them all, `document.py` puts a page together. Every value is hostile: in markup
it is escaped (`markup.py`), in data it is JSON that the script puts into the document as text alone, and a
policy in the page allows its own script and style and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .causes import Drawing
from .document import document, top
from .markup import Markup, join, tag
from .player import SCRIPTS, STYLES

Section = Mapping[str, Any]


def page(
    title: str,
    about: str,
    sections: Sequence[Section],
    runs: Mapping[str, Any] | None = None,
    headline: str = "",
    lead: str = "",
) -> str:
    """`runs` are findings as in the JSON report, by code: a cell of a column of kind `run` opens one.
    `headline` answers the page's question, `lead` says a little more; without, the title is all."""
    drawing = Drawing({})
    examples = [_example(code, finding, drawing) for code, finding in (runs or {}).items()]
    body = join(
        top(title, about, wide=True),
        tag(
            "main",
            tag("h1", headline or title),
            tag("p", lead, class_="lead") if lead else None,
            tag("noscript", tag("p", "This page draws its tables with a script of its own.")),
            id="page",
            class_="sections",
        ),
        examples,
    )
    styles = ("base.css", *STYLES, "findings.css", "sections.css")
    scripts = ("dom.js", "theme.js", *SCRIPTS, "charts.js", "tables.js", "drill.js", "sections.js")
    return document(title, body, styles, scripts, {"sections": list(sections), "runs": drawing.runs})


def _example(code: str, finding: Mapping[str, Any], drawing: Drawing) -> Markup:
    close = tag("button", "Close", type="button", class_="close")
    title = tag("h2", f"{finding['code']} {finding['name']}", id=f"title-{code}")
    return tag(
        "dialog",
        close,
        title,
        drawing.example(finding),
        id=f"example-{code}",
        aria_labelledby=f"title-{code}",
    )


def numbers(items: Sequence[tuple[str, int | str, str]]) -> Section:
    """Figures with a word each; the third is a tone: "", "error", "warning" or "note"."""
    return {"kind": "numbers", "items": [list(item) for item in items]}


def text(title: str, lines: Sequence[str]) -> Section:
    return {"kind": "text", "title": title, "lines": list(lines)}


def drill(
    name: str,
    title: str,
    what: str,
    by: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
) -> Section:
    """Who has what: rows of `by` (one or two ways to group them) and `columns`, all of them text."""
    return {"kind": "drill", "name": name, "title": title, "what": what, "by": list(by),
            "columns": list(columns), "rows": [list(row) for row in rows], "note": note}  # fmt: skip


def table(
    name: str,
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    note: str = "",
    opens: Sequence[str] | None = None,
) -> Section:
    """`columns` are (name, kind): text, number, facet (few values: a filter of its own), severity, run.
    `opens` is the run that each row opens, where it is not called as the cell is."""
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
    if opens is not None:
        names = sorted(set(opens))
        places = {word: number for number, word in enumerate(names)}
        for column in made:
            if column["kind"] == "run":
                column |= {"names": names, "opens": [places[word] for word in opens]}
    return {"kind": "table", "name": name, "title": title, "columns": made, "count": len(rows), "note": note}


def bars(
    title: str, series: Sequence[tuple[str, str]], rows: Sequence[tuple[str, Sequence[int]]], note: str = ""
) -> Section:
    """Stacked bars: `series` are (name, tone), each row a label and a number for each of them."""
    return {"kind": "bars", "title": title, "series": [list(s) for s in series],
            "rows": [[label, list(values)] for label, values in rows], "note": note}  # fmt: skip


def heat(
    title: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[float | None]]],
    note: str = "",
    words: tuple[str, str] = ("all alike", "differ"),
) -> Section:
    """A grid of shares from 0 to 1; None is nothing to show. `words` say what None is, and what a share of
    the deployments does."""
    return {"kind": "heat", "title": title, "columns": list(columns),
            "rows": [[label, list(values)] for label, values in rows], "note": note,
            "words": list(words)}  # fmt: skip


def trend(title: str, labels: Sequence[str], series: Sequence[tuple[str, str, Sequence[int]]]) -> Section:
    """Lines over runs: (name, tone, values)."""
    return {
        "kind": "trend",
        "title": title,
        "labels": list(labels),
        "series": [[n, t, list(v)] for n, t, v in series],
    }
