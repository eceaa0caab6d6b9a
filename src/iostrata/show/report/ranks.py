"""Ranks of parallel programs on the page: what each did with files, and when."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.axis import Axis
from iostrata.analyse.ranks import RankBin, RankFiles
from iostrata.records import builtins
from iostrata.show.report.model import Bounded, RankActivity


def ranks(known: Sequence[RankFiles], bins: Sequence[RankBin], axis: Axis) -> Bounded[RankActivity]:
    """Each rank with the bytes that it moved in each bin of the axis, up to the last one."""
    moved: dict[tuple[str, str], list[int]] = {}
    for row in bins:
        values = moved.setdefault((row.job, row.task), [])
        place = min(row.bin, axis.bins - 1)
        values += [0] * (place + 1 - len(values))
        values[place] += row.moved
    rows = [
        RankActivity(**builtins(rank), moved=moved.get((rank.job or "", rank.task), []))
        for rank in known
    ]
    return Bounded(rows, 0)
