"""Every analysis on a plausible run: on each engine the same, and named in the guide."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.large.generate import START, generate
from tests.drawn import draw

from iostrata import analyse
from iostrata.analyse.engine import DuckDb, Engine
from iostrata.analyse.spark import Spark
from iostrata.records import Record
from iostrata.store.files import run_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

Analysis = Callable[..., Any]
# Arguments of those that need some; all others say something by themselves.
GIVEN: dict[str, tuple[Any, ...]] = {
    "over_time": (START, 10**9),
    "hosts": (START, 10**9),
    "job_usage": (START, 10**9),
    "attempt_usage": (START, 10**9),
    "process_usage": (START, 10**9),
    "file_loads": (START, 10**9),
    "in_io": (START, 10**9),
    "part_bins": (START, 10**9),
    "rank_bins": (START, 10**9),
    "targets_alike": (5,),
    "largest_streams": (5,),
    "busiest": (("read",), ("blk", "hdfs", "input", "spill")),
    "requested": (("read",), ("blk", "hdfs", "input", "spill")),
}
# Of what a made run has nothing: each has a test of its own with rows, on each engine.
NOTHING = {
    *(
        "attempt_usage",
        "child_programs",
        "device_moments",
        "device_totals",
        "dirtied",
        "gaps",
        "hdfs_requests",
        "job_usage",
        "long_pipe_reads",
        "lost_datanodes",
        "map_merges",
        "name_changes",
        "orphans",
        "pauses",
    ),
    *("pipe_reads", "pipeline_failures", "placed_maps", "queues", "slow_mirrors", "spills"),
    *("part_bins", "part_files", "part_operations", "server_reads"),
    *("process_usage", "rank_bins", "rank_files"),
    *("thread_groups", "thread_works", "woven_points"),
}
# Their rows are calls, with all columns of these.
WITHOUT_RECORD = {"moved", "requests"}
ON_SPARK = 40  # that are asked of both engines, drawn anew each day: Spark takes seconds for one
GUIDE = Path(__file__).parents[4] / "docs/guide/analyses.md"


def analyses() -> dict[str, Analysis]:
    """Public functions of all modules of `analyse` that make a table of nothing but values."""
    modules = [
        import_module(f"{analyse.__name__}.{found.name}")
        for found in pkgutil.iter_modules(analyse.__path__)
        if found.name not in ("tests", "tables", "engine")
    ]
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        if function.__annotations__["return"] == "ir.Table"
        if "ir.Table" not in list(function.__annotations__.values())[:-1]
    }


def record_of(name: str, analysis: Analysis) -> type[Record] | None:
    """The record that stands beside an analysis: it has a field for each of its columns."""
    columns = set(analysis(*GIVEN.get(name, ())).columns)
    kinds = vars(import_module(analysis.__module__)).values()
    records = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Record)]
    return next((kind for kind in records if columns in _fields(kind)), None)


def _fields(kind: type[Record]) -> list[set[str]]:
    """Names of all fields, and of those that an estimate does not add."""
    fields = msgspec.structs.fields(kind)
    return [{each.name for each in fields}, {each.name for each in fields if each.required}]


def test_the_guide_names_every_analysis_and_its_record() -> None:
    page = GUIDE.read_text()
    assert [name for name in analyses() if f"`{name}`" not in page] == []
    records = {name: record_of(name, analysis) for name, analysis in analyses().items()}
    assert {name for name, record in records.items() if record is None} <= WITHOUT_RECORD
    assert [kind for kind in records.values() if kind and f"`{kind.__name__}`" not in page] == []


def test_what_a_plausible_run_lacks_is_tested_on_rows_of_its_own() -> None:
    pages = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    tests = [test for page in pages for test in page.split("\ndef ") if "traced(" in test]
    untested = {name for name in NOTHING if not any(f"{name}(" in test for test in tests)}
    assert untested == set()


def test_what_a_plausible_run_lacks_is_known(tmp_path: Path) -> None:
    generate(tmp_path, "r", 4000)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        engine = DuckDb(opened)
        empty = {name for name, function in analyses().items() if not _rows(engine, name, function)}
    assert empty == NOTHING


def _rows(engine: Engine, name: str, function: Analysis) -> list[Any]:
    kind: type[Any] = record_of(name, function) or dict
    return engine.records(function(*GIVEN.get(name, ())), kind)


@pytest.mark.spark
def test_engines_say_the_same_of_a_plausible_run(tmp_path: Path, spark: Any) -> None:
    generate(tmp_path, "r", 4000)
    run = find_run(tmp_path, "r")
    other = Spark(run_files(run))
    with OpenedRun(run) as opened:
        engine = DuckDb(opened)
        for name in draw(every := analyses(), ON_SPARK, "analyses on Spark"):
            rows, others = (_rows(each, name, every[name]) for each in (engine, other))
            assert sorted(rows, key=repr) == sorted(others, key=repr), name
