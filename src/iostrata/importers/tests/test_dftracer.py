"""Traces that DFTracer wrote; samples/README.md says how."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from iostrata.importers.tests.conftest import Imported

SAMPLES = Path(__file__).with_name("samples")
PARENT, CHILD = SAMPLES / "job.pfw.gz", SAMPLES / "job-fork.pfw.gz"


def test_a_job_did_what_its_program_says(imported: Imported) -> None:
    opened = imported(PARENT, CHILD)
    rows = opened.rows(
        'SELECT target, op, min("offset") AS first, max("offset") AS last, count(*) AS calls, '
        "sum(bytes)::INT AS bytes, sum(coalesce(asked, bytes))::INT AS asked FROM calls "
        "WHERE op IN ('read', 'write') GROUP BY ALL ORDER BY ALL"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("out/a", "read", 0, 50050, 5, 16050, 4 * 4096 + 4096),
        ("out/a", "write", 0, 50000, 17, 16100, 16100),
        ("out/b", "write", None, None, 1, 7, 7),
        ("out/s", "read", 0, 0, 1, 500, 500),
        ("out/s", "write", 0, 0, 1, 800, 800),
    ]
    ops = opened.rows("SELECT op, sum(count)::INT AS n FROM sums GROUP BY op ORDER BY op")
    assert {row["op"]: row["n"] for row in ops} == {
        "close": 3, "delete": 1, "flush": 1, "mkdirs": 1, "open": 4, "read": 6, "rename": 1,
        "seek": 2, "sync": 1, "write": 19,
    }  # fmt: skip
    processes = opened.rows('SELECT host, main, "exit" FROM processes ORDER BY proc')
    assert [tuple(row.values()) for row in processes] == [
        ("node1", "./job", "ended"),
        ("node1", None, "ended"),
    ]
    assert (opened.run.host, opened.run.command, opened.run.state) == ("node1", ("./job",), "ok")
    assert opened.run.message == "imported from dftracer; left out: 1 fork, 1 wait"


def test_without_metadata_there_are_times_only(imported: Imported) -> None:
    opened = imported(SAMPLES / "job-fork-bare.pfw")
    rows = opened.rows("SELECT op, count, bytes, size_class FROM sums ORDER BY op")
    assert [tuple(row.values()) for row in rows] == [
        ("close", 1, 0, 0), ("open", 1, 0, 0), ("write", 1, 0, 255),
    ]  # fmt: skip
    assert "3 calls without file and bytes" in opened.run.message


def test_what_is_cut_off_is_read_so_far(tmp_path: Path, imported: Imported) -> None:
    cut = tmp_path / "cut.pfw.gz"
    cut.write_bytes(PARENT.read_bytes()[:-200])
    opened = imported(cut)
    (found,) = opened.rows("SELECT count(*) AS n FROM calls")
    assert 0 < found["n"] <= 36
    assert opened.run.state == "incomplete"
    assert "cannot be unpacked after line" in opened.run.message


def test_versions_before_had_letters_brackets_and_names(imported: Imported) -> None:
    whose = {"pid": 5, "tid": 6, "cat": "POSIX", "ph": "X", "ts": 1000, "dur": 20}
    events = [
        whose | {"name": "open64", "args": {"fname": "/d"}},
        whose | {"name": "read", "ts": 2000, "args": {"fname": "/d", "ret": 7, "count": 9}},
        whose | {"name": "read", "ts": 3000, "args": {"fname": "/d", "ret": -1, "count": 9}},
        whose | {"name": "no_such_call", "args": {}},
    ]
    lines = [json.dumps(event) for event in events]
    opened = imported("[\n" + ",\n".join(lines) + "\nnonsense\n]\n")
    rows = opened.rows(
        'SELECT tid, start, dur, op, "offset", bytes, error FROM calls ORDER BY start'
    )
    assert [tuple(row.values()) for row in rows] == [
        (6, 1_000_000, 20_000, "open", None, 0, None),
        (6, 2_000_000, 20_000, "read", 0, 7, None),
        (6, 3_000_000, 20_000, "read", 7, 0, "?"),
    ]
    assert opened.run.message == (
        "imported from dftracer; 1 of 7 lines not understood (the first: trace0:6); "
        "left out: 1 no_such_call"
    )


def test_packed_and_not_is_the_same(tmp_path: Path, imported: Imported) -> None:
    plain = tmp_path / "plain.pfw"
    plain.write_bytes(gzip.decompress(PARENT.read_bytes()))
    (row,) = imported(plain).rows("SELECT count(*) AS n, sum(bytes)::INT AS bytes FROM calls")
    assert tuple(row.values()) == (36, 16050 + 16100 + 500 + 800)


def test_arguments_that_are_none_are_not_understood(imported: Imported) -> None:
    event = '{"ph":"X","cat":"POSIX","name":"read","pid":1,"tid":1,"ts":5,"dur":2,"args":%s}\n'
    opened = imported("".join(event % args for args in ('{"ret": 5}', "true", '"x"', "[1]")))
    assert opened.run.source is not None
    assert (opened.run.source.read, opened.run.source.not_understood) == (4, 3)


def test_half_a_character_is_escaped(tmp_path: Path, imported: Imported) -> None:
    trace = tmp_path / "trace.pfw"
    lines = gzip.decompress(PARENT.read_bytes()).decode()
    odd = '{"ph": "X", "cat": "\\ud800", "name": "\\ud800", "pid": 1, "tid": 1, "ts": 5, "dur": 2}'
    trace.write_text(lines + odd + "\n")
    opened = imported(trace)
    assert opened.run.damage == ()
    assert "\\ud800" in opened.run.message


def test_thirty_thousand_processes(imported: Imported) -> None:
    """The number of the next was looked for among all."""
    event = '{"ph":"X","cat":"POSIX","name":"read","pid":%d,"tid":1,"ts":5,"dur":2}\n'
    opened = imported("".join(event % pid for pid in range(30_000)))
    assert opened.rows("SELECT count(*) AS n FROM processes") == [{"n": 30_000}]
