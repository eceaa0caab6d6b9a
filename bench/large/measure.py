"""What summary and report take on made runs: time, CPU, memory, and the longest queries.

.venv/bin/python -m bench.large.measure STORE RUN... > large.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iostrata.show.report.document import document
from iostrata.show.totals import totals
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

QUERIES = 12  # the longest
_COMMANDS = {
    "summary": ["summary", "--json"],
    "report": ["report", "-o", "/dev/null", "--json"],
}


def command(store: Path, run: str, words: list[str]) -> dict[str, float]:
    """Seconds, seconds of CPU and the most memory (MB) of one command."""
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-m", "iostrata", words[0], run, *words[1:], "--store", str(store)],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"iostrata {words[0]} {run} failed: {child.returncode}")
    return {
        "seconds": round(time.monotonic() - began, 2),
        "cpu": round(used.ru_utime + used.ru_stime, 2),
        "memory": used.ru_maxrss // 1024,
    }


def queries(store: Path, run: str, read: Callable[[OpenedRun], Any]) -> list[tuple[float, str]]:
    """Seconds of each query of an analysis, and how it begins; the longest first."""
    took: Counter[str] = Counter()
    with OpenedRun(find_run(store, run)) as opened:
        plain = opened.rows

        def rows(sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
            began = time.monotonic()
            found = plain(sql, parameters)
            took[" ".join(sql.split())] += time.monotonic() - began  # type: ignore[assignment]
            return found

        opened.rows = rows  # type: ignore[method-assign]
        read(opened)
    return [(round(seconds, 2), sql) for sql, seconds in took.most_common(QUERIES)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("run", nargs="+")
    given = parser.parse_args()
    found = []
    for run in given.run:
        of: dict[str, Any] = {"run": run, "events": find_run(given.store, run).events}
        of |= {name: command(given.store, run, words) for name, words in _COMMANDS.items()}
        of["queries"] = {
            "summary": queries(given.store, run, totals),
            "report": queries(given.store, run, document),
        }
        found.append(of)
        print(json.dumps({k: v for k, v in of.items() if k != "queries"}), file=sys.stderr)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
