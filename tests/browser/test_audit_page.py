"""The page of an audit in a real Chromium: what a person sees, plays, filters and links to."""

from __future__ import annotations

import re
from typing import Any

import pytest

from advisor.engine import Options, audit
from advisor.tell.fixed_runs import fixed_runs
from advisor.tell.html.audit_page import audit_page
from advisor.tell.report import build_report
from tests.conftest import ROOT

from .axe import violations

HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;"\' \u2028 ${x}'
SAMPLES = ("quickstart", "slow-consumer", "storage", "transactions", "delivery")


def report_on(name: str) -> dict[str, Any]:
    options = Options(paths=(str(ROOT / "samples" / name),), cache=False)
    found = audit(options)
    return {**build_report(found), "fixed_runs": fixed_runs(found, options)}


@pytest.fixture(scope="module")
def reports():
    return {name: report_on(name) for name in SAMPLES}


@pytest.fixture(scope="module")
def pages(reports, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, report in reports.items():
        (folder / f"{name}.html").write_text(audit_page(report), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in reports}


def finding(report, code):
    return next(one for one in report["findings"] if one["code"] == code)


def player_of(page, report, code):
    return page.locator(f"#run-{finding(report, code)['fingerprint']}")


def test_it_opens_with_the_two_numbers_and_the_causes(opened, pages):
    page = opened(pages["quickstart"])
    assert page.locator(".answer .figure").all_text_contents() == ["0", "2"]
    assert "losing any one broker can lose confirmed records" in page.locator(".answer").text_content()
    # One line of one file: one cause, and what else it does under it.
    causes = page.locator("section > details.finding")
    assert causes.count() == 1
    assert causes.locator("details.finding").count() == 2
    assert causes.locator(".change ins").first.text_content() == "acks=all"


def test_a_run_is_played_by_keyboard(opened, pages, reports):
    page = opened(pages["quickstart"])
    player = player_of(page, reports["quickstart"], "KA101")
    player.focus()
    count, sentence, ending = (player.locator(name) for name in (".count", ".sentence", ".ending"))
    assert count.text_content() == "1 of 4"
    assert player.locator(".chip.confirmed").count() == 1
    page.keyboard.press("ArrowRight")
    assert sentence.text_content().startswith("Broker 0 crashes.")
    assert player.locator(".broker.changed").count() == 1
    assert ending.is_hidden()
    page.keyboard.press("End")
    assert count.text_content() == "4 of 4"
    assert ending.text_content() == "r0 is lost."
    assert player.locator(".block.ghost").count() == 1
    assert "lost" in player.locator(".chip").text_content()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert count.text_content() == "1 of 4"
    page.keyboard.press("Space")
    page.wait_for_function(
        "node => node.querySelector('.count').textContent === '2 of 4'", arg=player.element_handle()
    )
    assert player.locator(".play").text_content() == "Pause"
    page.keyboard.press("Space")
    assert player.locator(".play").text_content() == "Play"


def test_the_scrubber_goes_to_any_step(opened, pages, reports):
    page = opened(pages["quickstart"])
    player = player_of(page, reports["quickstart"], "KA101")
    player.locator(".scrub").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert player.locator(".count").text_content() == "3 of 4"
    assert "step 3 of 4" in player.locator(".scrub").get_attribute("aria-valuetext")


def test_the_fix_is_a_switch_away_and_ends_well(opened, pages, reports):
    page = opened(pages["quickstart"])
    player = player_of(page, reports["quickstart"], "KA101")
    player.locator(".versions").get_by_text("With acks=all").click()
    assert player.locator(".count").text_content() == "1 of 6"
    player.focus()
    page.keyboard.press("End")
    ending = player.locator(".ending.good")
    assert ending.text_content() == "Broker 1 leads and has r0: no confirmed record is lost."
    assert player.locator(".broker.leads .block").count() == 1
    page.keyboard.press("f")
    assert player.locator(".count").text_content() == "1 of 4"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_step_of_every_run_is_drawn(opened, pages, reports, name):
    """What the page draws at each step is the run that the report carries: sentence by sentence."""
    from advisor.tell.run.build import run_of

    page = opened(pages[name])
    page.evaluate("() => document.querySelectorAll('details.finding').forEach((node) => (node.open = true))")
    for one in reports[name]["findings"]:
        if not one["evidence"]["trace"] or one["suppressed"]:
            continue
        player = player_of(page, reports[name], one["code"])
        player.focus()
        page.keyboard.press("Home")
        for row in run_of(one["evidence"]["trace"], one["evidence"]["guarantee"]).rows:
            assert player.locator(".sentence").text_content() == row.words
            assert player.locator(".stage > *").count() == 1
            page.keyboard.press("ArrowRight")


def test_a_group_is_drawn_as_lanes_over_time(opened, pages, reports):
    page = opened(pages["slow-consumer"])
    player = player_of(page, reports["slow-consumer"], "KA431")
    assert player.locator(".lane .name").all_text_contents() == ["Member 0", "Member 1", "Not read"]
    player.focus()
    page.keyboard.press("End")
    assert "unread for 3 min 00 s" in player.locator(".ending").text_content()
    assert player.locator(".nobody .bar").count() == 2
    assert player.locator(".event.bad").count() == 1


def test_an_outage_is_drawn_as_curves(opened, pages, reports):
    page = opened(pages["delivery"])
    player = player_of(page, reports["delivery"], "KA321")
    assert player.locator(".shade.outage").count() == 1
    player.focus()
    page.keyboard.press("End")
    assert player.locator(".key.error").text_content() == "494 failed"
    page.keyboard.press("f")
    page.keyboard.press("End")
    assert player.locator(".ending.good").text_content() == "No record fails."


def test_findings_are_filtered(opened, pages, reports):
    page = opened(pages["delivery"])
    causes = page.locator("section > details.finding")
    count = causes.count()
    assert count > 2
    page.get_by_label("filter by any word").fill("buffer.memory")
    assert 0 < causes.and_(page.locator(":visible")).count() < count
    assert re.fullmatch(rf"\d of {count}", page.locator(".filters .count").text_content())
    page.get_by_label("filter by any word").fill("")
    page.locator(".filters input[value=warning]").uncheck()
    shown = causes.and_(page.locator(":visible"))
    assert {node.get_attribute("data-severity") for node in shown.all()} == {"note"}


def test_a_link_opens_a_finding(opened, pages, reports, browser):
    nested = finding(reports["quickstart"], "KA302")["fingerprint"]
    page = opened(pages["quickstart"])
    assert page.locator(f"#run-{nested}").is_hidden()
    page.evaluate("hash => { location.hash = hash }", nested)
    page.wait_for_function("name => document.getElementById(name).open", arg=nested)
    assert page.locator(f"#run-{nested}").is_visible()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [*((name, "light") for name in SAMPLES), ("quickstart", "dark"), ("slow-consumer", "dark")],
)
def test_nothing_serious_for_axe(opened, pages, name, scheme):
    page = opened(pages[name], color_scheme=scheme)
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => (node.open = true))")
    assert violations(page) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_a_phone_needs_no_sideways_scrolling(opened, pages, name):
    page = opened(pages[name])
    page.set_viewport_size({"width": 360, "height": 780})
    page.evaluate("() => document.querySelectorAll('details').forEach((node) => (node.open = true))")
    page.wait_for_timeout(100)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    outside = page.evaluate(
        "() => [...document.querySelectorAll('.stage svg')].filter((svg) => svg.clientWidth > 340).length"
    )
    assert outside == 0


