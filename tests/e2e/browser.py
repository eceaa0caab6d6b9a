"""Pages as a reader sees them: in Chromium, with the accessibility checks of axe-core."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
AXE = ROOT / "report/node_modules/axe-core/axe.min.js"


def chromium() -> str:
    """The program; without one the test is skipped, and says how to get it."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium: apt-get install chromium, or CHROMIUM=/path/of/it")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    # As root Chromium refuses to start inside its sandbox.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=options)
        try:
            yield started
        finally:
            started.close()


class Opened:
    """A page once it is drawn, and all that went wrong on it."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text))
        page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]")

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def violations(self) -> list[Any]:
        """What axe-core objects to: rule, and the elements."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [(rule["id"], [node["html"][:200] for node in rule["nodes"][:3]]) for rule in found]


def opened(browser: Browser, file: Path, width: int = 1280, theme: Any = "light") -> Opened:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    return Opened(context.new_page(), file)
