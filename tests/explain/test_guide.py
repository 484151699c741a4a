"""Every block of the guide for plugin authors is run, and every page of it is made."""

from __future__ import annotations

import re

import pytest

from advisor import api
from advisor.explain.site.layout import text_of_page
from advisor.explain.site.plugin_pages import plugin_pages
from advisor.hookspecs import Hooks

from .guide import PAGES, same, told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_guide_says_is_what_happens(page, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    for block, run in told(page, folder):
        for words, said, printed in run:
            told_now = f"{page.name}:{block.line}: {words}\n{printed}\npython -m tests.rewrite guide"
            assert same(said, printed), told_now


def test_the_pages_of_the_guide():
    pages = {page.path: text_of_page(page) for page in plugin_pages()}
    assert {"plugins/index.html", "plugins/api.html", "plugins/fields.html"} < pages.keys()
    for path, text in pages.items():
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids)), path
        for link in re.findall(r'href="([a-z-]+\.html)', text):
            assert f"plugins/{link}" in pages, f"{path} leads to {link}"


def test_the_api_page_has_every_hook_and_every_name():
    page = next(page for page in plugin_pages() if page.path == "plugins/api.html")
    assert [name for name in vars(Hooks) if name.startswith("advisor_") and name not in page.body] == []
    assert [name for name in dir(api) if name not in page.body] == []
    assert "advisor." not in re.sub(r"advisor\.(api|testing|toml)", "", page.body)