def test_the_theme_can_be_chosen(opened, pages):
    page = opened(pages["quickstart"], color_scheme="light")

    def back():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = back()
    page.get_by_role("button", name="Theme").click()
    assert back() != light
    page.get_by_role("button", name="Theme").click()
    assert back() == light


def test_print_shows_every_step_and_no_button(opened, pages):
    page = opened(pages["quickstart"])
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".transcript li").first.is_visible()
    assert page.locator(".controls").first.is_hidden()
    assert page.locator(".stage").first.is_hidden()


def test_without_a_script_everything_is_there_to_read(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["quickstart"].as_uri())
    assert page.locator(".answer .figure").all_text_contents() == ["0", "2"]
    page.locator(".transcript summary").first.click()
    assert "Broker 0 crashes" in page.locator(".transcript").first.inner_text()
    assert page.locator(".filters").count() == 0
    context.close()


# Words of the report itself, which no file can change.
OURS = {"error", "warning", "note", "audited", "set", "add", "remove", "broken", "holds"}


def test_hostile_values_are_text(opened, reports, tmp_path):
    def spoilt(value):
        if isinstance(value, str):
            return f"{value}{HOSTILE}" if value not in OURS else value
        if isinstance(value, list):
            return [spoilt(one) for one in value]
        return {key: spoilt(one) for key, one in value.items()} if isinstance(value, dict) else value

    report = reports["quickstart"]
    whole = {**report, "fixed_runs": {}}
    for name in ("findings", "files", "deployments", "profile"):
        whole[name] = spoilt(report[name])
    # The runs and their names are the simulator's own.
    for made, one in zip(whole["findings"], report["findings"], strict=True):
        numbers = {HOSTILE: HOSTILE}
        made |= {"evidence": {**one["evidence"], "numbers": numbers}, "fingerprint": one["fingerprint"]}
    path = tmp_path / "hostile.html"
    path.write_text(audit_page(whole), encoding="utf-8")
    page = opened(path)
    assert page.title() == "Kafka audit"
    assert page.locator("img").count() == 0
    assert HOSTILE.split("\u2028", maxsplit=1)[0] in page.locator(".title").first.text_content()


