"""The site of `kafka-advisor docs`: every link leads somewhere, the search asks nobody, runs are played."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import PurePosixPath

import pytest

from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.testing import run_command

from .axe import violations

REGISTRY = load_registry()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = run_command(tmp_path_factory.mktemp("cache"), "docs", folder, timeout=900)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d{3} pages: open .*/site/index\.html\n", done.stdout)
    return folder


class Read(HTMLParser):
    """The links, the ids and what is loaded of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.loaded = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name in ("src", "href"):
            if tag in ("script", "link", "img") and name in given:
                self.loaded.append(given[name])


@pytest.fixture(scope="module")
def pages(site):
    return {
        path.relative_to(site).as_posix(): Read(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


def target(page, link):
    path, _, fragment = link.partition("#")
    parts = []
    for part in (*PurePosixPath(page).parent.parts, *PurePosixPath(path).parts):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts) if path else page, fragment


def test_every_link_leads_somewhere(site, pages):
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    for page, read in pages.items():
        for link in (*read.links, *read.loaded):
            path, fragment = target(page, link)
            assert path in files, f"{page} -> {link}"
            assert not fragment or fragment in pages[path].ids, f"{page} -> {link}"
        assert [name for name, times in Counter(read.ids).items() if times > 1] == [], page


def test_every_page_is_led_to(pages):
    reached, waiting = set(), ["index.html"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [target(page, link)[0] for link in pages[page].links]
    assert reached == set(pages)


def test_there_is_a_page_for_each(pages):
    rules = load_packs(REGISTRY.packs, (), Cache(None))
    assert {f"rules/{rule.code}.html" for rule in rules} <= set(pages)
    assert {f"guarantees/{name}.html" for name in REGISTRY.guarantees} <= set(pages)
    assert {"settings/acks.html", "settings/segment.bytes.html", "scenarios/unclean-election.html"} <= set(
        pages
    )
    assert len([page for page in pages if page.startswith("settings/")]) > 500


def test_no_page_asks_anybody(site):
    for path in site.rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text) == []
            if path.suffix == ".html":
                assert "default-src 'none'" in text
                assert "unsafe" not in text


def test_search_by_keyboard(opened, site):
    page = opened(site / "index.html", within=site)
    page.keyboard.press("/")
    page.keyboard.type("insync")
    found = page.locator("#found a")
    assert found.first.text_content() == "min.insync.replicassetting"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()
    page.keyboard.type("high watermark")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary/index.html#hw")


def test_the_runs_of_a_setting_and_a_rule_are_played(opened, site):
    page = opened(site / "settings" / "acks.html", within=site)
    assert page.locator(".tried tr").count() == 3
    assert "nothing found" in page.locator(".tried tr").last.text_content()
    player = page.locator(".player").last
    player.focus()
    page.keyboard.press("End")
    assert player.locator(".ending").text_content() == "r0 is lost."
    page = opened(site / "rules" / "KA101.html", within=site)
    page.locator(".player").focus()
    page.keyboard.press("f")
    page.keyboard.press("End")
    assert "no confirmed record is lost" in page.locator(".ending.good").text_content()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("index.html", "light"),
        ("rules/index.html", "dark"),
        ("rules/KA421.html", "light"),
        ("settings/acks.html", "dark"),
        ("settings/index.html", "light"),
        ("glossary/index.html", "light"),
        ("scenarios/s1-three-replicas.html", "dark"),
        ("guarantees/storage-bounded.html", "light"),
        ("plugins/index.html", "light"),
        ("plugins/hooks.html", "dark"),
        ("plugins/fields.html", "light"),
        ("plugins/api.html", "light"),
    ],
)
def test_nothing_serious_for_axe_and_no_sideways_scrolling(opened, site, name, scheme):
    page = opened(site / name, within=site, color_scheme=scheme)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 780})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
