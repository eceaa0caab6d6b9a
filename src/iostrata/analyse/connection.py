"""An opened run as a connection of Ibis, for those who ask questions of their own."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from ibis.backends.duckdb import Backend

from iostrata.errors import UserError
from iostrata.store.opened import OpenedRun


class _Connection(Backend):  # type: ignore[misc]
    """Its tables hold it, and it holds the run: that stays open for as long as one is in use."""

    opened: OpenedRun

    def _post_connect(self, *_: Any) -> None:
        # Ibis changes settings of DuckDB here, which OpenedRun has locked. All that it changes is
        # the time zone, which no column has, and what OpenedRun has set alike.
        self._record_batch_readers_consumed: dict[str, Any] = {}


def connected(opened: OpenedRun) -> Backend:
    """Ibis on the views of an opened run, by a connection of its own. Raises UserError where what
    Ibis needs for results is not installed.
    """
    if not all(map(find_spec, ("pandas", "pyarrow", "pyarrow_hotfix"))):
        message = "tables in Python need pandas and pyarrow, which are not installed"
        raise UserError(message, "pip install 'iostrata[tables]'")
    connection = _Connection.from_connection(opened.cursor())
    connection.opened = opened
    return connection
