"""The first screen of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import iostrata
from iostrata.explain.tests.made import MINUTE, MS, PROGRAM, did
from iostrata.schema.events import LAYER
from iostrata.show.screen import HEIGHT
from iostrata.show.tables import WIDTH
from iostrata.store.tests.made import START, make_run, process, row_of_sum

SLOW = [
    did("java", "sync", 300, 50 * MS, flags=0),
    did("java", "write", 300, 0, bytes=30_000, flags=0),
]


def screen(store: Path) -> list[str]:
    with iostrata.open(store / "r") as run:
        return run.text().splitlines()


def test_a_cause_comes_with_its_change_and_gain(tmp_path: Path) -> None:
    make_run(tmp_path, "r", SLOW, processes=[PROGRAM], start=START, end=START + MINUTE)
    text = "\n".join(screen(tmp_path))
    assert text.startswith(
        "Local files are forced to disk too often: programs forced local files to disk\n"
        "300 times, after every 100 bytes on average, which took 15.00 s. A change could\n"
        "save up to 25 % of the run's time.\n"
        "1. SEVERE 25 %: Local files are forced to disk too often [local-sync]\n"
        "   -> force a file once for many writes (group commit) · saves 15 % to 25 %\n"
        "\n"
        "run r · ok · exit 0 · 60.00 s · "
    )
    assert text.endswith(
        "command: java Job\n"
        "traced 1/1 processes, 0 dropped; tracing took ~0.0 % of CPU (budget off)\n"
        "The run took 60.00 s. 1 program ran during 100 % of it, at most 1 at once, and\n"
        "for 60.00 s in total.\n"
        "\n"
        "layer  calls  read   written  thread time\n"
        "java     600   0 B  29.3 KiB      15.00 s\n"
        "iostrata summary --full has operations, sizes, latencies, targets, tasks"
    )


def test_a_long_name_leaves_the_time_that_a_run_took(tmp_path: Path) -> None:
    name = "20260301-101500-a1b2-nightly"
    make_run(tmp_path, name, SLOW, processes=[PROGRAM], start=START, end=START + MINUTE)
    with iostrata.open(tmp_path / name) as run:
        lines = run.text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"run {name} "))
    assert re.fullmatch(rf"run {name} · ok · exit 0 · 60.00 s · [-0-9]+ [:0-9]+", line)


def test_a_run_without_calls_says_why(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [], processes=[PROGRAM], start=START, end=START + MINUTE)
    assert screen(tmp_path)[-1] == (
        "no events: its processes called none of the points (iostrata points lists them)"
    )


def test_whatever_a_run_is_like_it_fits_a_terminal(tmp_path: Path) -> None:
    """GIVEN all layers with numbers as long as they get, names without end, and much that is
    missing THEN what there is no room for is left out, and that is said.
    """
    huge = {"count": 10**12, "bytes": 2**60, "timed": 10**12, "timed_dur": 10**15, "errors": 10**9}
    layers = [layer for layer in LAYER if layer != "jvm"]
    events = [row_of_sum(layer, "read", **huge) for layer in layers]
    events += [row_of_sum("hdfs", op, **huge) for op in ("write", "receive_packet", "send_packet")]
    events += [did("fs", "connect", 300, 80 * MS), did("jvm", "gc_pause", 300, 50 * MS)]
    events += [did("java", "write", 99_999, 90_000, category="log")]
    missing = [process("map", pid, traced=False, reason="no " * 60) for pid in range(20, 60)]
    command = ["java", "-cp", "x" * 999, "-Da=b", "\x1b[2J"]
    facts: dict[str, Any] = {
        "command": command,
        "message": "m" * 99,
        "tags": {"t" * 30: "\x1b" * 200},
        "start": START,
        "end": START + MINUTE,
    }
    make_run(tmp_path, "r", [*events, *SLOW], [PROGRAM, *missing], **facts)
    lines = screen(tmp_path)
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    assert all(line.isprintable() for line in lines)
    assert any(re.match(r"and \d+ lines more: ", line) for line in lines)
    assert any(line.startswith("less time: ") for line in lines)
