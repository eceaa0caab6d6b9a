"""Where the I/O of a Hadoop or Spark job goes, layer by layer, and why.

`open` opens a run, `runs` lists them: see iostrata.api, which is imported when it is used.
"""

from typing import TYPE_CHECKING, Any

from iostrata.errors import UserError
from iostrata.version import __version__

if TYPE_CHECKING:
    from iostrata.api import TracedRun, runs
    from iostrata.api import open_run as open  # noqa: A004

__all__ = ["TracedRun", "UserError", "__version__", "open", "runs"]

if not TYPE_CHECKING:  # or type checkers would believe that every name is there

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from iostrata import api

        return getattr(api, {"open": "open_run"}.get(name, name))
