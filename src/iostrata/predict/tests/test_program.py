"""Recorded programs on storages that were profiled."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.predict.model import TREE, ModelQuality, StorageModel, Tree
from iostrata.predict.program import Program, recorded_program, times
from iostrata.predict.ranking import rank_program
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, START, make_run, process, row_of_call, usage

QUALITY = ModelQuality(8, 8, 2, 1, 1, 0.0, 0.0, 0.0, 0.9)
MB = 1_000_000
NO_SPREAD = 1e-9
GREP = process("grep", 7, proc=1)


def storage(
    name: str, rate: float, at_random: float, spread: float = NO_SPREAD, **more: Any
) -> StorageModel:
    """Of one speed (bytes/s) in sequence, and one at random."""
    tree = Tree([0, 0, 0], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [0.0, 0.0, 0.0], [8, 4, 4])
    tree.value[1:] = [math.log(rate), math.log(at_random)]
    values: dict[str, list[str | int]] = {
        "operation": ["read"],
        "access": ["sequential", "50-50", "90-10"],
        "size": [1 << 20, 1 << 30],
        "request": [128 << 10],
        "clients": [1, 2],
        "cache": ["dropped"],
        **more,
    }
    features = ["access.random"]
    return StorageModel(name, values, features, tree, None, TREE, spread, {TREE: QUALITY})


class Reader:
    """A program of a thread that computes, and reads 1 MB at a time of /data/a."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.usages: list[dict[str, Any]] = []
        self._at = 0

    def second(self, reads: int, cpu: float, took: float, jump: int = 0, **more: Any) -> None:
        """`took`: seconds of the reads together."""
        begin = START + len(self.usages) * SECOND
        self.usages.append(usage(1, len(self.usages), cpu=round(cpu * SECOND)))
        for number in range(reads):
            self._at += jump
            given = {"host": "node", "proc": 1, "tid": 1, "bytes": MB, "offset": self._at, **more}
            given["start"] = begin + number * SECOND // reads
            given["dur"] = round(took * SECOND / reads)
            self.events.append(row_of_call("posix", given.pop("op", "read"), "/data/a", **given))
            self._at += MB

    def program(self, home: Path, folder: str = "", whose: dict[str, Any] = GREP) -> Program:
        end = START + len(self.usages) * SECOND
        make_run(home, "r", self.events, [whose], usages=self.usages, end=end)
        with OpenedRun(find_run(home, "r")) as opened:
            return recorded_program(opened, folder)


def seconds(program: Program, model: StorageModel, *words: str) -> float:
    return times(program, model, words).time / SECOND


def test_what_is_read_ahead_takes_no_time_of_its_own(tmp_path: Path) -> None:
    """GIVEN a program that reads 100 MB each second out of memory, and then computes for two
    THEN a storage is as fast as what it needs, or holds it back while it reads."""
    reader = Reader()
    for reads in (100, 100, 0, 0):
        reader.second(reads, cpu=1, took=0.1)
    program = reader.program(tmp_path)
    assert program.rest == 4 * SECOND
    assert program.bytes == 200 * MB
    assert seconds(program, storage("fast", 400 * MB, 1)) == pytest.approx(4)
    assert seconds(program, storage("slow", 50 * MB, 1)) == pytest.approx(4 + 2)


def test_a_thread_is_one_client_whatever_it_moves(tmp_path: Path) -> None:
    """GIVEN a thread that reads a file that is synced, and one that is not"""
    reader = Reader()
    reader.second(2, cpu=1, took=0.1)
    other = {"host": "node", "proc": 1, "tid": 1, "bytes": MB, "offset": 0, "start": START}
    reader.events.append(row_of_call("posix", "read", "/data/b", **other))
    reader.events.append(row_of_call("posix", "sync", "/data/b", **{**other, "bytes": 0}))
    loads = [load for moment in reader.program(tmp_path).moments for load in moment.loads]
    assert [load.clients for load in loads] == [1, 1]


def test_waits_for_another_storage_are_left_out(tmp_path: Path) -> None:
    """GIVEN the same program on a disk, where half of its time is waits
    THEN it has no wait in memory, and takes as long on a storage like that disk."""
    reader = Reader()
    for _ in range(4):
        reader.second(50, cpu=0.5, took=0.55)
    program = reader.program(tmp_path)
    assert program.rest == pytest.approx(2 * SECOND)
    assert seconds(program, storage("memory", 10_000 * MB, 1)) == pytest.approx(2)
    assert seconds(program, storage("disk", 50 * MB, 1)) == pytest.approx(4)


def test_a_single_thread_that_jumps_waits_for_each_request(tmp_path: Path) -> None:
    reader = Reader()
    for _ in range(2):
        reader.second(10, cpu=1, took=0.1, jump=50 * MB)
    program = reader.program(tmp_path)
    wide: dict[str, Any] = {"request": [4096, 1 << 30]}
    assert seconds(program, storage("disk", MB, 20 * MB, **wide)) == pytest.approx(2 + 1)


def test_what_is_past_the_page_cache_waits_for_each_request(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1)
    program = reader.program(tmp_path)
    direct = storage("disk", 20 * MB, 1, cache=["direct"], request=[4096, 1 << 30])
    assert seconds(program, direct) == pytest.approx(1 + 0.5)
    nearly = storage("disk", 20 * MB, 1, cache=["direct"], request=[4096, 990_000])
    assert times(program, nearly).moving.outside == []
    either = storage("disk", 20 * MB, 1, cache=["dropped", "direct"], request=[4096, 1 << 30])
    assert seconds(program, either, "cache=direct") == pytest.approx(1 + 0.5)
    assert seconds(program, either, "cache=dropped") == pytest.approx(1)


