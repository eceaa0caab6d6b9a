from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata.show.report import page as pages
from iostrata.show.report.document import document
from iostrata.show.report.page import example, page
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum

HOSTILE = "/in/</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&amp;\u2028'\""


class Scripts(HTMLParser):
    """The scripts of a page as a browser splits it, and every other element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.others: list[str] = []
        self.policy = ""
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.others.append(tag)
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"] or ""
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data


def test_names_of_a_run_are_data_and_nothing_else(tmp_path: Path) -> None:
    # GIVEN a run whose names are markup
    events = [
        row_of_sum("hdfs", "read", job=HOSTILE, task=HOSTILE, role=HOSTILE),
        row_of_call("hdfs", "read", HOSTILE, category=HOSTILE),
    ]
    make_run(tmp_path, "r", events, [process("map", 1)], command=[HOSTILE], user=HOSTILE)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        made = document(opened)
    # WHEN
    found = Scripts(page(made))
    # THEN the page has its two scripts, and the first says exactly what the run does
    assert found.others.count("script") == 2
    assert "img" not in found.others
    assert json.loads(found.scripts[0]) == builtins(made)
    assert made.targets.rows[0].target == HOSTILE


def test_only_the_bundled_script_may_run() -> None:
    found = Scripts(page(example()))
    digest = base64.b64encode(hashlib.sha256(found.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in found.policy
    assert "default-src 'none'" in found.policy


def test_the_page_loads_nothing() -> None:
    frame = (pages.BUNDLE / "page.html").read_text("utf-8")
    assert not re.findall(r"""(?:src|href)=|url\(|@import""", frame)


def test_the_example_is_small_and_of_this_version() -> None:
    assert pages.EXAMPLE.stat().st_size < 1_000_000
    assert len(page(example()).encode()) < 3_000_000


def test_a_missing_bundle_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "BUNDLE", tmp_path)
    with pytest.raises(UserError) as error:
        page(example())
    assert error.value.message == "the report's page.html is not there"
    assert error.value.remedy == "build it: make build"
