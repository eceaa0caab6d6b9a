"""The way of the bytes: from what was asked for down to the disks, step by step."""

from __future__ import annotations

from iostrata.analyse.amplification import STEPS, Amplification, amplification
from iostrata.analyse.engine import DuckDb
from iostrata.schema.directions import DIRECTIONS
from iostrata.show.totals import MOVED, Row
from iostrata.store.opened import OpenedRun


def flow(opened: OpenedRun) -> list[Row]:
    """Per direction of `analyse.amplification`: `way`, `steps` (title, layer, bytes, factor: bytes
    over those of the first step).

    `bytes` is null for a step that nothing was counted at, by layers that were not traced in such
    processes or calls that do not tell: that is not 0. `factor` is null when it or the first is.
    """
    counted = {
        (row.direction, row.step): row
        for row in DuckDb(opened).records(amplification(), Amplification)
    }
    found = []
    for way, steps in STEPS.items():
        rows = [
            {
                "title": step.title,
                "layer": step.layer,
                **{
                    name: getattr(counted.get((way, n)), name, None) for name in ("bytes", "factor")
                },
            }
            for n, step in enumerate(steps)
        ]
        if any(row["bytes"] for row in rows):
            found.append({"way": way, "steps": rows})
    return found


def by_category(opened: OpenedRun) -> list[Row]:
    """Bytes moved per layer, category and role, largest first: layer, category, role, bytes_*."""
    return opened.rows(_BY_CATEGORY)


_ALL = " + ".join(f"bytes_{way}" for way in DIRECTIONS)
_BY_CATEGORY = f"""
    SELECT * FROM (
        SELECT layer, coalesce(category, '') AS category, coalesce(role, '') AS role, {MOVED}
        FROM sums GROUP BY ALL)
    WHERE {_ALL} > 0 ORDER BY {_ALL} DESC, layer, category, role"""
