"""What the totals of a made run must be, counted from its calls before they become rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bench.large.shapes import COVERED, INNER
from bench.large.slices import CALLS, Longs, Slice

from iostrata.schema.directions import BYTES_COLUMN, DIRECTION_OF

RECORD = 100  # bytes of each record


class Known:
    """Exact counts, bytes, errors and times (ns), as Python integers of any size."""

    def __init__(self) -> None:
        self._ops: dict[tuple[str, str, bool], Counter[str]] = {}
        self._layers: dict[str, Counter[str]] = {}

    def add(self, made: Slice, begin: int, records: Longs) -> None:
        """The calls of a slice, the task calls around them, and records that are only summed."""
        for place, call in enumerate(CALLS):
            own = made.call == place
            sums = {"calls": own, "bytes": made.bytes[own], "time": made.dur[own]}
            sums["errors"] = made.failed[own]
            self._count(
                (call.layer, call.op), call.flags, {k: int(v.sum()) for k, v in sums.items()}
            )
        time = int((made.ends - begin).sum())
        tasks = {"calls": len(made.ends), "bytes": 0, "time": time, "errors": 0}
        self._count(("task", "run"), 0, tasks)
        count = int(records.sum())
        given = {"calls": count, "bytes": count * RECORD, "errors": 0}
        self._count(("record", "read"), 0, given)

    def _count(self, name: tuple[str, str], flags: int, found: dict[str, int]) -> None:
        nested = bool(flags & INNER)
        self._ops.setdefault((*name, nested), Counter()).update(found)
        layer = self._layers.setdefault(name[0], Counter())
        if not nested:
            layer.update({k: v for k, v in found.items() if k != "bytes"})
        if not flags & COVERED and name[1] in DIRECTION_OF:
            layer[BYTES_COLUMN[DIRECTION_OF[name[1]]]] += found["bytes"]

    def as_dict(self) -> dict[str, Any]:
        """`layers` and `ops` as `iostrata summary --json` has them; no time of records, which is
        estimated."""
        moved = dict.fromkeys(BYTES_COLUMN.values(), 0)
        return {
            "layers": [{"layer": name, **moved, **found} for name, found in self._layers.items()],
            "ops": [
                {"layer": layer, "op": op, "nested": nested, **found}
                for (layer, op, nested), found in self._ops.items()
            ],
        }
