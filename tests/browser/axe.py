"""axe-core, brought by a package of the test environment and run inside a page: what it calls serious."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def _source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(page) -> list[str]:
    """Not by a script tag: the page's own policy allows none but its own."""
    page.evaluate(_source())
    found = page.evaluate("() => axe.run({ preload: false })")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
