"""The sample logs of the package `darshan`, against the numbers that it reports itself."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.patterns import Pattern, patterns
from iostrata.analyse.summary import summary
from iostrata.analyse.targets import targets
from iostrata.analyse.totals import OperationTotal, by_operation
from iostrata.importers.tests.conftest import NEEDS_DARSHAN, Imported
from iostrata.records import builtins
from iostrata.show.report.document import document
from iostrata.show.summary import summary_lines

pytestmark = NEEDS_DARSHAN

# Every counter that an operation of a layer adds up, written down apart from what is tested.
COUNTERS = {
    ("posix", "read"): ["POSIX_READS", "STDIO_READS"],
    ("posix", "write"): ["POSIX_WRITES", "STDIO_WRITES"],
    ("posix", "open"): ["POSIX_OPENS", "STDIO_OPENS"],
    ("posix", "seek"): ["POSIX_SEEKS", "STDIO_SEEKS"],
    ("posix", "stat"): ["POSIX_STATS"],
    ("posix", "sync"): ["POSIX_FSYNCS", "POSIX_FDSYNCS"],
    ("posix", "flush"): ["STDIO_FLUSHES"],
    ("fs", "read"): [
        "MPIIO_INDEP_READS", "MPIIO_COLL_READS", "MPIIO_SPLIT_READS", "MPIIO_NB_READS",
    ],
    ("fs", "write"): [
        "MPIIO_INDEP_WRITES", "MPIIO_COLL_WRITES", "MPIIO_SPLIT_WRITES", "MPIIO_NB_WRITES",
    ],
    ("fs", "open"): ["MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS"],
    ("record", "read"): ["H5D_READS"],
    ("record", "write"): ["H5D_WRITES"],
    ("record", "open"): ["H5D_OPENS", "H5F_OPENS"],
}  # fmt: skip
BYTES = {
    ("posix", "read"): ["POSIX_BYTES_READ", "STDIO_BYTES_READ"],
    ("posix", "write"): ["POSIX_BYTES_WRITTEN", "STDIO_BYTES_WRITTEN"],
    ("fs", "read"): ["MPIIO_BYTES_READ"],
    ("fs", "write"): ["MPIIO_BYTES_WRITTEN"],
    ("record", "read"): ["H5D_BYTES_READ"],
    ("record", "write"): ["H5D_BYTES_WRITTEN"],
}
TIMES = {
    "posix": [f"{module}_F_{kind}_TIME" for module in ("POSIX", "STDIO") for kind in
              ("READ", "WRITE", "META")],
    "fs": [f"MPIIO_F_{kind}_TIME" for kind in ("READ", "WRITE", "META")],
    "record": [f"H5D_F_{kind}_TIME" for kind in ("READ", "WRITE", "META")] + ["H5F_F_META_TIME"],
}  # fmt: skip
SAMPLES = {
    "dxt": "examples/example_logs/dxt.darshan",
    "hdf5": "examples/example_logs/ior_hdf5_example.darshan",
    "posix": "tests/input/sample-goodost.darshan",
    "mpi": "tests/input/sample.darshan",
    "stdio": "tests/input/noposix.darshan",
    "bad": "tests/input/sample-badost.darshan",
    "simple": "tests/input/sample-dxt-simple.darshan",
    "macsio": "examples/example_logs/shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158"
    ".darshan",
}


def sample(name: str) -> Path:
    found = find_spec("darshan")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / SAMPLES[name]


def reported(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Counters and times of a log, added up over its records, as the report of darshan has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import darshan

        report: Any = darshan.DarshanReport(str(path), read_all=True)
        counts: Counter[str] = Counter()
        times: Counter[str] = Counter()
        for module in ("POSIX", "STDIO", "MPI-IO", "H5F", "H5D"):
            if module not in report.records:
                continue
            frames = report.records[module].to_df()
            whole = frames["counters"].drop(columns=["id", "rank"]).clip(lower=0).sum()
            counts.update({name: int(value) for name, value in whole.items()})
            times.update(
                frames["fcounters"].drop(columns=["id", "rank"]).clip(lower=0).sum().to_dict()
            )
    return counts, times


@pytest.mark.parametrize("name", SAMPLES)
def test_totals_are_those_of_darshan(name: str, imported: Imported) -> None:
    counts, times = reported(sample(name))
    opened = imported(sample(name))
    rows = opened.rows(
        'SELECT layer, op, sum("count")::BIGINT AS n, sum(bytes)::BIGINT AS bytes FROM sums '
        "WHERE op NOT IN ('rename', 'map') GROUP BY ALL"
    )
    expected = {key: sum(counts[name] for name in names) for key, names in COUNTERS.items()}
    assert {(row["layer"], row["op"]): row["n"] for row in rows} == {
        key: n for key, n in expected.items() if n
    }
    moved = {key: sum(counts[name] for name in names) for key, names in BYTES.items()}
    assert {(row["layer"], row["op"]): row["bytes"] for row in rows if row["bytes"]} == {
        key: n for key, n in moved.items() if n
    }
    found = {row.layer: row.time for row in summary(opened).layers}
    for layer, time in found.items():
        assert time / 1e9 == pytest.approx(sum(times[name] for name in TIMES[layer]), abs=1e-3)


def test_segments_are_calls_one_by_one(imported: Imported) -> None:
    opened = imported(sample("hdf5"))
    rows = opened.rows(
        "SELECT layer, task, op, count(*) AS n, sum(bytes)::INT AS bytes FROM calls "
        "WHERE task = 'rank 0' GROUP BY ALL ORDER BY ALL"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("fs", "rank 0", "read", 12, 1051088),
        ("fs", "rank 0", "write", 7, 1048808),
        ("posix", "rank 0", "read", 12, 1051088),
        ("posix", "rank 0", "write", 7, 1048808),
    ]
    (first,) = opened.rows(
        'SELECT host, "offset", bytes, start, dur, target FROM calls '
        "WHERE layer = 'posix' AND task = 'rank 1' ORDER BY start LIMIT 1"
    )
    assert tuple(first.values()) == (
        "nid00097", 1050624, 262144, 1594155460_029976845, 1316070,
        "/global/cscratch1/sd/ssnyder/test123.h5",
    )  # fmt: skip
    assert opened.run.message == (
        "imported from darshan; left out: 1 module LUSTRE; 118 of 270 reads and "
        "writes were recorded individually (DXT), all are in totals"
    )


def test_all_that_reads_runs_reads_it(imported: Imported) -> None:
    opened = imported(sample("hdf5"))
    text = summary_lines(summary(opened))
    assert text[0] == "traced 4/4 processes, 0 dropped"
    assert not [line for line in text if "not traced by" in line or "job history" in line]
    shown = builtins(document(opened))
    assert len(shown["tasks"]["rows"]) >= 4
    # each bin of the time axis is of what darshan counted in it: together they are all
    for row in shown["series"]:
        (whole,) = (layer for layer in shown["layers"] if layer["layer"] == row["layer"])
        assert sum(row["calls"]) == whole["calls"]
    engine = DuckDb(opened)
    assert {row.layer for row in engine.records(by_operation(), OperationTotal)} == {
        "record",
        "fs",
        "posix",
    }
    assert {row.requests for row in engine.records(patterns(), Pattern)} == {8, 12}
    hottest = engine.records(targets(), dict)
    assert sum(row["calls"] for row in hottest) == sum(row["calls"] for row in shown["layers"])


def test_times_below_0_are_counted_and_said(imported: Imported) -> None:
    # Darshan 3.1.3 wrote a time of -2662.7 s for a stream
    opened = imported(sample("mpi"))
    assert "1 times below 0 in sample.darshan count as 0" in opened.run.message


def test_logs_of_one_run_are_added_up(tmp_path: Path, imported: Imported) -> None:
    (one, two) = (sample("posix"), tmp_path / "again.darshan")
    shutil.copy(one, two)
    opened = imported(one, two)
    counts, _ = reported(one)
    (row,) = opened.rows("SELECT sum(bytes)::BIGINT AS n FROM sums WHERE op = 'write'")
    assert row["n"] == 2 * (counts["POSIX_BYTES_WRITTEN"] + counts["STDIO_BYTES_WRITTEN"])
    (row,) = opened.rows("SELECT count(DISTINCT proc) AS n FROM processes")
    assert row["n"] == 2 * 48


def test_what_only_counters_say_of_files_is_a_fact_of_the_run(imported: Imported) -> None:
    """GIVEN a log of two files of which one is written by all ranks, at no boundary of 1 MiB."""
    source = imported(sample("mpi")).run.source
    assert source is not None
    longest, *rest = source.counted
    assert longest.target.endswith("/vpicio.hdf5")
    assert (longest.requests, longest.unaligned, longest.alignment) == (16402, 16401, 1 << 20)
    assert (longest.consecutive, longest.slowest // 10**9) == (0, 85)
    assert longest.time == pytest.approx(100408.9e9, rel=1e-6)
    assert rest == []
