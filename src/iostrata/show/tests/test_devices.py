from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.devices import DeviceTotal
from iostrata.show.devices import MOST_ROWS, device_table

S = 10**9
DISK = DeviceTotal(
    host="node", device="sda", mount="/", interval=4 * S, reads=3, writes=1, bytes_read=4096,
    bytes_written=0, busy=S, waited=2 * S,
)  # fmt: skip


def test_a_device_has_its_requests_and_how_busy_it_was() -> None:
    assert device_table([]) == []
    head, row, note = device_table([DISK])
    assert head.split()[:3] == ["devices", "host", "mounted"]
    assert row.split() == [
        "sda", "node", "/", "3", "1", "4.0", "KiB", "0", "B", "25", "%", "500.0", "ms",
    ]  # fmt: skip
    assert note.endswith("not by process)")


def test_an_idle_one_has_no_time_of_a_request() -> None:
    idle = replace(DISK, reads=0, writes=0, busy=0, waited=0)
    assert device_table([idle])[1].split()[-2:] == ["0", "%"]


def test_names_reach_no_terminal_as_they_are() -> None:
    assert "\x1b" not in "".join(device_table([replace(DISK, device="\x1b", mount="\x1b[2J")]))


def test_only_the_busiest_are_shown() -> None:
    assert device_table([DISK] * (MOST_ROWS + 2))[-2] == "and 2 devices more (--json lists all)"
