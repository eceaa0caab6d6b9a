#!/usr/bin/env python3
"""Size of a report, and how soon it can be used in Chromium.

    bench/report/report.py bench/runs/2026-11-23-report [--runs 9]

Four documents: the example; the example with a call tree and the rest of what explains a run,
made up for tests; one with the most rows of everything and paths of 94 characters; and one with
names of 8,000 characters of markup, which leave room for fewer rows. Writes report.json into the
folder: bytes of the page, and per opening the ms from the start of navigation until every control
answers (performance.now when data-ready is set), and until the second frame after that. Prints
medians and the worst. CHROMIUM names the program when it is not on PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from iostrata.show.report.page import example, page
from iostrata.show.report.tests.samples import HOSTILE, LONG, explained_example, full

DRAWN = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
READY = "performance.getEntriesByName('ready')[0].startTime"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("no Chromium: apt-get install chromium, or CHROMIUM=/path/of/it")
    documents = {
        "example": example(),
        "explained": explained_example(),
        "full": full(LONG),
        "hostile": full(HOSTILE),
    }
    pages = {name: page(document) for name, document in documents.items()}
    found: dict[str, Any] = {
        name: {"bytes": len(text.encode()), "ready": [], "drawn": []}
        for name, text in pages.items()
    }
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        found["chromium"] = browser.version
        for _ in range(options.runs):
            for name, text in pages.items():  # interleaved: load of the machine hits both
                file = Path(work) / f"{name}.html"
                file.write_text(text, "utf-8")
                tab = browser.new_page()
                tab.goto(file.as_uri())
                found[name]["drawn"].append(round(tab.evaluate(DRAWN)))
                found[name]["ready"].append(round(tab.evaluate(READY)))
                tab.close()
        browser.close()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "report.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    for name in pages:
        kib, ready, drawn = (found[name][key] for key in ("bytes", "ready", "drawn"))
        print(
            f"{name:10} {kib / 1024:6.0f} KiB  "
            f"ready {statistics.median(ready):5.0f} ms, at worst {max(ready)}  "
            f"drawn {statistics.median(drawn):5.0f} ms, at worst {max(drawn)}"
        )


if __name__ == "__main__":
    main()
