"""The sliders of a report: what a change would bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser
from tests.e2e.browser import Opened, browser, opened

from iostrata.replay.choices import Choices
from iostrata.show.report.page import page
from iostrata.show.report.tests.samples import HOSTILE, explained_example, what_if

PREDICTED, CAPTION = "#what-if .predicted", "#what-if .caption"


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("what-if"), msgspec.convert(what_if(3, "x"), Choices))


def written(folder: Path, choices: Choices) -> Path:
    file = folder / "report.html"
    made = msgspec.structs.replace(explained_example(), what_if=choices)
    file.write_text(page(made), "utf-8")
    return file


def keyed(found: Opened, slider: int, *keys: str) -> None:
    found.page.locator("#what-if input[type=range]").nth(slider).focus()
    for key in keys:
        found.page.keyboard.press(key)


def test_sliders_are_moved_together_and_with_keys(chrome: Browser, report: Path) -> None:
    found = opened(chrome, report)
    # at first as recorded, whatever its replay takes
    assert found.texts(PREDICTED) == ["40.00 s\nas recorded"]
    assert "The replay without a change takes 41.00 s (+2.5 %)" in found.texts(CAPTION)[1]
    keyed(found, 0, "ArrowRight")
    slower = "20.00 s\n50 % less than recorded\n20.00 s to 21.00 s, nine times of ten"
    assert found.texts(PREDICTED) == [slower]
    keyed(found, 1, "Home")
    assert found.texts(PREDICTED)[0].startswith("30.00 s\n25 % less")
    keyed(found, 0, "Home")
    assert found.texts(PREDICTED)[0].startswith("72.00 s\n80 % more")
    rows = [text.split("\t") for text in found.texts("#what-if tbody tr")]
    assert rows == [[f"{n} x", "13.33 s", "24.00 s", "+10.67 s"] for n in range(3)]
    assert "10.00 s → 18.00 s for a map" in found.texts("#what-if .sums")[0]
    heard = found.page.locator("#what-if input").first.get_attribute("aria-valuetext")
    assert (heard, found.faults) == ("0.5x", [])


def test_paper_shows_the_run_as_it_was(chrome: Browser, report: Path) -> None:
    found = opened(chrome, report)
    keyed(found, 0, "ArrowRight")
    found.page.emulate_media(media="print")
    found.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert found.texts(PREDICTED) == ["40.00 s\nas recorded"]
    assert not found.page.locator("#what-if input").first.is_visible()
    found.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert found.texts(PREDICTED)[0].startswith("20.00 s")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(chrome: Browser, report: Path, theme: str) -> None:
    found = opened(chrome, report, theme=theme)
    keyed(found, 0, "ArrowRight")
    assert found.violations() == []


def test_a_run_that_is_too_large_says_why(chrome: Browser, tmp_path: Path) -> None:
    found = opened(chrome, written(tmp_path, Choices(f"too much; {HOSTILE}", 9)))
    assert found.texts("#what-if .nothing")[0].startswith("Not made: too much; </script>")
    assert found.faults == []