def test_what_is_read_again_is_in_memory(tmp_path: Path) -> None:
    """GIVEN a program that reads 50 MB twice, and a storage behind the page cache, or not"""
    reader = Reader()
    reader.second(50, cpu=0.1, took=0.9)
    reader._at = 0
    reader.second(50, cpu=0.1, took=0.9)
    program = reader.program(tmp_path)
    assert (program.bytes, program.again) == (50 * MB, 50 * MB)
    assert times(program, storage("disk", 50 * MB, 1)).bytes == 50 * MB
    assert seconds(program, storage("disk", 50 * MB, 1)) == pytest.approx(1.1)
    either = storage("disk", 50 * MB, 1, cache=["dropped", "direct"], request=[4096, 1 << 30])
    assert times(program, either, ["cache=direct"]).bytes == 100 * MB


def test_what_is_not_synced_stays_in_memory(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1)
    reader.second(10, cpu=1, took=0.1, op="write")
    program = reader.program(tmp_path)
    assert (program.bytes, program.unsynced) == (10 * MB, 10 * MB)


def test_who_leaves_all_in_memory_is_no_load(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1, op="write")
    with pytest.raises(UserError, match="synced none that it wrote"):
        reader.program(tmp_path)


def test_an_interval_has_what_the_storage_leaves_open(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(50, cpu=0.1, took=0.9)
    reader.second(0, cpu=1, took=0)
    found = times(reader.program(tmp_path), storage("disk", 50 * MB, 1, spread=math.log(1.25)))
    assert found.time == pytest.approx(2 * SECOND)
    assert found.least == pytest.approx((2 - math.hypot(0.2, 0.2)) * SECOND)
    assert found.most == pytest.approx((2 + math.hypot(0.25, 0.2)) * SECOND)
    assert found.moving.throughput == pytest.approx(50 * MB)


def test_storages_are_ranked_by_a_program(tmp_path: Path) -> None:
    """GIVEN three storages, of which two are faster than what the program computes
    THEN the cheaper of the two is first, where prices are given."""
    reader = Reader()
    for _ in range(4):
        reader.second(100, cpu=1, took=0.1)
    program = reader.program(tmp_path)
    models = [storage(name, rate * MB, 1) for name, rate in (("a", 50), ("b", 200), ("c", 800))]
    found = rank_program(models, program)
    assert [one.name for one in found] == ["b", "c", "a"]
    assert [one.overlaps for one in found] == [False, True, False]
    assert [round((one.time or 0) / SECOND) for one in found] == [4, 4, 8]
    assert [round((one.moving or 0) / SECOND, 2) for one in found] == [2, 0.5, 8]
    paid = rank_program(models, program, prices={"a": 1, "b": 3, "c": 2.5})
    assert [one.name for one in paid] == ["a", "c", "b"]
    assert paid[0].price == pytest.approx(0.4 * 8 / 3600)


def test_a_few_bytes_here_and_there_are_no_load_beyond_a_profile(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(50, cpu=1, took=0.1)
    for place in (3 << 30, 5 << 30, 4 << 30):
        header = {"host": "node", "proc": 1, "tid": 2, "bytes": 9, "offset": place, "dur": 1000}
        reader.events.append(row_of_call("posix", "read", "/data/b", start=START, **header))
    reader.second(0, cpu=1, took=0)
    tiny = {"host": "node", "proc": 1, "tid": 3, "bytes": 73, "offset": 0, "dur": 1000}
    reader.events.append(row_of_call("posix", "read", "/data/c", start=START + SECOND, **tiny))
    found = times(reader.program(tmp_path), storage("disk", 50 * MB, MB))
    assert found.moving.outside == []
    assert found.time == pytest.approx(2 * SECOND, rel=0.01)


def test_what_lies_beyond_a_profile_is_named(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1, jump=50 * MB)
    recorded = reader.program(tmp_path)
    found = times(recorded, storage("disk", MB, MB))
    assert found.moving.outside == ["request 976.6 KiB (profiled: 128 KiB)"]
    small = storage("disk", MB, MB, size=[1 << 20, 100 << 20], request=[1 << 10, 1 << 20])
    found = times(recorded, small)
    assert found.moving.outside == ["size 438.7 MiB (profiled: 1 MiB to 100 MiB)"]


def test_a_job_of_tasks_is_replayed_elsewhere(tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1)
    task = process("map", 7, proc=1, job="job_1_0001", task="attempt_1_0001_m_000000_0")
    with pytest.raises(UserError, match="run r has tasks of MapReduce or Spark"):
        reader.program(tmp_path, whose=task)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("/nowhere", r"run r moved no bytes of files in /nowhere"),
        ("/data", r"run r has not ended"),
    ],
)
def test_runs_that_are_no_load(folder: str, message: str, tmp_path: Path) -> None:
    reader = Reader()
    reader.second(10, cpu=1, took=0.1)
    if "ended" not in message:
        with pytest.raises(UserError, match=message):
            reader.program(tmp_path, folder)
        return
    make_run(tmp_path, "r", reader.events, end=0)
    with OpenedRun(find_run(tmp_path, "r")) as opened, pytest.raises(UserError, match=message):
        recorded_program(opened, folder)
