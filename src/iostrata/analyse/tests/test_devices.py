from __future__ import annotations

from iostrata.analyse.devices import DeviceTotal, device_totals
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, device


def test_devices_are_added_up_the_busiest_first(traced: Traced) -> None:
    rows = [
        device("sda", 0, reads=2, read=8192, busy=SECOND // 4, waited=SECOND),
        device("sda", 1, writes=2, written=100, busy=SECOND // 4, waited=SECOND),
        device("loop1", 0, host="node-1", mount="/data", reads=1, busy=SECOND, waited=3),
        device("loop2", 0, mount="/idle"),
    ]
    found = traced([], devices=rows).records(device_totals(), DeviceTotal)
    assert [(row.host, row.device, row.mount) for row in found] == [
        ("node-1", "loop1", "/data"),
        ("node", "sda", "/"),
        ("node", "loop2", "/idle"),
    ]
    sda, idle = found[1:]
    assert sda == DeviceTotal(
        host="node", device="sda", mount="/", interval=2 * SECOND, reads=2, writes=2,
        bytes_read=8192, bytes_written=100, busy=SECOND // 2, waited=2 * SECOND,
    )  # fmt: skip
    assert (sda.share, sda.time) == (0.25, SECOND // 2)
    assert (idle.share, idle.time) == (0.0, None)


def test_a_run_of_an_older_collector_has_none(traced: Traced) -> None:
    assert traced([]).records(device_totals(), DeviceTotal) == []
