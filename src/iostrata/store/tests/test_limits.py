"""What reading a run may take, and that it keeps to it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.store import opened as opening
from iostrata.store.limits import LEAST_MEMORY, MOST_MEMORY, memory
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_call, row_of_sum

# 160 MB of numbers that cannot be compressed while they are in memory.
LARGE = "CREATE TEMP TABLE large AS SELECT range AS n, hash(range) AS h FROM range(10_000_000)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; 50 MB of memory."""
    found = tmp_path / "it's for a while"
    found.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    monkeypatch.setenv("IOSTRATA_MEMORY", "50MB")
    return found


@pytest.mark.parametrize(
    ("asked", "bytes_"), [("500MB", 500 * 10**6), ("2 GB", 2 * 10**9), ("1TB", 10**12)]
)
def test_memory_is_what_was_asked_for(
    asked: str, bytes_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTRATA_MEMORY", asked)
    assert memory(0) == bytes_


def test_memory_has_bounds_where_nothing_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOSTRATA_MEMORY", raising=False)
    assert LEAST_MEMORY <= memory(1 << 60) <= MOST_MEMORY


@pytest.mark.parametrize("asked", ["", "2", "2G", "much", "-2GB", "49MB"])
def test_what_is_no_size_is_one_line(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSTRATA_MEMORY", asked)
    with pytest.raises(UserError) as caught:
        memory(0)
    assert caught.value.message == f"IOSTRATA_MEMORY is {asked!r}"
    assert caught.value.remedy == "give a size from 50MB, like 2GB"


def test_what_does_not_fit_is_spilled_and_leaves(tmp_path: Path, folder: Path) -> None:
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    with OpenedRun(find_run(tmp_path, "r")) as run:
        run.rows(LARGE)
        (spilled,) = run.rows("SELECT sum(size) > 50_000_000 AS much FROM duckdb_temporary_files()")
        (found,) = run.rows("SELECT sum(n)::BIGINT AS n, count(DISTINCT h) AS h FROM large")
        (own,) = folder.iterdir()
        assert (own.stat().st_mode & 0o777, any(own.iterdir())) == (0o700, True)
    assert spilled == {"much": True}
    assert found == {"n": 10_000_000 * 9_999_999 // 2, "h": 10_000_000}
    assert list(folder.iterdir()) == []


def test_a_disk_is_never_filled(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a disk of which half is 20 MB
    monkeypatch.setattr(opening, "spill_space", lambda _: 20 * 10**6)
    make_run(tmp_path, "r", [row_of_sum("java", "read")])
    # THEN
    with OpenedRun(find_run(tmp_path, "r")) as run, pytest.raises(UserError) as caught:
        run.rows(LARGE)
    assert "\n" not in caught.value.message
    assert caught.value.remedy == (
        "give more memory with IOSTRATA_MEMORY, or a larger disk with TMPDIR"
    )
    assert list(folder.iterdir()) == []


def test_gathered_sums_are_the_sums(tmp_path: Path, folder: Path) -> None:
    events = [row_of_sum("java", "read", count=3), row_of_call("java", "read", "/a")]
    make_run(tmp_path, "r", events)
    with OpenedRun(find_run(tmp_path, "r")) as run:
        before = run.rows("SELECT * FROM sums")
        run.gather_sums()
        run.gather_sums()
        assert run.rows("SELECT * FROM sums") == before
        assert run.user_query("SELECT count(*) FROM events")[1] == [(2,)]
    assert list(folder.iterdir()) == []
