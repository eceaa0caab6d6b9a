from __future__ import annotations

import random
from operator import attrgetter

import pytest

from iostrata.analyse.hosts import HostBin, hosts
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, sample

CPU = ("cpu_user", "cpu_system", "cpu_iowait", "cpu_idle")


def test_samples_of_a_bin_are_one(traced: Traced) -> None:
    busy = {"cpu_user": SECOND, "cpu_iowait": SECOND // 2, "cpu_idle": SECOND // 2}
    engine = traced(
        [],
        system=[
            sample(-1, disk_read=10**9),  # its middle is before
            sample(0, disk_read=3000, mem_used=5, **busy),
            sample(1, disk_read=1000, mem_used=9, disk_busy=SECOND // 4, io_pressure=SECOND),
            sample(2, net_sent=50, interval=SECOND // 2, cpu_idle=0),  # no core was asked
            sample(1, host="other", io_pressure=None),
        ],
    )
    names = ("host", "bin", *CPU[:3], "disk_busy", "io_pressure")
    moved = ("disk_read", "net_sent", "mem_used")
    found = engine.records(hosts(START, 2 * SECOND), HostBin)
    assert list(map(attrgetter(*names, *moved), found)) == [
        ("node", 0, 0.25, 0.0, 0.125, 0.125, 0.5, 2000.0, 0.0, 9),
        ("node", 1, None, None, None, 0.0, 0.0, 0.0, 100.0, 0),
        ("other", 0, 0.0, 0.0, 0.0, 0.0, None, 0.0, 0.0, 0),
    ]
    assert [row.sampled for row in found] == [2 * SECOND, SECOND // 2, SECOND]


def test_shares_rates_and_levels_are_those_of_the_samples(traced: Traced) -> None:
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
    found = engine.records(hosts(START, 4 * SECOND), HostBin)
    assert [(row.host, row.bin) for row in found] == [(h, n) for h in ("a", "b") for n in range(3)]
    for row in found:
        assert sum(getattr(row, name) for name in CPU) == pytest.approx(1)
        mine = [one for one in samples if one["host"] == row.host and _bin(one) == row.bin]
        passed = sum(one["interval"] for one in mine)
        busy = sum(one["disk_busy"] for one in mine)
        cpu = {name: sum(one[name] for one in mine) for name in CPU}
        for name in moved:  # the very same double
            assert getattr(row, name) == sum(one[name] for one in mine) / (passed / 1e9)
        for name in levels:
            assert getattr(row, name) == max(one[name] for one in mine)
        assert row.disk_busy == busy / passed
        assert row.cpu_user == cpu["cpu_user"] / sum(cpu.values())


def _bin(row: dict[str, int]) -> int:
    return (row["time"] + row["interval"] // 2 - START) // (4 * SECOND)
