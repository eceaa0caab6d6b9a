#!/usr/bin/env python3
"""Size of a report, and how long Chromium takes to draw it.

    bench/report/report.py bench/runs/2026-11-21-report [--runs 9]

Two documents: the example, and one with every list as long as it may be (rows of the example
repeated, 24 hosts). Writes report.json into the folder: bytes of the page, and per opening the ms
from the start of navigation to the second frame after the page was loaded. Prints medians.
CHROMIUM names the program when it is not on PATH.
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

from iostrata.show.report.axis import MOST_BINS
from iostrata.show.report.document import MOST_PROCESSES, MOST_ROWS, MOST_TARGETS, MOST_TASKS
from iostrata.show.report.hosts import MOST_HOSTS
from iostrata.show.report.page import example, page

DRAWN = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
HISTORIES = [
    "cpu_user",
    "cpu_system",
    "cpu_iowait",
    "disk_busy",
    "disk_read",
    "disk_written",
    "net_received",
    "net_sent",
    "net_loopback",
    "mem_used",
    "space_used",
]


def repeated(rows: list[Any], most: int) -> list[Any]:
    return (rows * (most // max(1, len(rows)) + 1))[:most] if rows else []


def full(document: dict[str, Any]) -> dict[str, Any]:
    """The document with as many of everything as a report ever holds."""
    made = json.loads(json.dumps(document))
    tasks = repeated(made["tasks"]["rows"], MOST_TASKS)
    made["tasks"]["rows"] = [{**row, "task": f"{row['task']}{i}"} for i, row in enumerate(tasks)]
    for name, most in (
        ("targets", MOST_TARGETS),
        ("waits", MOST_ROWS),
        ("categories", MOST_ROWS),
    ):
        made[name]["rows"] = repeated(made[name]["rows"], most)
    processes = made["completeness"]["processes"]
    processes["rows"] = [
        {**row, "dropped": 1} for row in repeated(processes["rows"], MOST_PROCESSES)
    ]
    made["axis"]["bins"] = MOST_BINS
    for series in made["series"]:
        series |= {k: repeated(v, MOST_BINS) for k, v in series.items() if k != "layer"}
    values = {name: [123_456_789 + 7 * i for i in range(MOST_BINS)] for name in HISTORIES}
    totals = {"mem_total": 2**34, "space_total": 2**40}
    made["system"] = {
        "missing": "",
        "more": 0,
        "hosts": [
            {"host": f"node-{i}", "totals": totals, "values": values} for i in range(MOST_HOSTS)
        ],
    }
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("no Chromium: apt-get install chromium, or CHROMIUM=/path/of/it")
    pages = {"example": page(example()), "full": page(full(example()))}
    found: dict[str, Any] = {
        name: {"bytes": len(text.encode()), "ms": []} for name, text in pages.items()
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
                found[name]["ms"].append(round(tab.evaluate(DRAWN)))
                tab.close()
        browser.close()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "report.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    for name in pages:
        kib, ms = found[name]["bytes"] / 1024, statistics.median(found[name]["ms"])
        print(f"{name:8} {kib:8.0f} KiB  drawn in {ms:6.0f} ms")


if __name__ == "__main__":
    main()
