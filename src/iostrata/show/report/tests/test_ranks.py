from __future__ import annotations

from iostrata.analyse.axis import Axis
from iostrata.analyse.ranks import RankBin
from iostrata.show.report.ranks import ranks
from iostrata.show.tests.test_ranks import RANK


def test_bytes_stand_in_the_bins_of_the_axis() -> None:
    bins = [RankBin("", "rank 0", 1, 10), RankBin("", "rank 0", 3, 20), RankBin("", "rank 9", 0, 5)]
    found = ranks([RANK], bins, Axis(0, 1, 3))
    assert [(row.task, row.moved) for row in found.rows] == [("rank 0", [0, 10, 20])]
    assert found.more == 0


def test_a_rank_that_moved_nothing_has_no_bins() -> None:
    assert ranks([RANK], [], Axis(0, 1, 3)).rows[0].moved == []
