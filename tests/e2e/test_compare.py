"""The page of a comparison as a reader sees it, also with names that want to be more than text."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.browser import Opened, browser

from iostrata.analyse.comparison import compare
from iostrata.analyse.measured import Measured, measured
from iostrata.show.compare.page import comparison_page
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum

HOSTILE = "/<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def run(store: Path, name: str, dur: int) -> Measured:
    sums = [
        row_of_sum("java", f"op{n}", timed_dur=dur * (n + 1), category="file") for n in range(15)
    ]
    call = row_of_call("java", "read", HOSTILE, dur=dur)
    make_run(
        store, name, [*sums, call], [process("map", 3)], command=[f"job {HOSTILE} {dur // 300}"]
    )
    with OpenedRun(find_run(store, name)) as opened:
        return measured(opened)


def test_a_comparison_in_the_browser(tmp_path: Path) -> None:
    first = [run(tmp_path, f"a{n}", dur) for n, dur in enumerate((100, 104))]
    second = [run(tmp_path, f"b{n}", dur) for n, dur in enumerate((300, 309))]
    file = tmp_path / "c.html"
    file.write_text(comparison_page(compare(first, second, (HOSTILE, "b*"))), "utf-8")
    with browser() as started:
        opened = Opened(started.new_page(), file)
        assert opened.texts("h1") == [f"{HOSTILE} (A) and b* (B)"]
        assert "not alike: command" in opened.texts("#completeness li")[0]
        assert opened.texts("#layers tbody td")[-1] == "changed: time"
        assert HOSTILE in opened.texts("#targets tbody td")
        # AND a table is searched and sorted as those of the report are
        rows = opened.page.locator("#points tbody tr")
        assert rows.count() == 12
        opened.page.locator("#points .more").click()
        assert rows.count() == 15
        opened.page.locator("#points input").fill("op14")
        assert opened.texts("#points tbody td")[0] == "java.op14"
        assert opened.violations() == []
        assert (opened.faults, opened.requests) == ([], [file.as_uri()])
