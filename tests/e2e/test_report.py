"""The report as a reader has it: a file, opened in a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.e2e.browser import browser, opened
from tests.e2e.conftest import Iostrata

from iostrata.show.text import count, size
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The page of the recorded TeraSort, and the document in it."""
    folder = tmp_path_factory.mktemp("example")
    report = [sys.executable, "-m", "iostrata", "report", "--example"]
    written = subprocess.run(report, cwd=folder, check=True, capture_output=True, text=True)
    assert written.stdout == f"{folder / 'iostrata-terasort.html'}\n"
    document = subprocess.run([*report, "--json"], check=True, capture_output=True)
    return folder / "iostrata-terasort.html", json.loads(document.stdout)


def test_the_example_shows_its_numbers(
    chrome: Browser, example: tuple[Path, dict[str, Any]]
) -> None:
    file, document = example
    found = opened(chrome, file)
    # how complete it is comes first, word by word as in the summary
    assert found.texts("main > section:first-child .first") == document["completeness"]["lines"][:1]
    assert found.texts("h2") == [
        "Completeness", "What each layer did", "Bandwidth and operations over time",
        "The way of the bytes", "Job and tasks", "Who waited for what", "Request sizes",
        "Hottest targets", "Hosts", "Drops and losses",
    ]  # fmt: skip
    rows = [text.split("\t") for text in found.texts("#layers .table:first-of-type tbody tr")]
    expected = [
        [row["layer"], count(row["calls"]), size(row["bytes_read"]), size(row["bytes_written"])]
        for row in document["layers"]
    ]
    assert [row[:4] for row in rows[: len(expected)]] == expected
    # every figure has a caption, and every drawing a name
    figures = found.page.locator("figure").count()
    assert figures == found.page.locator("figure figcaption p").count() > 0
    assert all(
        drawing.get_attribute("aria-label") for drawing in found.page.locator(".drawing").all()
    )
    # nothing but the file itself was loaded, and nobody complained
    assert (found.requests, found.faults) == ([file.as_uri()], [])


def test_the_example_works_without_a_mouse(
    chrome: Browser, example: tuple[Path, dict[str, Any]]
) -> None:
    file, document = example
    found = opened(chrome, file)
    page = found.page
    # GIVEN the slider of time WHEN it is moved with keys THEN every layer says its values there
    page.locator("#time input[type=range]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    layers = len(document["series"])
    assert len([text for text in found.texts("#time .readout") if text.endswith("/s")]) == layers
    # headings of tables sort
    heading = page.locator("#targets th button", has_text="calls")
    heading.focus()
    page.keyboard.press("Enter")
    assert page.locator("#targets th[aria-sort=descending]").inner_text().startswith("calls")
    most = max(row["calls"] for row in document["targets"]["rows"])
    assert page.locator("#targets tbody tr td:nth-child(3)").first.inner_text() == count(most)
    # a search shows the rows that hold all words, also those below the fold
    page.locator("#targets input[type=search]").fill("TERASORT part-r")
    names = found.texts("#targets tbody td:last-child")
    assert names
    assert all("terasort" in name and "part-r" in name for name in names)
    assert found.faults == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing(
    chrome: Browser, example: tuple[Path, dict[str, Any]], theme: str, width: int
) -> None:
    found = opened(chrome, example[0], width, theme)
    assert found.violations() == []
    # tables scroll by themselves, the page does not
    assert found.page.evaluate("document.documentElement.scrollWidth") == width


def test_on_paper_there_is_nothing_to_press(
    chrome: Browser, example: tuple[Path, dict[str, Any]]
) -> None:
    found = opened(chrome, example[0])
    found.page.emulate_media(media="print")
    assert found.page.locator("nav, .search, .cursor, button.more").count() > 0
    assert not any(
        element.is_visible()
        for element in found.page.locator("nav, .search, .cursor, button.more").all()
    )


HOSTILE = '/in/</script><img src=x onerror="window.hit=1"><script>window.hit=2</script>\'&lt;'
TURNED = "/in/\u202etxt.exe\x1b[2J"


def test_hostile_names_stay_text(chrome: Browser, iostrata: Iostrata, tmp_path: Path) -> None:
    # GIVEN paths, jobs, tasks, hosts, phases and commands that are markup
    known = {"proc": 5, "job": HOSTILE, "task": HOSTILE}
    start = 1_700_000_000 * 10**9
    events = [
        row_of_sum("hdfs", "read", bytes=9, size_class=4, start=start, dur=10**9, phase=HOSTILE,
                   role=HOSTILE, category=HOSTILE, **known),
        row_of_call("hdfs", "read", HOSTILE, category=HOSTILE),
        row_of_call("hdfs", "read", TURNED),
    ]  # fmt: skip
    lived = {"start": start, "end": start + 2 * 10**9, "host": HOSTILE}
    traced = process(HOSTILE, 1, dropped=1, **known, **lived)
    untraced = process(HOSTILE, 2, traced=False, reason=HOSTILE)
    make_run(tmp_path / "store", "r", events, [traced, untraced], command=[HOSTILE], user=HOSTILE)
    assert iostrata("report", "r").returncode == 0
    # WHEN it is opened
    found = opened(chrome, tmp_path / "iostrata-r.html")
    # THEN they are seen as they are, none of it ran, and nothing can turn a line around
    targets = found.texts("#targets tbody td:last-child")
    assert sorted(targets) == sorted([HOSTILE, "/in/\\u202etxt.exe\\x1b[2J"])
    assert found.texts("#tasks tbody td:first-child span") == [f"{HOSTILE[:26]}…"]
    assert HOSTILE in found.texts(".completeness")[0]
    assert found.page.evaluate("window.hit") is None
    assert found.page.locator("img, iframe, object").count() == 0
    assert found.page.locator("script").count() == 2
    assert found.faults == []
    assert found.violations() == []
