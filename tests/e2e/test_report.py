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
from tests.e2e.browser import Opened, browser, opened
from tests.e2e.conftest import Iostrata

from iostrata.store.tests.made import START, make_run, process, row_of_call, row_of_sum
from iostrata.text import count, size


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The page of the recorded WordCount, and the document in it."""
    folder = tmp_path_factory.mktemp("example")
    report = [sys.executable, "-m", "iostrata", "report", "--example"]
    written = subprocess.run(report, cwd=folder, check=True, capture_output=True, text=True)
    assert written.stdout == f"{folder / 'iostrata-wordcount.html'}\n"
    document = subprocess.run([*report, "--json"], check=True, capture_output=True)
    return folder / "iostrata-wordcount.html", json.loads(document.stdout)


def test_the_example_shows_its_numbers(
    chrome: Browser, example: tuple[Path, dict[str, Any]]
) -> None:
    file, document = example
    found = opened(chrome, file)
    # how complete it is stands on the first screen, word by word as in the summary
    [line] = document["completeness"]["lines"]
    assert found.texts("#overview .completeness") == [f"Complete: {line}"]
    assert found.texts("h2") == [
        document["verdict"]["text"], "Bandwidth and operations over time", "Job and tasks",
        "Critical path", "Hottest targets", "Call tree", "What each layer did",
        "Bytes through the layers", "Where threads spent their time", "Hosts", "Request sizes",
        "Access patterns", "Findings in full", "Method and completeness",
    ]  # fmt: skip
    assert len(found.texts(".sticky nav a")) == len(found.texts("h2")) - 1
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
    page.get_by_label("Values at").focus()
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
    page.locator("#targets input[type=search]").fill("BOOKS book-2")
    names = found.texts("#targets tbody td:last-child")
    assert names
    assert all("/books/" in name and "book-2" in name for name in names)
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
    assert found.texts("#tasks tbody td:first-child span") == [f"{HOSTILE[:24]}…"]
    assert HOSTILE in found.texts("#method .completeness")[0]
    assert found.page.evaluate("window.hit") is None
    assert found.page.locator("img, iframe, object").count() == 0
    assert found.page.locator("script").count() == 2
    assert found.faults == []
    assert found.violations() == []


def report_of(chrome: Browser, iostrata: Iostrata, folder: Path) -> Opened:
    assert iostrata("report", "r").returncode == 0
    found = opened(chrome, folder / "iostrata-r.html")
    assert (found.faults, found.violations()) == ([], [])
    return found


def test_a_run_without_events_says_why(chrome: Browser, iostrata: Iostrata, tmp_path: Path) -> None:
    make_run(tmp_path / "store", "r", start=0, end=0)
    found = report_of(chrome, iostrata, tmp_path)
    assert found.texts(".empty") == [
        "no events: no Java process was seen, nor another one by --native"
    ]
    # nothing stands empty: only how complete it is
    verdict = "There is nothing to judge, because no traced process worked for this run."
    assert found.texts("h2") == [verdict, "Method and completeness"]
    assert found.texts("#overview .completeness") == ["Complete: traced 0/0 processes, 0 dropped"]


def test_a_run_without_tasks_and_hosts(chrome: Browser, iostrata: Iostrata, tmp_path: Path) -> None:
    # GIVEN a plain program, or what an import left: no job, no host was sampled
    events = [
        row_of_sum("posix", "read", bytes=4096, size_class=13, start=START, dur=10**9),
        row_of_call("posix", "read", "/data/in", bytes=4096, start=START),
    ]
    make_run(tmp_path / "store", "r", events, [process("java", 1)])
    found = report_of(chrome, iostrata, tmp_path)
    assert found.texts("#tasks p") == ["No job or task was traced."]
    assert found.texts("#hosts p") == ["Hosts were not sampled in this run."]
    assert found.texts(".bylayer tbody tr")[0].split() == ["posix", "1", "µs", "4.0", "KiB"]
    # no rule found anything: the verdict says so, what would stand empty is not there
    assert found.texts("h2.verdict") == ["No rule found anything that holds this run back."]
    assert found.page.locator(".ranked, #findings").count() == 0
    assert "Findings" not in found.texts("nav a")


def test_an_incomplete_run_says_so_first(
    chrome: Browser, iostrata: Iostrata, tmp_path: Path
) -> None:
    # GIVEN a run of which a process was not traced and another lost calls
    events = [row_of_sum("fs", "write", bytes=70, start=START, dur=10**9)]
    lost = process("map", 1, dropped=3, lost=2)
    untraced = process("reduce", 2, traced=False, reason="no agent")
    make_run(tmp_path / "store", "r", events, [lost, untraced])
    found = report_of(chrome, iostrata, tmp_path)
    [line] = found.texts("#overview .completeness")
    assert line == (
        "Incomplete: traced 1/2 processes, 3 dropped (in totals, not recorded individually), "
        "2 lost (in no total) · 1 more"
    )
    found.page.locator("#overview .completeness a").click()
    assert found.texts("#method .completeness li")[0] == "not traced: reduce pid 2 (no agent)"
    assert found.texts("#method .losses .number") == ["3", "0", "2", "0", "0"]


def test_a_sampled_run_says_what_is_estimated(
    chrome: Browser, iostrata: Iostrata, tmp_path: Path
) -> None:
    # GIVEN a run that kept a half of its requests, and timed a part of its calls
    many = [
        row_of_call("hdfs", "read", "/in", bytes=10, inclusion=0.5, start=START, proc=1, span=i + 1)
        for i in range(400)
    ]
    counted = row_of_sum("hdfs", "read", bytes=8000, count=800, timed=80, timed_dur=80_000,
                         start=START, dur=10**9)  # fmt: skip
    make_run(tmp_path / "store", "r", [counted, *many], [process("map", 1)], sampling=500_000_000)
    found = report_of(chrome, iostrata, tmp_path)
    assert found.texts(".bylayer tbody td")[1].startswith("~")
    assert found.texts("#targets tbody td:nth-child(3)")[0].startswith("~800 ±")
    notes = " ".join(found.texts("#method .method li"))
    assert "targets are scaled up from them" in notes
    assert "Times with ~ are scaled up" in notes
