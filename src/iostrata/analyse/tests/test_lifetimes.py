from __future__ import annotations

from dataclasses import replace

from iostrata.analyse.lifetimes import (
    HDFS,
    LOCAL,
    Level,
    PathChange,
    Stored,
    levels,
    levels_at,
    lifetimes,
)

JOB = ("job_1_0001", None)
STAGED = "/out/_temporary/1/_temporary/attempt_1_0001_r_000000_0"
PART = Stored(JOB, HDFS, "hdfs", f"{STAGED}/part-0", 100, 10, 20)


def fate(
    file: Stored, *changes: tuple[str, str, int], end: int | None = 90
) -> tuple[int | None, bool]:
    """When the file was gone, and whether it is temporary."""
    known = [PathChange(file.place, *change) for change in changes]
    (found,) = lifetimes([file], known, {JOB: end})
    return found.freed, found.temporary


def test_a_file_goes_with_a_folder_that_is_deleted() -> None:
    assert fate(PART) == (None, False)
    assert fate(PART, ("delete", "/out", 50)) == (50, True)
    assert fate(PART, ("delete", PART.path, 15)) == (15, True)
    assert fate(PART, ("delete", "/ou", 50), ("delete", f"{PART.path}x", 50)) == (None, False)


def test_what_was_deleted_before_is_another_file() -> None:
    assert fate(PART, ("delete", "/out", 5)) == (None, False)
    # the sum of its writes begins with the second in which both happened
    assert fate(PART, ("delete", "/out", 12), ("create", PART.path, 13)) == (None, False)
    assert fate(PART, ("create", PART.path, 30)) == (30, True)


def test_what_a_task_has_committed_stays_until_its_folder_is_deleted() -> None:
    committed = [
        ("rename", STAGED, 30),
        ("rename", "/out/_temporary/1/task_1_0001_r_000000", 40),
        ("delete", "/out/_temporary", 50),
    ]
    assert fate(PART, *committed) == (None, False)
    assert fate(PART, *committed[1:]) == (50, True)
    assert fate(PART, *committed, ("delete", "/out", 60)) == (60, True)


def test_nobody_knows_where_other_files_are_renamed_to() -> None:
    file = replace(PART, path="/a/b")
    assert fate(file, ("rename", "/a/b", 30), ("delete", "/a", 40)) == (None, False)


def test_some_local_files_go_with_their_job() -> None:
    spill = replace(PART, place=LOCAL, category="spill", path="")
    in_container = replace(spill, category="file", path="/y/appcache/application_1/c/x")
    for file in (spill, in_container):
        assert fate(file) == (90, True)
        assert fate(file, end=None) == (None, True)
    assert fate(replace(in_container, path="/data/x")) == (None, False)
    assert fate(in_container, ("delete", in_container.path, 30)) == (30, True)


def test_devices_hold_no_space() -> None:
    null = replace(PART, place=LOCAL, category="file", path="/dev/null")
    assert list(lifetimes([null], [], {})) == []


def test_levels_grow_evenly_and_fall_at_once() -> None:
    spill = Stored(JOB, LOCAL, "spill", "", 100, 0, 10, freed=30, temporary=True)
    output = Stored(JOB, HDFS, "hdfs", "/out", 60, 20, 40)
    cut_off = Stored(JOB, LOCAL, "file", "/c", 8, 20, 90, freed=20, temporary=True)
    steps = levels([output, spill, cut_off])
    assert steps == [
        Level(0, 0, 0),
        Level(10, 100, 0),
        Level(20, 100, 0),
        Level(30, 100, 30),
        Level(30, 0, 30),
        Level(40, 0, 60),
    ]
    assert levels_at(steps, [-5, 0, 5, 10, 25, 30, 35, 99]) == [
        Level(-5, 0, 0),
        Level(0, 0, 0),
        Level(5, 50, 0),
        Level(10, 100, 0),
        Level(25, 100, 15),
        Level(30, 0, 30),
        Level(35, 0, 45),
        Level(99, 0, 60),
    ]


def test_what_is_left_is_exact_after_many_files() -> None:
    many = [
        Stored(JOB, LOCAL, "file", f"/{n}", 10**9 + n, 1_700 * n, 1_700 * n + 777 * (n % 5))
        for n in range(3000)
    ]
    assert levels(many)[-1].permanent == sum(file.bytes for file in many)
