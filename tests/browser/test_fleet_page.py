"""report.html of a fleet in a real Chromium."""

from __future__ import annotations

import pytest

from advisor.fleet.tell.page import fleet_page

ROWS = 100_000
HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;"\' \u2028 ${x}'


def summary(findings):
    severities = [row[0] for row in findings]
    example = {
        "code": "KA101",
        "name": "acked-record-loss",
        "message": f"one broker crash loses a record {HOSTILE}",
        "settings": [{"component": "producer", "key": "acks", "value": "1"}],
        "evidence": {
            "trace": [
                {"step": 1, "event": {"name": "crash", "text": "crash b0", "broker": 0}, "effects": [],
                 "state": {"leader": 0, "epoch": 0, "isr": [0], "elr": [], "hw": 1, "remote_leo": {},
                           "replicas": [{"id": 0, "alive": False, "leo": 1, "hw": 1, "log": ["r0"]}]}}
            ],
            "numbers": {"spent": "broker_crash 1"},
        },
        "fixes": [
            {"changes": [{"component": "producer", "key": "acks", "from": "1", "to": "all"}], "price": "one",
             "condition": None}
        ],
        "advice": [],
    }  # fmt: skip
    return {
        "tool": {"version": "0"}, "at": "2027-01-01", "source": "tables", "deployments": 9, "behaviours": 3,
        "rows": {"in": 10, "audited": 9, "quarantined": 1},
        "quarantine": [{"rows": 1, "reason": HOSTILE, "example": "x"}],
        "errors": severities.count("error"), "warnings": severities.count("warning"),
        "notes": severities.count("note"),
        "findings": [
            {"code": code, "name": "a-rule", "severity": severity, "count": n, "topics": n, "clients": n,
            "teams": n, "partitions": n, "exact": True, "example": {"message": HOSTILE}}
            for n, (code, severity) in enumerate((("KA101", "error"), ("KA301", "warning")), 1)
        ],
        "examples": {"KA101": example},
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
                     f"topic-{n}", f"service-{n}", f"deployment-{n}", "f.properties", n))  # fmt: skip
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
    assert "crash b0" in dialog.locator("pre").text_content()
    assert "b0!:[r0]" in dialog.locator("pre").text_content()
    assert "price: one" in dialog.text_content()
    assert HOSTILE.replace("\u2028", "") in dialog.text_content().replace("\u2028", "")
    dialog.get_by_text("close").click()
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
        if any(asked.lower() in str(cell) for cell in row)
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
            [f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in first[top]
        ]


def test_dark_and_light(opened, tmp_path):
    found = rows(10)
    path = tmp_path / "report.html"
    path.write_text(fleet_page(summary(found), found), encoding="utf-8")
    page = opened(path, color_scheme="light")

    def back():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = back()
    page.locator("#theme").click()
    dark = back()
    assert dark != light
    page.locator("#theme").click()
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
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert opened(path).locator("section").count() > 4
