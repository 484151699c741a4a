"""The page about real Kafka: which findings were played on a real cluster, and what came of it."""

from __future__ import annotations

from typing import Any

from ...real.reproduced import checked, reproduced
from ...tell.html.markup import Child, Markup, join, tag, wide
from .layout import Page, code, heading
from .pages import Site

_HEADS = ("Finding", "Settings", "Seen on", "As audited", "Fix", "With the fix")


def real_page(site: Site) -> Page:
    rows = reproduced()
    gone = sum(one["seen"] > 0 and one["seen_with_fix"] == 0 for one in rows)
    lead = (
        f"{len(rows)} findings were played on throw-away clusters, step by step as the simulator tells them: "
        f"{sum(one['seen'] > 0 for one in rows)} were seen, {gone} of them were gone with the fix."
    )
    head = tag("tr", [tag("th", word, scope="col") for word in _HEADS])
    body = [_row(site, one) for one in rows]
    table = tag("table", tag("thead", head), tag("tbody", body), class_="plain")
    how = [
        tag(
            "p", "Play one of your own: ", code("kafka-advisor reproduce --fetch --finding KA101 PATHS"), "."
        ),
        tag(
            "p",
            "A race says in how many of its tries it was hit. Where no fix is named, none is offered: what "
            "helps is other code or another deployment.",
            class_="note",
        ),
    ]
    body_parts = [
        heading("Real Kafka", "Played on real clusters"),
        tag("p", lead, class_="lead"),
        how,
        wide("findings", table),
        _checked(),
    ]
    return Page("real/index.html", "Played on real clusters", "part", lead, join(*body_parts), {})


def _checked() -> Markup:
    """How the model was checked, on how many cases nobody had seen, and when."""
    rows = [
        tag(
            "tr",
            tag("td", one["mechanism"]),
            tag("td", one["how"]),
            tag("td", one["kafka"]),
            tag("td", f"{one['cases']:,}", class_="number"),
            tag("td", f"{one['agree']:,}", class_="number"),
            tag("td", str(one.get("mean_set_size", "")), class_="number"),
            tag("td", one["on"]),
            tag("td", one.get("note", "")),
        )
        for one in checked()
    ]
    heads = (
        "Mechanism",
        "Checked by",
        "Kafka",
        "Cases",
        "Agree at first contact",
        "Outcomes allowed",
        "On",
        "",
    )
    head = tag("tr", [tag("th", word, scope="col") for word in heads])
    lead = (
        "Fresh cases are drawn for every check, and counted before anything is mended. Where a clock "
        "decides, the simulator gives a set of outcomes, and what the real cluster did must be among them: "
        "how many it allows on average is told beside."
    )
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="plain")
    return join(
        tag("h2", "How the model is kept honest"), tag("p", lead), wide("how the model was checked", table)
    )


def _row(site: Site, one: dict[str, Any]) -> Markup:
    fixed: Child = None
    if one["tries_with_fix"] is not None:
        fixed = _told(one["reality_with_fix"], one["seen_with_fix"], one["tries_with_fix"])
    return tag(
        "tr",
        tag("td", site.link(one["code"])),
        tag("td", one["case"].replace("-", " ")),
        tag("td", f"Kafka {one['kafka']}, {one['on']}"),
        tag("td", _told(one["reality"], one["seen"], one["tries"])),
        tag("td", code(one["fix"]) if one["fix"] else ""),
        tag("td", fixed),
    )


def _told(words: str, hits: int, tries: int) -> str:
    return f"{words} (in {hits} of {tries} tries)" if tries > 1 else words
