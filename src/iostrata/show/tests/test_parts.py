from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.axis import Axis
from iostrata.analyse.parts import PartBin, PartFiles
from iostrata.show.parts import part_table
from iostrata.show.report.programs import programs

S = 10**9
PART = PartFiles(
    part="A", processes=2, start=S, end=4 * S, cpu=S, calls=7, bytes_read=1024, bytes_written=0,
    time=2 * S,
)  # fmt: skip
SERVERS = replace(PART, part="", end=None)


def test_programs_stand_beside_their_servers() -> None:
    assert part_table([]) == []
    head, first, servers, note = part_table([PART, SERVERS])
    assert head.split()[:2] == ["programs", "processes"]
    assert first.split() == ["A", "2", "3.00", "s", "1.00", "s", "7", "1.0", "KiB", "0", "B",
                             "2.00", "s"]  # fmt: skip
    assert servers.split()[:3] == ["servers", "2", "1.00"]  # which go on
    assert note.startswith("(files by the FileSystem API")


def test_names_reach_no_terminal_as_they_are() -> None:
    assert "\x1b" not in "".join(part_table([replace(PART, part="\x1b[2J")]))


def test_bytes_of_programs_and_servers_are_in_bins() -> None:
    axis = Axis(start=0, bin=S, bins=3)
    bins = [
        PartBin("A", "vm", 0, 5, 1),
        PartBin("A", "other", 0, 2, 0),
        PartBin("A", "vm", 9, 1, 0),  # beyond the axis
        PartBin("", "node-2", 1, 0, 4),
        PartBin("", "node-1", 0, 3, 0),
    ]
    assert programs([], bins, axis) is None
    found = programs([PART, SERVERS], bins, axis)
    assert found is not None
    assert [row.moved for row in found.parts.rows] == [[8, 0, 1], [3, 4]]
    assert [(row.host, row.moved) for row in found.servers.rows] == [
        ("node-1", [3]),
        ("node-2", [0, 4]),
    ]
