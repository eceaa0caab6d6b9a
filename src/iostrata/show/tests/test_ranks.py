from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.ranks import RankFiles
from iostrata.show.ranks import MOST_ROWS, rank_table

S = 10**9
RANK = RankFiles(
    job="", task="rank 0", host="node", calls=10, moves=8, small=2, placed=4, unaligned=3,
    bytes_read=0, bytes_written=4096, reading=0, writing=2 * S, asking=S,
)  # fmt: skip


def test_the_slowest_rank_is_first_and_compared_with_the_mean() -> None:
    assert rank_table([]) == []
    slow = replace(RANK, task="rank 1", writing=8 * S)
    head, first, second, note = rank_table([RANK, slow])
    assert head.split()[:3] == ["ranks,", "in", "files"]
    assert (first.split()[:2], second.split()[:2]) == (["rank", "1"], ["rank", "0"])
    assert first.split()[-4:] == ["25", "%", "75", "%"]
    assert note.startswith("(rank 1 spent 9.00 s in calls on files, 1.5 times the mean of 2 ranks")


def test_a_rank_that_read_and_wrote_nothing_has_no_small_calls() -> None:
    idle = replace(RANK, moves=0, small=0, placed=0, unaligned=0, writing=0, asking=0)
    *_, row, note = rank_table([idle])
    assert "%" not in row
    assert note.startswith("(rank 0 spent 0 µs in calls on files, 0.0 times the mean of 1 rank")


def test_names_reach_no_terminal_as_they_are() -> None:
    hostile = replace(RANK, task="rank \x1b[2J", host="\x1b[2J")
    assert "\x1b" not in "".join(rank_table([hostile]))


def test_only_the_slowest_are_shown() -> None:
    assert rank_table([RANK] * (MOST_ROWS + 2))[-2] == "and 2 ranks more (--json lists all)"
