"""Runs made of foreign traces: their files, and what becomes of bad ones."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.importers import darshan
from iostrata.importers.formats import FORMATS, import_files
from iostrata.importers.tests.conftest import Imported
from iostrata.importers.tests.test_darshan import sample
from iostrata.importers.tests.test_dftracer import PARENT
from iostrata.importers.tests.test_strace import LINES
from iostrata.schema.columns import EVENTS, PROCESSES
from iostrata.schema.types import TYPES
from iostrata.store.runs import find_run


def test_tables_have_the_columns_of_the_contract_in_order(imported: Imported) -> None:
    opened = imported(LINES)
    for table, columns in (("events", EVENTS), ("processes", PROCESSES)):
        found = opened.rows(f"DESCRIBE {table}")
        assert {row["column_name"]: row["column_type"] for row in found} == {
            name: TYPES[kind].duckdb for name, kind in columns.items()
        }
        assert [row["column_name"] for row in found] == list(columns)


def test_a_run_is_its_owners_alone(tmp_path: Path, imported: Imported) -> None:
    opened = imported(LINES)
    files = list(opened.run.path.rglob("*"))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files if path.is_file()}
    assert modes == {0o600}
    assert {path.name for path in opened.run.path.iterdir()} == {
        "events", "processes", "run.json", "progress.json",
    }  # fmt: skip
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["r"]


def test_sums_end_within_the_second_of_their_calls(imported: Imported) -> None:
    lines = [f"{second}.5 read(0</d>, 0x1, 8) = 8 <0.25>" for second in (10, 10, 11, 13)]
    opened = imported("\n".join(lines))
    rows = opened.rows('SELECT start, dur, "count", bytes, timed_dur FROM sums ORDER BY start')
    half, quarter = 500_000_000, 250_000_000
    assert [tuple(row.values()) for row in rows] == [
        (10_000_000_000 + half, quarter, 2, 16, 2 * quarter),
        (11_000_000_000 + half, quarter, 1, 8, quarter),
        (13_000_000_000 + half, quarter, 1, 8, quarter),
    ]


BAD = {
    "nothing": (b"", "is empty"),
    "text": (b"hello\nworld\n", "is no trace of darshan, dftracer, strace"),
    "other.gz": (gzip.compress(b"hello\n"), "is no trace of darshan, dftracer, strace"),
    "times.txt": (
        b"12:00:01 read(0, 0x1, 8) = 8\n" * 3,
        "is no trace of darshan, dftracer, strace",
    ),
    "no_io": (b"1.5 getpid() = 7\n", "holds no I/O that is understood as strace"),
    "huge": (b"1.5 read(0, 0x1, 8) = 9223372036854775807\n", "holds no I/O that is understood"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_trace_is_one_line_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as raised:
        import_files([tmp_path / name], None, tmp_path / "store", "r")
    assert message in raised.value.message
    assert not list((tmp_path / "store").glob("*"))


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    # GIVEN more lines than are between two tellings of progress
    os.mkfifo(tmp_path / "pipe")
    text = "1.5 read(0</d>, 0x1, 8) = 8 <0.25>\n" * 5000
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    # WHEN they come through a pipe
    import_files([tmp_path / "pipe"], "strace", tmp_path / "store", "r")
    writer.join()
    # THEN all are read
    source = find_run(tmp_path / "store", "r").source
    assert source is not None
    assert source.read == 5000
    with pytest.raises(UserError) as raised:
        import_files([tmp_path / "pipe"], None, tmp_path / "store", "s")
    assert "its format is not known before it is read" in raised.value.message


def test_a_log_of_darshan_needs_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        return None

    monkeypatch.setattr(darshan, "find_spec", absent)
    (tmp_path / "log").write_bytes(b"3.41".ljust(8, b"\0") + (6567223).to_bytes(8, "little"))
    with pytest.raises(UserError) as raised:
        import_files([tmp_path / "log"], None, tmp_path / "store", "r")
    assert raised.value.remedy == "pip install 'iostrata[darshan]'"


def test_a_run_is_not_overwritten(tmp_path: Path, imported: Imported) -> None:
    before = imported(LINES).run
    with pytest.raises(UserError) as raised:
        import_files([tmp_path / "trace0"], None, tmp_path / "store", "r")
    assert raised.value.message == f"run r exists already in {tmp_path / 'store'}"
    assert find_run(tmp_path / "store", "r") == before


def test_files_of_two_formats_are_two_runs(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text(LINES)
    with pytest.raises(UserError) as raised:
        import_files([PARENT, tmp_path / "trace.txt"], None, tmp_path / "store", "r")
    assert "is of dftracer" in raised.value.message


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    # GIVEN an import that reads from a pipe which stays open
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "iostrata", "import", str(tmp_path / "pipe")]
    command += ["--format", "strace", "--store", str(tmp_path / "store"), "--run", "r"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child,
        (tmp_path / "pipe").open("w") as pipe,  # waits until it reads
    ):
        pipe.write(LINES)
        pipe.flush()
        # WHEN it is interrupted
        child.send_signal(signal.SIGINT)
        _, said = child.communicate()
    # THEN
    assert (child.returncode, said) == (130, b"")
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize("filling", [b"\n", b"\0"], ids=["lines", "a line"])
def test_what_unpacks_without_end_is_left_off(filling: bytes, tmp_path: Path) -> None:
    """A file of 5 KB, of which one with a thousand times as much would be read for hours."""
    packed = gzip.compress(LINES.encode() + filling * (2 << 20))
    (tmp_path / "trace.gz").write_bytes(packed)
    import_files([tmp_path / "trace.gz"], "strace", tmp_path / "store", "r")
    source = find_run(tmp_path / "store", "r").source
    assert source is not None
    assert source.incomplete.startswith("trace.gz unpacks to more than 200 times its size after")


def test_every_format_recognises_its_own_only(tmp_path: Path) -> None:
    begins = {
        "darshan": sample("hdf5").read_bytes()[:100],
        "dftracer": gzip.decompress(PARENT.read_bytes()),
        "strace": LINES.encode(),
    }
    assert {
        name: [found for found, form in FORMATS.items() if form.recognises(begin)]
        for name, begin in begins.items()
    } == {name: [name] for name in FORMATS}
