"""What rules find in traces of other tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from iostrata.explain.verdict import explanation
from iostrata.importers.tests.conftest import NEEDS_DARSHAN, Imported
from iostrata.importers.tests.test_darshan import sample

BEGIN = 1_700_000_000.0


def strace(*calls: tuple[str, float]) -> str:
    """A trace of calls, each with the seconds that it took; the next begins where it ended."""
    now, lines = BEGIN, []
    for call, took in calls:
        lines.append(f"7 {now:.6f} {call} <{took:.6f}>")
        now += took
    return "\n".join([*lines, f"7 {now:.6f} +++ exited with 0 +++", ""])


OPEN = ('openat(AT_FDCWD</tmp>, "/data/in", O_RDWR) = 3</data/in>', 0.0001)
CLOSE = ("close(3</data/in>) = 0", 0.0001)
COMPUTE = ('openat(AT_FDCWD</tmp>, "/data/out", O_RDWR) = 4</data/out>', 0.1)
ONE = ('read(3</data/in>, ""..., 1) = 1', 0.0001)
TRACES = {
    "bytewise": strace(OPEN, *[ONE] * 10_000, COMPUTE),
    "small-writes": strace(OPEN, *[('write(3</data/in>, ""..., 64) = 64', 0.001)] * 1200, COMPUTE),
    "small-reads": strace(OPEN, *[('read(3</data/in>, ""..., 64) = 64', 0.001)] * 1200, COMPUTE),
    "local-sync": strace(OPEN, *[("fsync(3</data/in>) = 0", 0.01)] * 60, COMPUTE),
    "metadata-storm": strace(OPEN, *[('stat("/data/in", {}) = 0', 0.001)] * 600, COMPUTE),
    "open-churn": strace(*[OPEN, CLOSE] * 150),
}


@pytest.mark.parametrize("rule", TRACES)
def test_the_cause_in_a_trace_of_strace(imported: Imported, rule: str) -> None:
    found = explanation(imported(TRACES[rule], format_name="strace"))
    assert found.findings
    first = found.findings[0]
    assert first.rule == rule
    assert "Stream" not in str(first.change)  # AND classes of Java are no advice
    assert not any(change.setting for change in first.change)
    assert found.verdict.detail.endswith("36 of 46 rules need what an import does not have.")


def test_a_program_that_does_nothing_wrong(imported: Imported) -> None:
    large = ('read(3</data/in>, ""..., 1048576) = 1048576', 0.001)
    trace = strace(OPEN, *[large] * 200, CLOSE)
    assert explanation(imported(trace, format_name="strace")).findings == []


def test_an_import_ends_with_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text(TRACES["small-writes"])
    command = [
        sys.executable,
        "-m",
        "iostrata",
        "import",
        "trace.txt",
        "--store",
        "s",
        "--run",
        "r",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "s/r\n"  # what scripts read
    said = done.stderr.splitlines()
    assert said[0].startswith("iostrata: run r: ")
    assert said[1].startswith(
        "iostrata: verdict: Writes are small: 1 200 writes of 64 B on average"
    )
    assert said[-2].endswith("Writes are small [small-writes]")
    assert said[-1] == "iostrata: 36 of 46 rules need what an import does not have."


@NEEDS_DARSHAN
def test_a_storage_target_that_is_slow(imported: Imported) -> None:
    """GIVEN a log of 2048 ranks that write 256 MiB each, some of them to a slow OST."""
    first = explanation(imported(sample("bad"))).findings[0]
    assert (first.rule, first.severity) == ("uneven-ranks", "severe")
    assert first.seen.startswith(
        "rank 1507 spent 12 min 58 s in calls on files and moved 256.0 MiB"
    )
    assert "storage target" in first.change[0].what


@NEEDS_DARSHAN
def test_thousands_of_small_writes(imported: Imported) -> None:
    first = explanation(imported(sample("macsio"))).findings[0]
    assert (first.rule, first.severity) == ("small-writes", "severe")
    assert first.seen.startswith("7 695 writes of 191 B on average in layer fs")
