"""What summary, findings and report take on made runs: time, CPU, memory, and the page of each.

    .venv/bin/python -m bench.large.measure STORE RUN... > large.json

Memory is that of all processes of a command together, looked at 50 times a second. `others` is the
CPU time that everything else on the machine took meanwhile: times beside other work are no figures.
`fit` is the straight line through all runs, by least squares of how far off they are, each in parts
of its own time: seconds of CPU for each million of calls, those for none, and the most that a run
is off.
`ready` is when every control of the page answers in Chromium, ms from the start of navigation.
With --queries also the longest queries of the report.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from iostrata.show.report.document import document
from iostrata.store.limits import memory
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

QUERIES = 20  # the longest
LOOKS = 50  # a second
READY = "performance.getEntriesByName('ready')[0].startTime"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_COMMANDS = {"summary": ["--json"], "findings": ["--json"], "report": ["-o", "PAGE"]}

Figures = dict[str, Any]


def command(store: Path, run: str, name: str) -> Figures:
    """`seconds`, `cpu` and `others` (s of CPU), `memory` (most MB at once); of a report also `page`
    (bytes) and `ready` (ms)."""
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        words = [str(page) if word == "PAGE" else word for word in _COMMANDS[name]]
        began, busy = time.monotonic(), _busy()
        child = subprocess.Popen(
            [sys.executable, "-m", "iostrata", name, run, *words, "--store", str(store)],
            stdout=subprocess.DEVNULL,
        )
        most = 0
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            most = max(most, _resident(child.pid))
            time.sleep(1 / LOOKS)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"iostrata {name} {run} failed: {child.returncode}")
        cpu = used.ru_utime + used.ru_stime
        found: Figures = {
            "seconds": round(time.monotonic() - began, 2),
            "cpu": round(cpu, 2),
            "others": round(max(0.0, _busy() - busy - cpu), 2),
            "memory": round(max(most, used.ru_maxrss * 1024) / 1e6),
        }
        if page.exists():
            found |= {"page": page.stat().st_size, "ready": ready(page)}
        return found


def ready(page: Path) -> float | None:
    """Opens a page in Chromium until every control of it answers; ms, None without Chromium."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if program is None:
        return None
    with sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        opened = browser.new_page()
        opened.goto(page.as_uri())
        opened.wait_for_selector("body[data-ready]")
        found: float = opened.evaluate(READY)
        browser.close()
        return round(found, 1)


def _resident(pid: int) -> int:
    """Bytes of a process and all below it; 0 when it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        below = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * _PAGE + sum(map(_resident, below))


def _busy() -> float:
    """Seconds of CPU that all processes of the machine took since it started."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / _TICKS


def queries(store: Path, run: str) -> list[tuple[float, str]]:
    """Seconds of each query of a report, and the query; the longest first."""
    took: Counter[str] = Counter()
    with OpenedRun(find_run(store, run)) as opened:
        plain = opened.rows

        def rows(sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
            began = time.monotonic()
            found = plain(sql, parameters)
            took[" ".join(sql.split())] += time.monotonic() - began  # type: ignore[assignment]
            return found

        opened.rows = rows  # type: ignore[method-assign]
        document(opened)
    return [(round(seconds, 2), sql) for sql, seconds in took.most_common(QUERIES)]


def fit(runs: list[Figures], name: str) -> Figures:
    """The straight line of the CPU time of a command over millions of calls."""
    millions = np.array([run["calls"] for run in runs]) / 1e6
    cpu = np.array([run[name]["cpu"] for run in runs])
    slope, none = np.polyfit(millions, cpu, 1, w=1 / cpu)
    off = np.abs(slope * millions + none - cpu) / cpu
    return {
        "per_million": round(float(slope), 3),
        "none": round(float(none), 2),
        "off": round(float(off.max()), 3),
    }


def measured(store: Path, run: str, with_queries: bool) -> Figures:
    """All figures of one run."""
    facts = json.loads((find_run(store, run).path / "known.json").read_text())
    found: Figures = {"run": run, "calls": facts["events"]}
    found |= {name: facts[name] for name in ("rows", "bytes", "cpu") if name in facts}
    for name in _COMMANDS:
        found[name] = command(store, run, name)
        print(json.dumps({"run": run, "command": name} | found[name]), file=sys.stderr)
    return found | ({"queries": queries(store, run)} if with_queries else {})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("run", nargs="+")
    parser.add_argument("--queries", action="store_true", help="also the longest queries")
    given = parser.parse_args()
    machine = {"cores": os.cpu_count(), "limit": memory(1 << 60), "load": os.getloadavg()}
    runs = [measured(given.store, run, given.queries) for run in given.run]
    fits = {name: fit(runs, name) for name in _COMMANDS} if len(runs) > 2 else {}
    print(json.dumps({"machine": machine, "runs": runs, "fit": fits}, indent=1))


if __name__ == "__main__":
    main()
