from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.engine import DuckDb, Engine
from iostrata.analyse.spark import Spark
from iostrata.store.files import run_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run

Traced = Callable[..., Engine]


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def traced(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Traced]:
    """Makes a run of the events given and answers expressions over it, on each engine."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    with ExitStack() as stack:

        def made(events: list[dict[str, Any]], **tables: Any) -> Engine:
            make_run(tmp_path, "r", events, **tables)
            run = find_run(tmp_path, "r")
            if request.param == "spark":
                return Spark(run_files(run))
            return DuckDb(stack.enter_context(OpenedRun(run)))

        yield made
