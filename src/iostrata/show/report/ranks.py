"""Ranks of parallel programs on the page: what each did with files, and when."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.axis import Axis
from iostrata.analyse.ranks import RankBin, RankFiles
from iostrata.records import builtins
from iostrata.show.report.model import Bounded, RankActivity
from iostrata.show.report.moved import moved_by


def ranks(known: Sequence[RankFiles], bins: Sequence[RankBin], axis: Axis) -> Bounded[RankActivity]:
    """Each rank with the bytes that it moved in each bin of the axis, up to the last one."""
    moved = moved_by((((row.job, row.task), row.bin, row.moved) for row in bins), axis)
    rows = [
        RankActivity(**builtins(rank), moved=moved.get((rank.job or "", rank.task), []))
        for rank in known
    ]
    return Bounded(rows, 0)
