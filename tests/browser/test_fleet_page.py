"""report.html of a fleet in a real Chromium."""

from __future__ import annotations

from functools import cache

import pytest

from advisor.fleet.tell.page import fleet_page
from advisor.testing import audit_paths
from tests.conftest import ROOT

from .axe import violations

ROWS = 100_000
HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;"\' \u2028 ${x}'


@cache
def example():
    """As a worker tells it: of no file."""
    found = audit_paths([str(ROOT / "samples" / "quickstart")])["findings"]
    one = dict(next(finding for finding in found if finding["code"] == "KA101"))
    del one["fingerprint"]
    return {**one, "message": f"one broker crash loses a record {HOSTILE}"}


def summary(findings):
    severities = [row[0] for row in findings]
    return {
        "tool": {"version": "0"}, "at": "2027-01-01", "source": "tables", "deployments": 9, "behaviours": 3,
        "rows": {"in": 10, "audited": 9, "quarantined": 1, "repeated": 0},
        "quarantine": [{"rows": 1, "reason": HOSTILE, "example": "x"}],
        "errors": severities.count("error"), "warnings": severities.count("warning"),
        "notes": severities.count("note"),
        "findings": [
            {"code": code, "name": "a-rule", "severity": severity, "count": n, "topics": n, "clients": n,
            "teams": n, "partitions": n, "exact": True, "example": {"message": HOSTILE}}
            for n, (code, severity) in enumerate((("KA101", "error"), ("KA301", "warning")), 1)
        ],
        "examples": {
            "KA101": {**example(), "cause": "cause-1"},
            "KA101-2": {**example(), "cause": "cause-3", "message": "another cause"},
        },
        "remedies": [{"change": f"producer acks=all {HOSTILE}", "errors": 7, "rules": ["KA101"], "teams": 2,
                      "clusters": 1}],
        "guarantees": [
            {"cluster": f"cluster-{n}", "name": name, "holds": n, "broken": 4 - n, "unknown": 0}
            for n in range(5) for name in ("acked-records-survive", "writes-go-on", HOSTILE)
        ],
        "tolerance": {
            "team": [{"name": HOSTILE, "survives_lost": n, "writes_with_away": 1, "deployments": 4} for n
            in range(3)],
            "cluster": [{"name": "a", "survives_lost": None, "writes_with_away": None, "deployments": 4}],
        },
        "drift": [{"scope": "team", "name": "a", "component": "topic", "key": f"k{n}", "usual": "1",
        "value": "2", "usual_share": 0.9, "configs": 1, "of": 10} for n in range(5)],
        "trend": [{"run": "1", "at": "a", "errors": 3, "warnings": 2, "notes": 1},
                  {"run": "2", "at": "b", "errors": 1, "warnings": 2, "notes": 1}],
    }  # fmt: skip


def rows(count):
    made = []
    for n in range(count):
        severity = ("error", "warning", "note")[n % 3]
        made.append((severity, "KA101" if n % 2 else "KA301", "a-rule", f"message {n}", f"team-{n % 40}",
        f"cluster-{n % 5}",
                     f"topic-{n}", f"service-{n}", f"deployment-{n}", "f.properties", n,
                     f"cause-{n % 4}", "producer acks=all"))  # fmt: skip
    return made


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    found = rows(ROWS)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    return path


