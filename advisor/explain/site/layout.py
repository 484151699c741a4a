"""What every page of the site has: navigation, search, one style and one script in files beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import __version__
from ...tell.html.document import in_json, text_of
from ...tell.html.markup import Child, Markup, escaped, join, tag
from ...tell.html.player import SCRIPTS, STYLES
from ...tuples import NamedTuple
from ..glossary import terms

# The parts of the site: folder and what it is called.
PARTS = {
    "rules": "Rules",
    "guarantees": "Guarantees",
    "settings": "Settings",
    "scenarios": "Scenarios",
    "plugins": "Plugins",
    "real": "Real Kafka",
    "glossary": "Glossary",
}
# Nothing but what lies beside the page is run or drawn by, and nothing is asked of anybody.
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'self'; script-src 'self'"


class Page(NamedTuple):
    """`path` is relative to the site; `words` are what the search finds it by, besides its title."""

    path: str
    title: str
    kind: str
    about: str
    body: Markup
    runs: Mapping[str, Any]
    words: str = ""


def text_of_page(page: Page) -> str:
    root = "../" * page.path.count("/")
    here = page.path.partition("/")[0]
    links = [
        tag("a", name, href=f"{root}{part}/index.html", aria_current="true" if part == here else None)
        for part, name in PARTS.items()
    ]
    search = tag(
        "div",
        tag(
            "input",
            type="search",
            id="search",
            placeholder="Search",
            aria_label="search this site",
            autocomplete="off",
            data_root=root,
        ),
        tag("ul", id="found", hidden=True, aria_label="what was found"),
        class_="search",
        hidden=True,
    )
    theme = tag("button", "Theme", type="button", data_action="theme", hidden=True, title="light or dark")
    header = tag(
        "header",
        tag("a", "kafka-advisor", class_="brand", href=f"{root}index.html"),
        tag("nav", links, aria_label="parts of this site"),
        tag("span", search, theme, class_="end"),
        class_="top site",
    )
    footer = tag("footer", f"Made by kafka-advisor {__version__}. Every run was played by its simulator.")
    body = join(header, tag("main", page.body), footer)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(page.title)} · kafka-advisor</title>\n"
        f'<link rel="stylesheet" href="{root}site.css">\n</head>\n<body>\n{body}\n'
        f'<script type="application/json" id="data">{in_json({"runs": page.runs})}</script>\n'
        f'<script src="{root}search-index.js"></script>\n<script src="{root}site.js"></script>\n'
        "</body>\n</html>\n"
    )


def assets(pages: list[Page]) -> dict[str, str]:
    """The files beside the pages. The index is a script, for a page in a file may not fetch."""
    index = [[page.title, page.kind, page.path, page.words] for page in pages]
    index += [
        [term.title, "word", f"glossary/index.html#{term.id}", f"{' '.join(term.aliases)} {term.says}"]
        for term in terms()
    ]
    scripts = text_of("dom.js", "theme.js", *SCRIPTS, "findings.js", "site.js")
    return {
        "site.css": text_of("base.css", *STYLES, "findings.css", "site.css"),
        "site.js": f'"use strict";\n(() => {{\n{scripts}}})();\n',
        "search-index.js": f"const SEARCH = {in_json(index)};\n",
    }


def heading(kind: str, title: str, *more: Child) -> Markup:
    return join(tag("p", kind, class_="kind"), tag("h1", title), more)


def code(text: str) -> Markup:
    return tag("code", text)
