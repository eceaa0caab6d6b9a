"""What rules find in traces of other tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from iostrata.explain.rank import not_asked
from iostrata.explain.verdict import explanation
from iostrata.importers.tests.conftest import NEEDS_DARSHAN, Imported
from iostrata.importers.tests.test_darshan import sample
from iostrata.store.runs import find_run

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
    "random-reads": strace(
        OPEN,
        *[
            (f'pread64(3</data/in>, ""..., 4096, {n * 7919 % 1000 << 20}) = 4096', 0.001)
            for n in range(600)
        ],
        COMPUTE,
    ),
}


@pytest.mark.parametrize("rule", TRACES)
def test_the_cause_in_a_trace_of_strace(imported: Imported, rule: str) -> None:
    opened = imported(TRACES[rule], format_name="strace")
    found = explanation(opened)
    assert found.findings
    first = found.findings[0]
    assert first.rule == rule
    assert "Stream" not in str(first.change)  # AND classes of Java are no advice
    assert not any(change.setting for change in first.change)
    rest = not_asked(opened.run)
    assert found.verdict.detail.endswith(rest)
    assert rest.endswith("rules need what an import does not have.")


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
    assert said[-1] == f"iostrata: {not_asked(find_run(tmp_path / 's', 'r'))}"


# What each sample log of the package must say: rule, severity, begin of the sentence.
SAID = {
    # 2048 ranks that write 256 MiB each, some of them to a slow OST
    "bad": [
        ("uneven-ranks", "severe",
         "rank 1507 spent 12 min 58 s in calls on files and moved 256.0 MiB"),
    ],
    # 48 ranks that write files of their own, alike and at stripes
    "posix": [],
    # 2048 ranks that write one file, in parts of 128 MiB far from each other
    "mpi": [
        ("shared-file", "severe",
         "2 048 ranks wrote /scratch2/scratchdirs/gl…8544/vpicio/vpicio.hdf5 together; the slowest "
         "spent 85.47 s in calls on it, the mean is 49.03 s"),
    ],
    # 16 ranks that write one file in small pieces: 7 700 in MPI-IO
    "macsio": [
        ("small-writes", "severe", "7 695 writes of 191 B on average in layer fs took 13.79 s"),
        ("shared-file", "severe",
         "16 ranks wrote /tmp/test/macsio_hdf5_000.h5 together, with 7 759 writes of 1.7 KiB"),
    ],
    # 4 ranks, 59 requests
    "hdf5": [],
    # 2 million writes of 13 bytes, which took 5 s of the 334 617 minutes of all ranks
    "stdio": [],
    # a program that waits for named pipes for 20 minutes, and reads for less than a second
    "dxt": [],
    # 16 ranks that open files and write 4 kB
    "simple": [],
}  # fmt: skip


@NEEDS_DARSHAN
@pytest.mark.parametrize("name", SAID)
def test_what_a_log_of_darshan_says(imported: Imported, name: str) -> None:
    found = explanation(imported(sample(name))).findings
    assert [(each.rule, each.severity) for each in found] == [said[:2] for said in SAID[name]]
    for each, (_, _, text) in zip(found, SAID[name], strict=True):
        assert each.seen.startswith(text)
    if name == "bad":
        assert "storage target" in found[0].change[0].what
