from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from iostrata.importers.formats import import_files
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

Imported = Callable[..., OpenedRun]
NEEDS_DARSHAN = pytest.mark.skipif(
    find_spec("darshan") is None, reason="darshan is not installed (the extra `darshan`)"
)


@pytest.fixture
def imported(tmp_path: Path) -> Iterator[Imported]:
    """Imports files, or a text, and opens the run."""
    with ExitStack() as stack:

        def made(*files: Path | str, format_name: str | None = None) -> OpenedRun:
            paths = []
            for number, file in enumerate(files):
                path = file if isinstance(file, Path) else tmp_path / f"trace{number}"
                if isinstance(file, str):
                    path.write_text(file)
                paths.append(path)
            import_files(paths, format_name, tmp_path / "store", "r")
            return stack.enter_context(OpenedRun(find_run(tmp_path / "store", "r")))

        yield made
