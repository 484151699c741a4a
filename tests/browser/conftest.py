"""The installed Chromium, with a profile of its own, driven by playwright."""

from __future__ import annotations

import pytest

from ..conftest import needs


@pytest.fixture(scope="session")
def browser():
    chromium = needs("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        launched = play.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        launched.close()


@pytest.fixture
def opened(browser):
    """`opened(path)` gives a page; at the end: no error, no warning in its console, no request but the page,
    or what lies in the folder `within`."""
    seen: list[str] = []
    pages = []

    def open_page(path, within=None, **options):
        def requested(request):
            if within is None or not request.url.startswith(within.as_uri()):
                seen.append(f"request: {request.url}")

        page = browser.new_page(**{"viewport": {"width": 1300, "height": 900}, **options})
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("request", requested)
        page.goto(path.as_uri())
        if within is None:
            seen.remove(f"request: {path.as_uri()}")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert seen == []
