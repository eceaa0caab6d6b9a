"""Runs that others on their hosts hold back."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MB, MS, PROGRAM, did
from iostrata.store.tests.made import SECOND, child, sample


@pytest.mark.parametrize(("own", "is_found"), [(20, True), (90, False)])
def test_a_cpu_that_others_use(facts_of: Made, own: int, is_found: bool) -> None:
    """GIVEN 2 cores, busy for 50 s of 60 s, and a program that used `own` s of these 100 s."""
    busy = [sample(second, cpu_idle=0, cpu_user=2 * SECOND) for second in range(50)]
    idle = [sample(second) for second in range(50, 60)]
    program = {**PROGRAM, "cpu": own * SECOND}
    found = explain(facts_of([], processes=[program], system=busy + idle))
    assert [each.rule for each in found] == (["cpu-taken"] if is_found else ["cpu-bound"])
    if is_found:
        assert found[0].seen == (
            "the CPU of node was busy for 83 % of the run, and processes that were not traced had "
            "80 % of it"
        )
        assert found[0].share == pytest.approx(80 / 120)


def test_a_container_uses_the_cpu_of_its_machine(facts_of: Made) -> None:
    """GIVEN a program on a host of another name than the only one that there are figures of."""
    busy = [sample(second, cpu_idle=0, cpu_user=2 * SECOND) for second in range(60)]
    program = {**PROGRAM, "host": "container-1", "cpu": 110 * SECOND}
    found = explain(facts_of([], processes=[program], system=busy))
    assert [each.rule for each in found] == ["cpu-bound"]


def test_a_cpu_that_other_machines_use(facts_of: Made) -> None:
    """GIVEN 2 cores, of whose 120 s a hypervisor gave other machines 72, and a program that used
    40 s of the rest.
    """
    busy = [sample(n, cpu_idle=0, cpu_user=SECOND * 8 // 10) for n in range(60)]
    (found,) = explain(facts_of([], processes=[{**PROGRAM, "cpu": 40 * SECOND}], system=busy))
    assert found.seen == (
        "the CPU of node was busy for 100 % of the run, and its hypervisor gave other machines "
        "60 % of it"
    )
    assert [each.what for each in found.change] == ["use machines whose CPUs no others share"]


@pytest.mark.parametrize(("own", "is_found"), [(1000, True), (3900, False)])
def test_a_disk_that_others_use(facts_of: Made, own: int, is_found: bool) -> None:
    """GIVEN a disk that is busy for 54 s of 60 s and moves 4,000 MiB, and a program that moved
    `own` MiB of these in 30 s of writes.
    """
    busy = [
        sample(second, disk_written=40 * MB, disk_busy=SECOND * 9 // 10) for second in range(60)
    ]
    busy += [sample(60, disk_written=1600 * MB)]
    program = {**PROGRAM, "disk_read": 0, "disk_written": own * MB}
    writes = did("java", "write", 1000, 30 * MS, flags=0, category="file", size_class=21,
                 bytes=own * MB)  # fmt: skip
    found = explain(facts_of([writes], processes=[program], system=busy))
    assert [each.rule for each in found] == (["disk-taken"] if is_found else [])
    if is_found:
        assert found[0].seen == (
            "a disk of node was busy for 89 % of the run, and processes that were not traced moved "
            "2.9 GiB of 3.9 GiB"
        )
        assert found[0].share == pytest.approx(3 / 8)


@pytest.mark.parametrize(
    ("stalled", "own", "is_found"),
    [(30, 4800, True), (30, 60, False), (5, 4800, False), (None, 4800, False)],
)
def test_memory_that_is_short(
    facts_of: Made, stalled: int | None, own: int, is_found: bool
) -> None:
    """GIVEN a host whose threads stood still for memory in `stalled` s of 60 s, or a kernel that
    does not say; whose disks read 6,000 MiB, `own` of them for the program; and another host.
    """
    one = {"mem_used": 900 * MB, "mem_total": 1000 * MB, "disk_read": 100 * MB}
    short = [
        sample(n, **one, memory_pressure=None if stalled is None else SECOND * (n < stalled))
        for n in range(60)
    ]
    enough = [sample(n, host="other") for n in range(60)]
    program = {**PROGRAM, "disk_read": own * MB, "disk_written": 0}
    found = explain(facts_of([], processes=[program], system=short + enough))
    assert [each.rule for each in found] == (["memory-short"] if is_found else [])
    if is_found:
        assert found[0].seen == (
            "threads of node stood still for memory in 50 % of the time, and the run's processes "
            "read 80 % of what its disks read; up to 900.0 MiB of 1000.0 MiB were in use"
        )
        assert found[0].share == pytest.approx(1 / 5)


BOUND: dict[str, Any] = {"category": "file", "target": "/data", "flags": 0, "size_class": 21}


@pytest.mark.parametrize(
    ("what", "stalled", "own", "called", "is_found"),
    [
        ("threads stand still", 36, 5400, 50, True),
        ("a kernel that does not say so", None, 5400, 50, True),
        ("they do not", 6, 5400, 50, False),
        ("others move most", 36, 1000, 50, False),
        ("nobody waits for what is written behind", 36, 5400, 1, False),
    ],
)
def test_a_disk_that_the_run_keeps_busy(
    facts_of: Made, what: str, stalled: int | None, own: int, called: int, is_found: bool
) -> None:
    """GIVEN a disk that is busy for 48 s of 60 s and moves 6,000 MiB, of which the program reads
    `own`, with calls of `called` s.
    """
    pressure = [None if stalled is None else SECOND * (n < stalled) for n in range(60)]
    busy = [
        sample(n, disk_read=100 * MB, disk_busy=SECOND * 8 // 10, io_pressure=pressure[n])
        for n in range(60)
    ]
    program = {**PROGRAM, "disk_read": own * MB, "disk_written": 0, "mapped": 0}
    reads = did("java", "read", 5400, called * SECOND // 5400, bytes=5400 * MB, **BOUND)
    found = explain(facts_of([reads], processes=[program], system=busy))
    rules = [each.rule for each in found if each.rule != "disk-taken"]
    assert rules == (["disk-bound"] if is_found else []), what
    if is_found and stalled:
        assert found[0].seen == (
            "threads of node stood still for I/O in 60 % of the time, and the run's processes read "
            "5.3 GiB from its disks and wrote 0 B, 90.0 MiB/s; most bytes of its calls were on "
            "/data"
        )
        assert found[0].share == pytest.approx(0.6 * 0.9)


def test_pages_of_mapped_files_need_no_call(facts_of: Made) -> None:
    busy = [sample(n, disk_read=100 * MB, io_pressure=SECOND // 2) for n in range(60)]
    program = {**PROGRAM, "disk_read": 6000 * MB, "disk_written": 0, "mapped": 6000 * MB}
    (found,) = explain(facts_of([], processes=[program], system=busy))
    assert found.rule == "disk-bound"
    assert found.share == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("cpu", "rule", "seen", "share"),
    [
        (40, "child-process", "1 process did nothing for 40.00 s that were CPU time of programs "
         "that it had started: sh", 2 / 3),
        # the child is idle, too
        (0, "idle", "1 process ran for 60.00 s, and for 98 % of that it neither computed nor was "
         "in a traced call", 59 / 60),
    ],
)  # fmt: skip
def test_a_program_that_computes_while_its_parent_is_idle(
    facts_of: Made, cpu: int, rule: str, seen: str, share: float
) -> None:
    """As Ant waits for what it starts, in no call that is traced."""
    parent = {**PROGRAM, "cpu": 2 * SECOND, "cpu_jvm": SECOND, "queued": 0}
    children = [child(1, "sh", cpu=cpu * SECOND), child(2, "of another process")]
    first = explain(facts_of([], processes=[parent], children=children))[0]
    assert (first.rule, first.seen) == (rule, seen)
    assert first.share == pytest.approx(share)
