"""The report of a run that was explained: verdict, findings, call tree, critical path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page
from tests.e2e.browser import Opened, browser, opened

from iostrata.records import builtins
from iostrata.show.report.page import page
from iostrata.show.report.tests.samples import HOSTILE, explained_example, full
from iostrata.text import count, size

EXAMPLE = explained_example()
DOCUMENT = builtins(EXAMPLE)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("explained") / "report.html"
    file.write_text(page(EXAMPLE), "utf-8")
    return file


def crumbs(found: Opened) -> list[str]:
    return found.texts(".crumbs li")


def focused(page: Page) -> str:
    """The name of what has the focus, up to its numbers."""
    said: str = page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")
    return said.split(":")[0].rpartition(".")[2]


def test_the_first_screen_says_where_why_and_what_to_change(
    chrome: Browser, explained: Path
) -> None:
    found = opened(chrome, explained)
    screen = found.page.locator("#overview")
    assert found.texts("h2.verdict") == [DOCUMENT["verdict"]["text"]]
    # findings as ranked, each with its severity, its numbers, its gain and the exact setting
    assert found.texts(".ranked li")[0].split("\n") == [
        "severe",
        "32 016 991 writes of 32 bytes each take 109.29 s: " + DOCUMENT["findings"][0]["seen"],
        "12 % to 25 % of the time of the run",
        "io.file.buffer.size: 4096 → 131072",
    ]
    titles = [row["title"] for row in DOCUMENT["findings"]]
    assert found.texts(".ranked a") == titles
    # time and bytes of every layer, and how complete it all is
    rows = [text.split("\t") for text in found.texts(".bylayer tbody tr")]
    moved = [sum(v for k, v in row.items() if k[:6] == "bytes_") for row in DOCUMENT["layers"]]
    assert [row[2] for row in rows] == [size(n) if n else "–" for n in moved]
    assert found.texts("#overview .completeness")[0].startswith("Complete: traced 16/16")
    # all of it without scrolling, on a screen of 1280 x 800
    box = screen.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    # and a title leads to all that is known
    found.page.locator(".ranked a").nth(1).click()
    assert found.page.url.endswith("#finding-2")
    assert found.faults == []


def test_the_first_screen_names_what_is_missing(chrome: Browser, tmp_path: Path) -> None:
    parts = [f"events/host=n/part-{n}.parquet is <b>empty</b>: 0 bytes" for n in range(5)]
    lines = [*DOCUMENT["completeness"]["lines"], *(f"incomplete: {part}" for part in parts)]
    completeness = replace(EXAMPLE.completeness, incomplete=parts, lines=lines)
    (tmp_path / "r.html").write_text(page(replace(EXAMPLE, completeness=completeness)), "utf-8")
    found = opened(chrome, tmp_path / "r.html")
    assert found.texts("#overview .missing li") == [*parts[:3], "and 2 more"]
    assert found.texts("#overview .completeness")[0].startswith("Incomplete: ")
    assert found.faults == []


def test_findings_in_full(chrome: Browser, explained: Path) -> None:
    found = opened(chrome, explained)
    found.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert found.texts("#findings dt") == [
        "Weight", "Why", "Change", "Expected gain", "Does not apply if",
    ] * 3  # fmt: skip
    values = found.texts("#finding-1 tbody td.number")
    assert values == ["32 016 991", "981.1 MiB", "109.29 s", "31 %", "RawLocalFileSystem"]
    assert found.texts("#finding-2 .changes li")[0].split() == [
        "set", "mapreduce.task.io.sort.mb:", "100", "→", "256",
    ]  # fmt: skip
    assert "12 % to 25 % of the time of the run, predicted" in found.texts("#finding-1 dd")
    assert "not predicted for this finding" in found.texts("#finding-3 dd")
    found.page.locator("#finding-1 .query button").click()
    found.page.locator("#finding-1 .query [role=status]", has_text="copied").wait_for()
    copied = found.page.evaluate("navigator.clipboard.readText()")
    assert copied == DOCUMENT["findings"][0]["query"]


def test_an_interval_narrows_what_has_times(chrome: Browser, explained: Path) -> None:
    found = opened(chrome, explained)
    tasks = DOCUMENT["tasks"]["rows"]
    assert len(found.texts("#tasks tbody tr")) == len(tasks)
    whole = found.texts("#critical .sums")
    # WHEN an interval is drawn over a figure
    figure = found.page.locator("#time .brushed").first
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    assert box is not None
    inner = box["width"] - 70 - 22
    axis = DOCUMENT["axis"]
    left, right = (box["x"] + 70 + (at + 0.5) / axis["bins"] * inner for at in (60, 79))
    found.page.mouse.move(left, box["y"] + 30)
    found.page.mouse.down()
    found.page.mouse.move(right, box["y"] + 40)
    found.page.mouse.up()
    # THEN it is whole bins, said wherever the reader is
    assert found.texts(".chosen [role=status]") == ["Selected 30 s to 40 s (10 s)"]
    # every layer says what it did in it: the sum of its bins
    calls = [sum(layer["calls"][60:80]) for layer in DOCUMENT["series"]]
    said = [text.split(" · ")[-1] for text in found.texts("#time .inside")]
    assert [text.removeprefix("in the interval: ") for text in said] == [
        f"{count(n)} calls" for n in calls
    ]
    # only tasks that lived in it are there, and the path is cut at its edges
    begin, end = (axis["start"] + at * axis["bin"] for at in (60, 80))
    lived = [row for row in tasks if row["start"] and row["start"] < end and row["end"] >= begin]
    assert 0 < len(lived) < len(tasks)
    assert len(found.texts("#tasks tbody tr")) == len(lived)
    assert found.texts("#critical .sums")[0].startswith("From 30 s to 40 s the path worked for ")
    assert found.page.locator(".band:visible").count() > 4
    # Escape takes it back
    found.page.keyboard.press("Escape")
    assert found.texts("#critical .sums") == whole
    assert len(found.texts("#tasks tbody tr")) == len(tasks)
    assert found.faults == []


def test_an_interval_is_chosen_with_keys(chrome: Browser, explained: Path) -> None:
    found = opened(chrome, explained)
    found.page.get_by_label("Select from").focus()
    found.page.keyboard.press("PageUp")
    found.page.get_by_label("until").focus()
    for _ in range(3):
        found.page.keyboard.press("ArrowLeft")
    [said] = found.texts(".chosen [role=status]")
    assert said.endswith("to 100 s (90 s)")
    button = found.page.get_by_role("button", name="Whole run")
    button.focus()
    found.page.keyboard.press("Enter")
    assert not button.is_visible()
    assert found.page.get_by_label("Select from").input_value() == "0"


def test_the_call_tree_is_searched_zoomed_and_pruned_with_keys(
    chrome: Browser, explained: Path
) -> None:
    found = opened(chrome, explained)
    page = found.page
    page.locator("#tree").scroll_into_view_if_needed()
    page.locator(".icicle [role=treeitem]").first.wait_for()
    # a search marks what it finds, and says how much time that is
    page.get_by_label("Search functions", exact=True).fill("hdfs.server.datanode")
    [said] = found.texts(".icicle .status")
    assert said.startswith("3 places match: 59.55 s total (19 %), 59.55 s self.")
    assert page.locator(".icicle .match").count() == 3
    page.get_by_label("Search functions", exact=True).fill("")
    # arrows go along the tree, Enter zooms in
    page.locator(".icicle [role=treeitem]").first.focus()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "run"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert crumbs(found) == ["all", "ReduceTask.run", "DataStreamer.run"]
    # hidden, a function's calls become its caller's; its own time, too
    page.keyboard.press("ArrowDown")
    before = page.locator(".icicle .details").inner_text()
    assert "DataXceiver.writeBlock" in before
    page.keyboard.press("h")
    assert found.texts(".chips button")[0].startswith(
        "Show datanode.org.apache.hadoop.hdfs.server.datanode."
    )
    assert "self 36.30 s" in page.locator(".icicle .details").inner_text()
    names = [label.split(":")[0].rpartition(".")[2] for label in labels(found)]
    assert names == ["run", "receivePacket", "write"]
    page.locator(".chips button").click()
    assert len(labels(found)) == 4
    # Escape goes out again, step by step, as the breadcrumbs do at once
    page.keyboard.press("Escape")
    assert crumbs(found) == ["all", "ReduceTask.run"]
    page.locator(".crumbs button").first.click()
    assert crumbs(found) == ["all"]
    # width by self time
    widths = boxes(found)
    page.get_by_label("self time").check()
    assert boxes(found) != widths
    assert found.faults == []


def labels(found: Opened) -> list[str]:
    items = found.page.locator(".icicle [role=treeitem]").all()
    return [item.get_attribute("aria-label") or "" for item in items]


def boxes(found: Opened) -> list[str | None]:
    return [box.get_attribute("width") for box in found.page.locator(".icicle rect").all()]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(chrome: Browser, explained: Path, theme: str) -> None:
    found = opened(chrome, explained, 1280, theme)
    found.page.locator("#tree").scroll_into_view_if_needed()
    found.page.locator(".icicle [role=treeitem]").first.wait_for()
    found.page.get_by_label("Select from").fill("20")  # the bar of an interval, too
    assert found.violations() == []


def test_on_paper_everything_stands_and_nothing_can_be_pressed(
    chrome: Browser, explained: Path
) -> None:
    found = opened(chrome, explained)
    found.page.emulate_media(media="print")
    assert found.page.pdf().startswith(b"%PDF")
    controls = "nav, button, input, .sliders, .cursor"
    assert found.page.locator(controls).count() > 20
    shown = found.page.locator(controls).filter(visible=True).all()
    # headings of tables are buttons on the screen and text on paper
    assert {element.evaluate("e => e.parentElement.tagName") for element in shown} == {"TH"}
    # also figures that were never near the window are drawn
    assert found.page.locator(".drawing:not(:has(svg))").count() == 0
    assert found.page.locator(".icicle [role=treeitem]").count() > 10


def test_a_document_at_its_bounds_stays_text_and_stays_usable(
    chrome: Browser, tmp_path: Path
) -> None:
    # GIVEN every list as long as it may be, every name markup of 8,000 characters
    whole = full()
    made = builtins(whole)
    file = tmp_path / "full.html"
    file.write_text(page(whole), "utf-8")
    assert file.stat().st_size < 3_000_000
    # WHEN it is opened, narrow
    found = opened(chrome, file, 400)
    # THEN none of it ran, the page does not scroll sideways, names are seen as they are
    assert found.page.evaluate("window.hit") is None
    assert found.page.locator("script").count() == 2
    assert found.page.locator("img, iframe, object").count() == 0
    assert found.page.evaluate("document.documentElement.scrollWidth") == 400
    assert found.texts("h2.verdict")[0].startswith(HOSTILE[:10])
    assert json.loads(found.page.locator("#document").inner_text()) == made
    # long tables come in pages
    rows = found.page.locator("#targets tbody tr")
    button = found.page.locator("#targets button.more")
    before = rows.count()
    assert button.inner_text() == f"Show all {len(made['targets']['rows'])}"
    button.click()
    assert before < rows.count() == len(made["targets"]["rows"])
    # the list of findings on the first screen is short, and says what it leaves out
    assert found.texts(".ranked li + li .badge") == ["warning", "note", "severe"]
    assert found.texts(".ranked > p") == [f"and {len(made['findings']) - 4} more findings"]
    assert (found.requests, found.faults) == ([file.as_uri()], [])
