"""Access patterns, as text: of a run, and within 80 columns whatever names it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iostrata.analyse.patterns import access_patterns
from iostrata.analyse.tests.test_patterns import KB, reads, shuffled
from iostrata.show.patterns import pattern_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_sum


def lines(store: Path, rows: list[dict[str, Any]], most: int = 9) -> list[str]:
    make_run(store, "r", rows)
    with OpenedRun(find_run(store, "r")) as opened:
        return pattern_lines(access_patterns(opened, most))


def test_each_stream_has_its_pattern_and_whose_it_is(tmp_path: Path) -> None:
    """GIVEN a file that is read in order, one by columns, one at random, and calls in sums only."""
    rows = [
        *reads(range(0, 40 * KB, KB), role="client", pid=7),
        *reads([y * 100 * KB + x * 2 * KB for y in range(4) for x in range(8)], proc=2, pid=8,
               role="map"),
        *reads(shuffled(24), proc=3, pid=9, role="map", block=4711),
        row_of_sum("java", "read", count=1096),
    ]  # fmt: skip
    assert lines(tmp_path, rows) == [
        "pattern      layer  requests  sequential       of     bytes",
        "contiguous   java         40       100 %  1.0 KiB  40.0 KiB",
        "    read /a by client 7",
        "2-d strided  java         32         0 %  1.0 KiB  32.0 KiB",
        "    read /a by map 8, strides 2.0 KiB, 86.0 KiB",
        "random       java         24         0 %  1.0 KiB  24.0 KiB",
        "    read blk_4711 by map 9",
        "calls of these layers that are in totals only, and in no stream: java 1 000",
    ]


def test_a_long_name_gives_way_to_the_process(tmp_path: Path) -> None:
    rows = [
        each | {"target": f"/a\x1b[2J/{'x' * 400}/part-7", "host": host}
        for host in ("one", "two")
        for each in reads(range(0, 400 * KB, 10 * KB), role="client", pid=7)
    ]
    found = lines(tmp_path, rows, most=1)
    assert max(map(len, found)) == 80
    assert found[2].startswith("    read /a\\x1b[2J/xxx")
    assert found[2].endswith("x/part-7 by client 7, stride 10.0 KiB")
    assert found[3] == "(1 stream more)"


def test_a_run_without_places_says_so(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, [row_of_sum("java", "read", count=9)])
    assert line.startswith("no file has 8 requests of one process that were recorded individually")
