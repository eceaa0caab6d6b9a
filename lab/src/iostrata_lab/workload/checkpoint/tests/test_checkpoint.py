"""Each byte of a checkpoint is written once, whatever its pattern; IOR is asked for the same."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.progress import silent
from iostrata_lab.workload.checkpoint import CHECKPOINT
from iostrata_lab.workload.checkpoint.layout import content, offsets, path
from iostrata_lab.workload.checkpoint.parameters import PARAMETERS, check, total
from iostrata_lab.workload.checkpoint.work import ior_options, read_ior, summed
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.places import MountedFolder, mounted_at

RANKS = 3
ORDER: dict[str, Any] = {"block": 12, "transfer": 4, "segments": 2, "seed": 1, "folder": "/f"}


def context(folder: str, *given: str) -> Context:
    chosen = values(PARAMETERS, given)
    return Context(chosen, 5, ClusterClient({}), folder, Path("/scratch"), silent, "tag")


@pytest.mark.parametrize("pattern", ["n-n", "segmented", "strided"])
def test_each_byte_is_written_once(pattern: str) -> None:
    order = {**ORDER, "pattern": pattern}
    by_rank = [offsets(order, rank, RANKS) for rank in range(RANKS)]
    files = [[own] for own in by_rank] if pattern == "n-n" else [by_rank]
    for parts in files:
        size = 24 * len(parts)
        assert sorted(chain.from_iterable(parts)) == list(range(0, size, 4))


def test_patterns_are_those_of_ior() -> None:
    assert offsets({**ORDER, "pattern": "n-n"}, 1, RANKS) == [0, 4, 8, 12, 16, 20]
    assert offsets({**ORDER, "pattern": "segmented"}, 1, RANKS) == [12, 16, 20, 48, 52, 56]
    assert offsets({**ORDER, "pattern": "strided"}, 1, RANKS) == [4, 16, 28, 40, 52, 64]


def test_ranks_and_checkpoints_differ_in_names_and_content() -> None:
    own, one = {**ORDER, "pattern": "n-n"}, {**ORDER, "pattern": "strided"}
    assert path(own, 2, 1) == "/f/checkpoint-2.1"
    assert path(one, 2, 1) == "/f/checkpoint-2"
    assert len({content(own, number, rank) for number in range(2) for rank in range(2)}) == 4


def test_a_checkpoint_lasts_from_its_first_rank_to_its_last() -> None:
    steps = {"open": 0.1, "write": 1.0, "sync": 0.5, "close": 0.0}
    rows = [
        {"checkpoint": 0, "rank": 0, "bytes": 1 << 20, "writes": 4, "start": 1.0, "end": 2.5}
        | steps,
        {"checkpoint": 0, "rank": 1, "bytes": 1 << 20, "writes": 4, "start": 1.5, "end": 3.0}
        | steps
        | {"write": 1.2},
    ]
    (found,) = summed(rows)
    assert found["s"] == 2.0
    assert found["mib_s"] == 1.0
    assert (found["write_s"], found["slowest_rank"], found["writes"]) == (1.2, 1, 8)


def test_ior_is_asked_for_the_same() -> None:
    asked = context("/f", "pattern=strided", "block=8MB", "transfer=1MB", "segments=2")
    options = " ".join(ior_options(asked, Path("/scratch/ior.json")))
    assert options.startswith("-w -k -m -C -a POSIX -b 1048576 -t 1048576 -s 16 -i 3 -d 0 -e")
    assert "-F" not in options
    assert "-F" in ior_options(context("/f"), Path("/a"))


def test_what_ior_says_of_each_checkpoint() -> None:
    row = {"access": "write", "bwMiB": 64.0, "totalTime": 1.0}
    row |= {"openTime": 0.1, "wrRdTime": 0.8, "closeTime": 0.1}
    asked = {"segmentCount": 2, "blockSize": 8 << 20, "transferSize": 1 << 20}
    results = [row, {**row, "access": "read", "totalTime": 0.5}]
    test = {"Parameters": asked, "Options": {"tasks": 4}, "Results": results}
    found = read_ior({"tests": [test]})
    (saved,) = found["checkpoints"]
    assert (saved["checkpoint"], saved["bytes"], saved["writes"]) == (0, 64 << 20, 64)
    assert (saved["mib_s"], found["restart_s"]) == (64.0, 0.5)


def test_what_cannot_work_together() -> None:
    for given, complaint in (
        (("block=10", "transfer=4"), "block=10 is no multiple of transfer=4"),
        (("collective=true",), "collective=true needs api=mpiio"),
        (("collective=true", "api=mpiio"), "ranks with files of their own"),
    ):
        with pytest.raises(UserError, match=complaint):
            check(context("/f", *given))


def test_files_that_are_dropped_take_no_space() -> None:
    saved = 4 * (16 << 20)
    assert total(context("/f")) == 3 * saved
    assert total(context("/f", "checkpoints=10")) == 3 * saved
    assert total(context("/f", "checkpoints=1")) == saved


def test_a_folder_is_checked_before_anything_is_written(tmp_path: Path) -> None:
    place = MountedFolder()
    for folder, complaint in (
        (tmp_path / "none" / "new", "is no folder"),
        (tmp_path, "is there already"),
    ):
        with pytest.raises(UserError, match=complaint):
            place.check(CHECKPOINT, context(str(folder)))
    with pytest.raises(UserError, match=r"needs .* are free"):
        place.check(CHECKPOINT, context(str(tmp_path / "new"), "block=1TB", "ranks=4096"))
    new = context(str(tmp_path / "new"))
    place.check(CHECKPOINT, new)
    place.make(new)
    (tmp_path / "new" / "file").touch()
    place.remove(new)
    assert list(tmp_path.iterdir()) == []


def test_the_file_system_of_a_folder_is_known() -> None:
    assert mounted_at(Path("/proc/self")) == "proc at /proc"