def test_filter_sort_and_open_a_run(opened, big):
    page = opened(big)
    grid = page.locator("[data-table=findings]")
    section = page.locator("section", has=grid)
    count = section.locator(".count")
    assert count.text_content() == f"{ROWS:,} of {ROWS:,}"
    assert grid.locator(".row").count() < 100, "only the rows in sight are drawn"
    section.locator("input").fill("service-99999")
    page.wait_for_function(
        "t => document.querySelector('[data-table=findings]').closest('section').querySelector('.count')"
        ".textContent === t",
        arg=f"1 of {ROWS:,}",
    )
    assert "team-39" in grid.locator(".row").first.text_content()
    section.locator("input").fill("")
    page.wait_for_function("() => document.querySelectorAll('[data-table=findings] .row').length > 5")
    section.get_by_label("owner").select_option("team-7")
    assert count.text_content() == f"{ROWS // 40:,} of {ROWS:,}"
    grid.locator(".head button", has_text="line").click()
    assert "99,967" in grid.locator(".row").first.text_content()
    grid.locator(".head button", has_text="severity").click()
    assert grid.locator(".row").first.text_content().startswith("error")
    page.locator("[data-table=rules] .row button").first.click()
    dialog = page.locator("dialog[open]")
    assert "acked-record-loss" in dialog.text_content()
    dialog.locator(".player").focus()
    page.keyboard.press("End")
    assert dialog.locator(".ending").text_content() == "r0 is lost."
    assert dialog.locator(".block.ghost").count() == 1
    assert dialog.locator(".change ins").text_content() == "acks=all"
    assert HOSTILE.replace("\u2028", "") in dialog.text_content().replace("\u2028", "")
    dialog.get_by_role("button", name="Close").click()
    assert page.title() == "Kafka fleet"


@pytest.mark.parametrize(
    ("asked", "facets", "sort", "down"),
    [
        ("topic-1234", {}, "line", True),
        ("", {"severity": "error", "owner": "team-7"}, "message", False),
        ("SERVICE-99", {"cluster": "cluster-3", "code": "KA101"}, "topic", False),
        ("nothing has this", {}, "owner", False),
    ],
)
def test_a_hundred_thousand_rows_are_filtered_and_sorted(opened, big, asked, facets, sort, down):
    """What is shown, from the first row to the last, is what Python makes of the same rows."""
    names = ("severity", "code", "name", "message", "owner", "cluster", "topic", "client", "deployment",
             "file", "line")  # fmt: skip
    wanted = [
        row
        for row in rows(ROWS)
        if any(asked.lower() in str(cell) for cell in row[: len(names)])
        and all(row[names.index(name)] == word for name, word in facets.items())
    ]
    wanted.sort(key=lambda row: row[names.index(sort)], reverse=down)
    page = opened(big)
    section = page.locator("section", has=page.locator("[data-table=findings]"))
    for name, word in facets.items():
        section.get_by_label(name, exact=True).select_option(word)
    section.locator(".head button", has_text=sort).click()
    section.locator("input").fill(asked)
    count = f"{len(wanted):,} of {ROWS:,}"
    page.wait_for_function(
        "t => [...document.querySelectorAll('.count')].some((node) => node.textContent === t)", arg=count
    )
    first = {True: wanted[:1], False: wanted[-1:]}
    for top in (True, False):
        page.evaluate(
            "top => { const grid = document.querySelector('[data-table=findings]');"
            " grid.scrollTop = top ? 0 : grid.scrollHeight; grid.onscroll(); }",
            top,
        )
        drawn = section.locator(".row")
        seen = (
            [drawn.nth(0 if top else drawn.count() - 1).locator("span").all_text_contents()] if wanted else []
        )
        assert seen == [
            [f"{cell:,}" if isinstance(cell, int) else cell for cell in row[: len(names)]]
            for row in first[top]
        ]


def test_dark_and_light(opened, tmp_path):
    found = rows(10)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path, color_scheme="light")

    def back():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = back()
    theme = page.get_by_role("button", name="Theme")
    theme.click()
    dark = back()
    assert dark != light
    theme.click()
    assert back() == light
    system = opened(path, color_scheme="dark")
    assert system.evaluate("() => getComputedStyle(document.body).backgroundColor") == dark
    picture = tmp_path / "page.png"
    page.screenshot(path=str(picture), full_page=True)
    assert picture.stat().st_size > 10_000


def test_no_request_can_leave_the_page(opened, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary([]), []), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert opened(path).locator("section.card").count() > 4


