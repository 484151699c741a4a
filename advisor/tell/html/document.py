"""One self-contained file: its own styles and scripts, no request to anybody.

A policy in the page names its one style and its one script by their digests: nothing else is run, drawn by or
fetched, whatever a value in the page looks like. Data travels as JSON with `<`, `>` and `&` escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from .markup import Markup, escaped, tag


def document(
    title: str,
    body: Markup,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Any] | None = None,
) -> str:
    """`styles` and `scripts` are names of files in static/, in the order in which they are put together."""
    style = text_of(*styles)
    script = '"use strict";\n(() => {\n' + text_of(*scripts) + "})();\n"
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{in_json(data or {})}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def text_of(*names: str) -> str:
    here = files(__package__) / "static"
    return "".join((here / name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def in_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # A lone surrogate is no text that a file can hold.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def top(page: str, about: str, *more: Markup, wide: bool = False) -> Markup:
    """The line above every page: what made it, of what."""
    theme = tag("button", "Theme", type="button", data_action="theme", hidden=True, title="light or dark")
    return tag(
        "header",
        tag("span", "kafka-advisor", class_="brand"),
        tag("span", page),
        tag("span", about) if about else None,
        tag("span", *more, theme, class_="end"),
        class_="top sections" if wide else "top",
    )
