"""Runs that others on their hosts hold back."""

from __future__ import annotations

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MB, MS, PROGRAM, did
from iostrata.store.tests.made import SECOND, sample


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