@pytest.mark.parametrize("name", SAMPLES)
def test_one_small_file_that_asks_nobody(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert re.findall(r"https?://[^\"' ]+", text.replace("http://www.w3.org/2000/svg", "")) == []


def multiplied(one, number, **change):
    """The same finding in another file."""
    place = [{**one["locations"][0], "file": f"service-{number}/producer.properties"}]
    changes = [{**one["fixes"][0]["changes"][0], "file": place[0]["file"], **change}]
    fix = {**one["fixes"][0], "changes": changes}
    return {**one, "fingerprint": f"{number:016x}", "locations": place, "fixes": [fix]}


def test_a_page_of_very_many_findings_stays_small(reports):
    report = reports["quickstart"]
    one = finding(report, "KA101")
    many = [multiplied(one, number, to=f"all-{number}") for number in range(3000)]
    text = audit_page({**report, "findings": many, "fixed_runs": {}})
    assert len(text.encode()) < 1_000_000
    assert re.search(r"and [\d,]+ more causes", text)


def test_what_is_wrong_in_one_way_in_many_files_is_told_once(opened, reports, tmp_path):
    report = reports["quickstart"]
    many = [multiplied(finding(report, "KA101"), number) for number in range(30)]
    path = tmp_path / "many.html"
    path.write_text(audit_page({**report, "findings": many, "fixed_runs": {}}), encoding="utf-8")
    page = opened(path)
    assert page.locator("section > details.finding").count() == 1
    assert "The same in 29 more places" in page.locator("section > details.finding").inner_text()
    # A link to any of them leads to it.
    page.evaluate(f"location.hash = '{many[17]['fingerprint']}'")
    assert page.get_by_text("service-17/producer.properties").is_visible()


def test_what_a_change_makes_worse_stands_first(opened, reports, tmp_path):
    worse = "acknowledged records: survived 1 lost broker, now 0"
    changes = {"base": "main", "worse": [worse], "costs": [], "better": []}
    path = tmp_path / "diff.html"
    path.write_text(audit_page({**reports["quickstart"], "changes": changes}), encoding="utf-8")
    page = opened(path)
    assert page.get_by_role("heading", name="Compared with main").is_visible()
    assert page.get_by_text(worse).is_visible()
