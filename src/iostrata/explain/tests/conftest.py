from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.engine import DuckDb
from iostrata.explain.facts import RunFacts
from iostrata.explain.tests.made import MINUTE, PROGRAM
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, make_run

Made = Callable[..., RunFacts]


@pytest.fixture
def facts_of(tmp_path: Path) -> Iterator[Made]:
    """Makes a run of a minute of the events given, by one program unless `processes` says more."""
    with ExitStack() as stack:

        def made(events: list[dict[str, Any]], **tables: Any) -> RunFacts:
            tables.setdefault("processes", [PROGRAM])
            tables = {"start": START, "end": START + MINUTE, **tables}
            make_run(tmp_path, "r", events, **tables)
            run = find_run(tmp_path, "r")
            return RunFacts(DuckDb(stack.enter_context(OpenedRun(run))), run)

        yield made
