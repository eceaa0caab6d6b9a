from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from iostrata.errors import UserError
from iostrata.schema import columns
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import (
    device,
    make_run,
    process,
    row_of_call,
    row_of_sum,
    sample,
    usage,
)


def opened(store: Path, name: str = "r") -> OpenedRun:
    return OpenedRun(find_run(store, name))


def refusal(store: Path, sql: str) -> str:
    with opened(store) as run, pytest.raises(UserError) as caught:
        run.user_query(sql)
    return caught.value.message


def test_views_hold_their_kind_of_row(tmp_path: Path) -> None:
    # GIVEN
    events = [row_of_sum("java", "read", count=3), row_of_call("java", "read", "/a")]
    make_run(
        tmp_path, "r", events, [process("client", 7)], [sample(0), sample(1)], usages=[usage(7, 0)],
        devices=[device("sda", 0)],
    )  # fmt: skip
    # WHEN
    with opened(tmp_path) as run:
        counts = {
            view: run.user_query(f"SELECT count(*) FROM {view}")[1][0][0]
            for view in ("events", "sums", "calls", "processes", "usage", "system", "devices")
        }
    # THEN
    assert counts == {
        "events": 2, "sums": 1, "calls": 1, "processes": 1, "usage": 1, "system": 2, "devices": 1,
    }  # fmt: skip


def test_run_without_events_has_empty_views(tmp_path: Path) -> None:
    make_run(tmp_path, "r")
    with opened(tmp_path) as run:
        names, rows = run.user_query("SELECT * FROM events")
        process_names, processes = run.user_query("SELECT * FROM processes")
        system_names, samples = run.user_query("SELECT * FROM system")
    assert (names, rows) == (list(columns.EVENTS), [])
    assert (process_names, processes) == (list(columns.PROCESSES), [])
    assert (system_names, samples) == (list(columns.SYSTEM), [])


def test_paths_with_signs_that_sql_or_patterns_read(tmp_path: Path) -> None:
    store = tmp_path / "it's [a] *store*"
    make_run(store, "r", [row_of_sum("java", "read")])
    with opened(store) as run:
        assert run.user_query("SELECT layer FROM sums") == (["layer"], [("java",)])


def test_a_run_behind_a_link_can_be_read(tmp_path: Path) -> None:
    make_run(tmp_path / "node", "r", [row_of_sum("java", "read")])
    (tmp_path / "own").mkdir()
    (tmp_path / "own/r").symlink_to(tmp_path / "node/r")
    with opened(tmp_path / "own") as run:
        assert run.user_query("SELECT layer FROM sums")[1] == [("java",)]


def test_truncated_parquet_is_named(tmp_path: Path) -> None:
    # GIVEN
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    part = run_dir / "events/host=node/part-000001.parquet"
    part.write_bytes(part.read_bytes()[:100])
    # WHEN
    with pytest.raises(UserError) as caught:
        opened(tmp_path)
    # THEN
    why = "is cut short: 100 bytes without the end of a Parquet file"
    assert caught.value.message == f"{part} {why}"
    assert caught.value.remedy == "copy it again, or move it away"


def test_parquet_damaged_inside_is_one_line(tmp_path: Path) -> None:
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    part = run_dir / "events/host=node/part-000001.parquet"
    whole = part.read_bytes()
    part.write_bytes(b"PAR1" + b"\xff" * (len(whole) - 8) + b"PAR1")
    with pytest.raises(UserError) as caught:
        opened(tmp_path)
    assert "\n" not in caught.value.message
    assert caught.value.message.startswith(f"{part} is damaged: ")


def test_a_store_being_written_shows_what_is_published(tmp_path: Path) -> None:
    # GIVEN a published part, and one the collector is writing
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    (run_dir / "events/host=node/.part-000002.parquet.tmp").write_bytes(b"PAR1 half")
    # THEN
    with opened(tmp_path) as run:
        assert run.user_query("SELECT count(*) FROM events")[1] == [(1,)]


def test_files_of_another_version_are_named(tmp_path: Path) -> None:
    run_dir = make_run(tmp_path, "r", [row_of_sum("java", "read")])
    part = run_dir / "events/host=node/part-000001.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["anchor"]), part)
    with pytest.raises(UserError) as caught:
        opened(tmp_path)
    assert caught.value.message == f"{part} lacks the column anchor"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("COPY events TO '/tmp/x.csv'", "COPY is not allowed: a run is only read"),
        ("CREATE TABLE t AS SELECT 1", "CREATE is not allowed: a run is only read"),
        ("ATTACH '/tmp/x.db'", "ATTACH is not allowed: a run is only read"),
        ("INSTALL httpfs", "LOAD is not allowed: a run is only read"),
        ("SET enable_external_access = true", "SET is not allowed: a run is only read"),
        ("SELECT 1; SELECT 2", "one statement at a time, not 2"),
        ("", "one statement at a time, not 0"),
    ],
)
def test_what_a_query_may_not_do(tmp_path: Path, sql: str, message: str) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    assert refusal(tmp_path, sql) == message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
    ],
)
def test_a_query_reads_nothing_but_the_run(tmp_path: Path, sql: str) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    said = refusal(tmp_path, sql)
    assert "disabled" in said or "does not exist" in said
    assert "\n" not in said


def test_a_wrong_query_is_one_line(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    assert refusal(tmp_path, "SELECT nonsense FROM events") == (
        'Binder Error: Referenced column "nonsense" not found in FROM clause!'
    )
    assert refusal(tmp_path, "SELEC 1") == 'Parser Error: syntax error at or near "SELEC"'


def test_rows_come_some_at_a_time(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    with opened(tmp_path) as run:
        rows = run.stream("SELECT range FROM range(10_000_000_000_000) WHERE range >= ?", [5])
        assert [next(rows), next(rows)] == [(5,), (6,)]
        assert list(run.stream("SELECT layer, 1 FROM sums")) == [("java", 1)]
