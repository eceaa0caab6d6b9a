"""A run in Python, as its users read it."""

from __future__ import annotations

import gc
import html
import io
import subprocess
import sys
from pathlib import Path

import pytest

import iostrata
from iostrata.analyse import connection
from iostrata.analyse.totals import OperationTotal, by_operation
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum

# Ibis asks DuckDB and pandas in ways that these call old.
pytestmark = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with two runs: three calls in sums, one of which is recorded individually."""
    monkeypatch.setenv("IOSTRATA_STORE", str(tmp_path))
    events = [
        row_of_sum("java", "read", count=2, bytes=7),
        row_of_sum("java", "write", bytes=5),
        row_of_call("java", "write", "/a <b>", bytes=5),
    ]
    make_run(tmp_path, "first", events, [process("client", 3)], start=1, end=2)
    make_run(tmp_path, "second", events, [process("client", 3)])
    return tmp_path


def test_runs_are_listed_and_opened_by_name_by_folder_and_as_listed(store: Path) -> None:
    assert [run.name for run in iostrata.runs()] == ["second", "first"]
    assert [run.name for run in iostrata.runs(store / "none")] == []
    opened = [
        iostrata.open(),
        iostrata.open("latest"),
        iostrata.open("first"),
        iostrata.open(store / "first"),
        iostrata.open(iostrata.runs(str(store))[0]),
    ]
    assert [run.name for run in opened] == ["second", "second", "first", "first", "second"]
    assert repr(opened[0]) == "<run second: ok, 3.00 s, java Job>"
    assert opened[0].facts.command == ("java", "Job")
    with pytest.raises(iostrata.UserError, match="no run absent in"):
        iostrata.open("absent")


def test_tables_are_those_of_the_run_as_pandas_polars_and_arrow(store: Path) -> None:
    with iostrata.open("first") as run:
        by_op = run.sums.group_by("op").agg(bytes=run.sums.bytes.sum()).order_by("op")
        expected = {"op": ["read", "write"], "bytes": [7, 5]}
        assert by_op.to_pandas().to_dict("list") == expected
        assert by_op.to_polars().to_dict(as_series=False) == expected
        assert by_op.to_pyarrow().to_pydict() == expected
        assert run.calls.target.to_pyarrow().to_pylist() == ["/a <b>"]
        assert run.processes.count().to_pyarrow().as_py() == 1
        assert run.system.count().to_pyarrow().as_py() == 0
        # an analysis, and SQL
        operations = run.ask(by_operation(), OperationTotal)
        assert {each.op: each.calls for each in operations} == {"read": 2, "write": 1}
        assert run.connection.to_pandas(by_operation()).calls.sum() == 3
        assert run.connection.raw_sql("SELECT count(*) FROM calls").fetchall() == [(1,)]


def test_answers_are_those_of_the_commands(store: Path) -> None:
    with iostrata.open() as run:
        assert run.summary.layers[0].bytes_read == 7
        assert run.summary is run.summary
        assert run.incomplete == []
        assert run.findings() == []
        assert run.explain().verdict.text == "No rule found anything that holds this run back."
        text = run.text()
    said = subprocess.run(
        [sys.executable, "-m", "iostrata", "summary"], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"{text}\n"


def test_calls_are_exported_to_a_file_or_whatever_takes_bytes(store: Path, tmp_path: Path) -> None:
    taken = io.BytesIO()
    with iostrata.open() as run:
        assert run.export("csv", tmp_path / "calls.csv") == 1
        assert run.export("csv", taken) == 1
        with pytest.raises(iostrata.UserError, match="no format"):
            run.export("exe", taken)
    assert (tmp_path / "calls.csv").read_bytes() == taken.getvalue()
    assert b"/a <b>" in taken.getvalue()


def test_notebooks_show_a_run_and_its_report(store: Path, tmp_path: Path) -> None:
    with iostrata.open() as run:
        shown, report = run._repr_html_(), run.report()
    assert shown == f"<pre>{html.escape(run.text())}</pre>"
    assert "\ntraced 1/1 processes" in run.text()
    assert "/a <b>" in run.text(full=True)
    assert report.document.run.name == "second"
    assert report.save(tmp_path / "r.html").read_text("utf-8") == report.html
    frame = report._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;!doctype html&gt;')
    assert frame.count('"') == 6  # the page cannot end its own attribute


def test_a_run_is_closed_when_neither_it_nor_a_table_is_in_use(store: Path) -> None:
    run = iostrata.open()
    folder, table = run.opened._folder, run.sums
    del run
    gc.collect()
    assert table.count().to_pyarrow().as_py() == 2
    assert folder.exists()
    del table
    gc.collect()
    assert not folder.exists()
    # AND closing it twice is no error
    run = iostrata.open()
    run.close()
    run.close()
    assert not run.opened._folder.exists()


def test_what_tables_need_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda _: None)
    with iostrata.open() as run, pytest.raises(iostrata.UserError) as raised:
        _ = run.sums
    assert raised.value.remedy == "pip install 'iostrata[tables]'"
    assert str(raised.value) == (
        "tables in Python need pandas and pyarrow, which are not installed"
    )


def test_the_import_is_light_and_names_are_those_it_lists() -> None:
    code = "import sys, iostrata; print(*sorted(m for m in sys.modules if 'iostrata' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["iostrata", "iostrata.errors", "iostrata.version"]
    assert all(hasattr(iostrata, name) for name in iostrata.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'close'"):
        _ = iostrata.close  # type: ignore[attr-defined]
