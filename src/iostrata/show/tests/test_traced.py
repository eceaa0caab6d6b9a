"""What share of a process's bytes was traced, as values and as lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import iostrata
from iostrata.analyse.traced import LEAST_BYTES, traced_shares
from iostrata.show.traced import missing_lines
from iostrata.store.tests.made import START, make_run, process, row_of_sum

MIB = 1 << 20
MOVED = ("io_read", "io_written", "disk_read", "disk_written", "traced_read", "traced_written")


def moved(pid: int, **more: Any) -> dict[str, Any]:
    """A process that has moved nothing but what `more` says."""
    return process("HMaster", pid, **{**dict.fromkeys((*MOVED, "mapped"), 0), "native": "", **more})


def lines(store: Path, *processes: dict[str, Any]) -> list[str]:
    make_run(store, "r", [row_of_sum("java", "read")], [*processes])
    with iostrata.open(store / "r") as run:
        return missing_lines(run.summary.traced_shares)


def test_what_is_missing_is_said_by_process_with_its_cause(tmp_path: Path) -> None:
    found = lines(
        tmp_path,
        moved(1, io_written=100 * MIB, traced_written=96 * MIB, native="netty"),
        moved(2, io_read=60 * MIB, traced_read=42 * MIB, native="netty,library"),
        moved(3, io_written=14 * MIB, native="sqlite"),
        moved(4, io_read=30 * MIB, io_written=30 * MIB, traced_read=45 * MIB, native="children"),
        moved(5, io_written=10 * MIB),
        moved(6, io_read=11 * MIB),
        moved(7, io_read=50 * MIB, lost=9),
    )
    assert found == [
        "30.0 MiB of 60.0 MiB (50 %) by HMaster pid 4 are not traced: native children",
        "18.0 MiB of 60.0 MiB (30 %) by HMaster pid 2 are not traced: "
        "native transport or a JNI library",
        "14.0 MiB of 14.0 MiB (100 %) by HMaster pid 3 are not traced: SQLite by JNI",
        "10.0 MiB of 10.0 MiB (100 %) by HMaster pid 5 are not traced: native code",
        "what HMaster pid 1 sends by another copy of Netty's native transport is neither traced "
        "nor counted",
    ]


def test_devices_count_only_where_files_were_mapped(tmp_path: Path) -> None:
    small_writes = {"io_written": MIB, "traced_written": MIB, "disk_written": 60 * MIB}
    found = lines(
        tmp_path,
        moved(1, **small_writes),
        moved(2, **small_writes, mapped=20 * MIB),
        moved(3, disk_read=28 * MIB, io_read=28 * MIB, mapped=50 * MIB, native="rocksdb"),
        moved(4, disk_read=38 * MIB, io_read=28 * MIB, mapped=50 * MIB, native="rocksdb"),
    )
    assert found == [
        "38.0 MiB of 38.0 MiB (100 %) by HMaster pid 4 are not traced: "
        "mapped files or RocksDB by JNI",
        "28.0 MiB of 28.0 MiB (100 %) by HMaster pid 3 are not traced: RocksDB by JNI",
        "20.0 MiB of 21.0 MiB (95 %) by HMaster pid 2 are not traced: mapped files",
    ]


def test_what_traced_children_did_is_not_missing(tmp_path: Path) -> None:
    manager = moved(1, io_written=40 * MIB, native="children", start=START, host="node")
    container = {"start": START + 1, "end": START + 9, "host": "node"}
    traced = {"io_written": 38 * MIB, "traced_written": 38 * MIB}
    assert lines(tmp_path / "traced", manager, moved(2, **container, **traced)) == []
    (line,) = lines(tmp_path / "other", manager, moved(2, **{**container, "host": "b"}, **traced))
    assert line.startswith("40.0 MiB of 40.0 MiB (100 %) by HMaster pid 1 ")


def test_little_is_not_said_but_known(tmp_path: Path) -> None:
    make_run(
        tmp_path,
        "r",
        [row_of_sum("java", "read")],
        [moved(1, io_written=LEAST_BYTES), process("map", 2), process("map", 3, traced=False)],
    )
    with iostrata.open(tmp_path / "r") as run:
        (known,) = run.summary.traced_shares
        assert (known.pid, known.missing, known.share) == (1, LEAST_BYTES, 0.0)
        assert "are not traced" not in run.text()
        assert traced_shares([]) == []


def test_the_first_screen_names_it_and_the_full_summary_has_a_table(tmp_path: Path) -> None:
    make_run(
        tmp_path,
        "r",
        [row_of_sum("java", "read")],
        [
            moved(7, io_written=9 * MIB, native="netty"),
            moved(8, io_written=MIB, traced_written=MIB),
        ],
    )
    line = "9.0 MiB of 9.0 MiB (100 %) by HMaster pid 7 are not traced: native transport"
    with iostrata.open(tmp_path / "r") as run:
        screen, full = run.text(), run.text(full=True)
    assert line in screen.splitlines()
    assert line in full.splitlines()
    table = [" ".join(text.split()) for text in full.splitlines()]
    place = next(place for place, text in enumerate(table) if text.startswith("process moved"))
    assert table[place : place + 3] == [
        "process moved missing read written from disk to disk traced likely cause",
        "HMaster pid 7 9.0 MiB 9.0 MiB 0 B 9.0 MiB 0 B 0 B 0 % native transport",
        "HMaster pid 8 1.0 MiB 0 B 0 B 1.0 MiB 0 B 0 B 100 %",
    ]
