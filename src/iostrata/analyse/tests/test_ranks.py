from __future__ import annotations

from iostrata.analyse.ranks import RankBin, RankFiles, rank_bins, rank_files
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, process, row_of_call, row_of_sum

US = 1000
RANK = {"role": "rank", "job": "job", "host": "node", "category": "file"}


def test_ranks_stand_beside_each_other(traced: Traced) -> None:
    events = [
        row_of_sum("posix", op, task=f"rank {rank}", **{**RANK, **more})
        for rank, op, more in (
            (10, "open", {}),
            (10, "read", {"count": 5, "bytes": 500, "size_class": 7}),
            (10, "read", {"count": 2, "bytes": 20_000, "size_class": 14}),
            (9, "write", {"count": 3, "bytes": 30_000, "size_class": 14, "point": 2}),
            (9, "close", {}),
            # what ranks tell each other, what MPI-IO counts above, and other programs
            (9, "write", {"category": "socket", "count": 100, "bytes": 100}),
            (9, "write", {"role": "client", "count": 100, "bytes": 100}),
        )
    ]
    events.append(row_of_sum("fs", "write", task="rank 9", **RANK))
    events += [
        row_of_call("posix", "write", "/a", task="rank 9", offset=offset, **RANK)
        for offset in (-1, 0, 8192, 100)
    ]
    found = traced(events, processes=[process("rank", 1, proc=1)]).records(rank_files(), RankFiles)
    assert found == [
        RankFiles(
            job="job", task="rank 9", host="node", calls=4, moves=3, small=0,
            placed=3, unaligned=1, bytes_read=0,
            bytes_written=30_000, reading=0, writing=3 * US, asking=US,
        ),
        RankFiles(
            job="job", task="rank 10", host="node", calls=8, moves=7, small=5,
            placed=0, unaligned=0, bytes_read=20_500,
            bytes_written=0, reading=7 * US, writing=0, asking=US,
        ),
    ]  # fmt: skip
    assert found[1].time == 8 * US


def test_what_ranks_moved_is_in_bins(traced: Traced) -> None:
    grown = {**RANK, "count": 1, "bytes": 100, "dur": SECOND}
    events = [
        row_of_sum("posix", "write", task="rank 1", start=START, **grown),
        row_of_sum("posix", "write", task="rank 1", start=START + 2 * SECOND, **grown),
        row_of_sum("posix", "open", task="rank 2", start=START, **{**grown, "bytes": 0}),
    ]
    found = traced(events).records(rank_bins(START, SECOND), RankBin)
    assert [(row.job, row.task) for row in found] == [("job", "rank 1")] * len(found)
    assert sum(row.moved for row in found if row.bin < 2) == 100
    assert sum(row.moved for row in found if row.bin >= 2) == 100


def test_a_run_without_ranks_has_none(traced: Traced) -> None:
    engine = traced([row_of_sum("posix", "read")])
    assert engine.records(rank_files(), RankFiles) == []
    assert engine.records(rank_bins(START, SECOND), RankBin) == []
