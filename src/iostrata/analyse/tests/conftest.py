from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.engine import DuckDb, Engine
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run

Traced = Callable[..., Engine]


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Traced]:
    """Makes a run of the events given and answers expressions over it."""
    with ExitStack() as stack:

        def made(events: list[dict[str, Any]], **tables: Any) -> Engine:
            make_run(tmp_path, "r", events, **tables)
            return DuckDb(stack.enter_context(OpenedRun(find_run(tmp_path, "r"))))

        yield made