def test_it_answers_which_topics_and_whose(opened, tmp_path):
    found = rows(400)
    losing = [row for row in found if row[0] == "error" and row[1] == "KA101"]
    topics = {(row[4], row[5], row[6]) for row in losing}
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path)
    headline = f"{len(topics)} topics can lose confirmed records when one broker dies"
    assert page.locator("h1").text_content() == headline
    title = "Topics that can lose confirmed records when one broker dies"
    section = page.locator("section", has=page.get_by_role("heading", name=title))
    teams = sorted({owner for owner, _, _ in topics})
    assert section.locator(".drill > details").count() == len(teams)
    first = section.locator(".drill > details").first
    first.locator("summary").click()
    name = first.locator(".who").text_content()
    shown = {tuple(line.locator("td").all_text_contents()[:2]) for line in first.locator("tbody tr").all()}
    assert shown == {(cluster, topic) for owner, cluster, topic in topics if owner == name}
    first.get_by_role("button", name="All findings of this one").click()
    grid = page.locator("section", has=page.locator("[data-table=findings]"))
    assert grid.locator(".count").text_content() == f"{sum(row[4] == name for row in found)} of 400"
    section.get_by_text("By cluster").click()
    assert section.locator(".drill > details").count() == len({cluster for _, cluster, _ in topics})
    section.locator("input[type=search]").fill("team-7")
    assert (
        section.locator(".filters .count")
        .text_content()
        .startswith(f"{sum('team-7' in owner for owner, _, _ in topics)} topics")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_axe(opened, tmp_path, scheme):
    found = rows(60)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path, color_scheme=scheme)
    page.locator(".drill summary").first.click()
    assert violations(page) == []
    page.locator("[data-table=rules] .row button").first.click()
    assert violations(page) == []


def test_a_phone_needs_no_sideways_scrolling(opened, tmp_path):
    found = rows(60)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path, viewport={"width": 360, "height": 780})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    # The plots themselves are in sight beside their labels, and no word of them is small.
    for title in ("Guarantees by cluster", "How many lost brokers the deployments of each cluster survive"):
        section = page.locator("section", has=page.get_by_role("heading", name=title))
        boxes = [one.bounding_box() for one in section.locator("rect").all()]
        assert min(box["x"] for box in boxes) < 200, title
        assert sum(box["x"] + box["width"] <= 360 for box in boxes) >= min(4, len(boxes)), title
        height = section.locator("svg text").first.bounding_box()["height"]
        assert height >= 11, title


def test_a_row_opens_the_run_of_its_own_cause(opened, tmp_path):
    found = rows(12)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path)
    for number, said in ((1, "one broker crash loses a record"), (3, "another cause")):
        row = page.locator("[data-table=findings] .row", has_text=f"topic-{number}").first
        row.get_by_role("button", name="KA101").click()
        dialog = page.locator("dialog[open]")
        assert said in dialog.text_content()
        dialog.get_by_role("button", name="Close").click()


def test_a_team_opens_to_its_errors_and_what_clears_them(opened, tmp_path):
    found = rows(400)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path)
    section = page.locator("section", has=page.get_by_role("heading", name="Errors of each team"))
    errors = [row for row in found if row[0] == "error"]
    assert section.locator(".drill > details").count() == len({row[4] for row in errors})
    first = section.locator(".drill > details").first
    first.locator("summary").click()
    name = first.locator(".who").text_content()
    lines = [tuple(line.locator("td").all_text_contents()) for line in first.locator("tbody tr").all()]
    wanted = sorted(
        (row[5], row[6], f"{row[1]} {row[2]}", "producer acks=all") for row in errors if row[4] == name
    )
    assert sorted(lines) == wanted
    cleared = page.locator("section", has=page.get_by_role("heading", name="What clears most errors"))
    assert "producer acks=all" in cleared.locator(".row").first.text_content()
    heat = page.locator("section", has=page.get_by_role("heading", name="Guarantees by cluster"))
    assert heat.locator("rect").count() == 15
    told = heat.locator("rect title").all_text_contents()
    assert "cluster-1, acked-records-survive: 75.0% can break it" in told
