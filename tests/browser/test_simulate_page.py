"""The pages of `simulate` in a real Chromium: settings, scenarios and a schedule."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT

from .axe import violations

SCENARIOS = sorted((ROOT / "samples" / "scenarios").glob("*.toml"))


@pytest.fixture
def simulated(advisor, tmp_path):
    def run(*words):
        path = tmp_path / "page.html"
        done = advisor("simulate", *words, "--report", f"html={path}", cwd=ROOT)
        assert done.stderr == ""
        assert path.stat().st_size < 1_000_000
        return path

    return run


def test_settings_with_every_guarantee_and_the_fix(opened, simulated):
    page = opened(simulated("--set", "producer.acks=1"))
    assert page.locator("h1").text_content() == "acks=1"
    assert page.locator(".answer .figure").all_text_contents() == ["0", "2"]
    broken = page.locator("details.finding[open]")
    assert broken.locator(".place").all_text_contents() == [
        "acked-records-survive",
        "records-stored-once",
        "send-order-kept",
    ]
    player = broken.first.locator(".player")
    player.locator(".versions").get_by_text("With acks=all").click()
    player.focus()
    page.keyboard.press("End")
    assert "no confirmed record is lost" in player.locator(".ending.good").text_content()
    assert violations(page) == []


def test_a_schedule_is_brokers_and_curves(opened, simulated):
    page = opened(simulated("--schedule", "samples/schedules/leader-killed.toml"))
    player = page.locator(".player")
    assert player.locator(".stage svg").count() == 2
    assert player.locator(".shade.outage").count() == 1
    player.focus()
    page.keyboard.press("End")
    assert player.locator(".key.good").text_content() == "2,000 confirmed"
    assert player.locator(".client text").all_text_contents() == ["Producer", "2,000 confirmed"]
    assert "14 of 14" in page.locator("table").first.text_content()
    assert violations(page) == []


def test_every_scenario_is_played_to_its_end(opened, simulated):
    page = opened(simulated(*SCENARIOS))
    assert page.locator("h2").filter(has_text=re.compile("^Played on$")).count() == len(SCENARIOS)
    players = page.locator(".player")
    assert players.count() > len(SCENARIOS) / 2
    for player in players.all():
        player.focus()
        page.keyboard.press("End")
        count = player.locator(".count").text_content()
        assert re.search(r"(\d+) of \1$", count), count
        assert player.locator(".stage > *").count() == 1


def test_json_and_text_are_what_they_are_without_a_page(advisor, tmp_path):
    words = ("simulate", "--set", "producer.acks=1")
    plain = {name: advisor(*words, "--format", name).stdout for name in ("text", "json")}
    page, data = tmp_path / "page.html", tmp_path / "data.json"
    done = advisor(*words, "--report", f"html={page}", "--report", f"json={data}")
    assert done.stdout == plain["text"]
    assert data.read_text() == plain["json"]
    assert all(entry["trace"] == [] for entry in json.loads(plain["json"])["guarantees"])
    assert advisor(*words, "--format", "html").stdout == page.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--report", "yaml=x"), "--report yaml=x: write NAME=FILE, with text, json, html for NAME"),
        (("--report", "html"), "--report html: write NAME=FILE"),
    ],
)
def test_a_report_that_cannot_be_made_is_told(advisor, words, told):
    done = advisor("simulate", "--set", "producer.acks=1", *words)
    assert done.returncode == 2
    assert told in done.stderr
