from __future__ import annotations

import random
from pathlib import Path

import pytest

from iostrata.analyse.hosts import hosts
from iostrata.analyse.tests.conftest import Traced
from iostrata.show.report import hosts as report
from iostrata.show.report.axis import Axis
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, START, sample

CPU = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_idle")


def test_samples_of_a_bin_are_one(traced: Traced) -> None:
    busy = {"cpu_user": SECOND, "cpu_iowait": SECOND // 2, "cpu_idle": SECOND // 2}
    engine = traced(
        [],
        system=[
            sample(-1, disk_read=10**9),  # its middle is before
            sample(0, disk_read=3000, mem_used=5, **busy),
            sample(1, disk_read=1000, mem_used=9, disk_busy=SECOND // 4),
            sample(2, net_sent=50, interval=SECOND // 2, cpu_idle=0),  # no core was asked
            sample(1, host="other"),
        ],
    )
    names = ("host", "bin", *CPU[:3], "disk_busy", "disk_read", "net_sent", "mem_used")
    found = engine.rows(hosts(START, 2 * SECOND))
    assert [tuple(row[name] for name in names) for row in found] == [
        ("node", 0, 0.25, 0.0, 0.125, 0.125, 2000.0, 0.0, 9),
        ("node", 1, None, None, None, 0.0, 0.0, 100.0, 0),
        ("other", 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0),
    ]
    assert [row["sampled"] for row in found] == [2 * SECOND, SECOND // 2, SECOND]


def test_shares_add_up_and_are_those_of_the_report(traced: Traced, tmp_path: Path) -> None:
    drawn = random.Random(11)

    def ns() -> int:
        return drawn.randint(1, SECOND)

    moved = ("disk_read", "disk_written", "net_received", "net_sent", "net_loopback")
    levels = ("mem_used", "mem_total", "space_used", "space_total")
    samples = [
        sample(
            second,
            host=host,
            interval=ns(),
            disk_busy=ns(),
            **{name: ns() for name in CPU},
            **{name: drawn.randint(0, 10**10) for name in (*moved, *levels)},
        )
        for host in ("a", "b")
        for second in range(9)
    ]
    engine = traced([], system=samples)
    axis = Axis(START, 4 * SECOND, 3)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        shown = {row["host"]: row["values"] for row in report.hosts(opened, axis)["hosts"]}
    for row in engine.rows(hosts(axis.start, axis.width)):
        assert sum(row[name] for name in CPU) == pytest.approx(1)
        mine = [one for one in samples if one["host"] == row["host"] and _bin(one) == row["bin"]]
        read, passed = (sum(one[name] for one in mine) for name in ("disk_read", "interval"))
        assert row["disk_read"] == read / (passed / 1e9)  # the very same double
        for name, values in shown[row["host"]].items():
            assert row[name] == pytest.approx(values[row["bin"]], abs=1e-4 + (name in moved))


def _bin(row: dict[str, int]) -> int:
    return (row["time"] + row["interval"] // 2 - START) // (4 * SECOND)
