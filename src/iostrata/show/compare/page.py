"""A comparison as one HTML page, in the frame of the report."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from iostrata.show.compare.differences import Comparison
from iostrata.show.report.page import page_of

MOST_ROWS = 400  # of a table


def comparison_page(found: Comparison, first: str, second: str) -> str:
    """`first` and `second` are what the user calls the two; raises UserError without the bundle."""
    return page_of(comparison_document(found, first, second), "compare.js", f"{first} and {second}")


def comparison_document(found: Comparison, first: str, second: str) -> dict[str, Any]:
    """What report/src/comparison.ts declares; lists are bounded."""
    document = found.as_dict() | {"iostrata": version("iostrata"), "names": [first, second]}
    for table in document["tables"]:
        table["more"] = max(0, len(table["rows"]) - MOST_ROWS)
        table["rows"] = table["rows"][:MOST_ROWS]
    return document
