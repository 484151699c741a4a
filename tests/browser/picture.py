"""`python -m tests.browser.picture`: the picture of README.md, taken from the page that `audit` makes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT, needs

PICTURE = ROOT / "samples" / "player.png"


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page_file = Path(folder) / "audit.html"
        words = ["-m", "advisor", "audit", "-q", "--report", f"html={page_file}", "samples/quickstart"]
        subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        browser = play.chromium.launch(executable_path=needs("chromium"), args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": 860, "height": 900}, device_scale_factor=1.5, color_scheme="light"
        )
        page.goto(page_file.as_uri())
        player = page.locator(".player").first
        player.focus()
        page.keyboard.press("End")
        # The frame around what has the keyboard is no part of the picture.
        page.evaluate("document.activeElement.blur()")
        player.screenshot(path=str(PICTURE), animations="disabled")
        browser.close()


if __name__ == "__main__":
    main()
