"""A comparison as one HTML page, in the frame of the report."""

from __future__ import annotations

from iostrata.analyse.comparison import Comparison
from iostrata.records import builtins
from iostrata.show.report.page import page_of

MOST_ROWS = 400  # of a table


def comparison_page(comparison: Comparison) -> str:
    """Raises UserError without the bundle; report/src/comparison.ts reads the document."""
    names = " and ".join(comparison.names)
    return page_of(builtins(comparison.bounded(MOST_ROWS)), "compare.js", names)
