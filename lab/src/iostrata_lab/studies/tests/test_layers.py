from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, make_run, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import ClaimVerdict, StudyRun
from iostrata_lab.studies.layers import LOWER, STREAM, UPPER
from iostrata_lab.studies.tests.made import sample

LAYERS = STUDIES.named("layers")
SECOND = 10**9


def test_each_layer_has_what_belongs_to_it_in_bins_of_half_a_second(tmp_path: Path) -> None:
    second = {"start": START + SECOND, "dur": SECOND}
    events = [
        row_of_sum("record", "write", role="map", count=10, **second),
        row_of_sum("fs", "write", role="map", category="hdfs", count=4, bytes=400, **second),
        row_of_sum("fs", "write", role="map", category="file", bytes=7, **second),
        row_of_sum("fs", "write", role="client", category="hdfs", bytes=7, **second),
        row_of_sum("java", "write", role="DataNode", category="blk", bytes=500, **second),
        row_of_sum("java", "write", role="DataNode", category="blk_meta", bytes=10, **second),
        row_of_sum("java", "write", role="DataNode", category="pipe", bytes=7, **second),
        row_of_sum("java", "read", role="DataNode", category="blk", bytes=7, **second),
    ]
    make_run(tmp_path, "r", events, [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        measured = LAYERS.measure(opened)
    assert measured["bin"] == 0.5
    shown = {
        name: {what: [at for at in values if at] for what, values in measured[name].items()}
        for name in (UPPER, STREAM, LOWER)
    }
    assert shown == {
        UPPER: {"calls": [5, 5], "bytes": []},
        STREAM: {"calls": [2, 2], "bytes": [200, 200]},
        LOWER: {"calls": [1, 1], "bytes": [255, 255]},
    }


def run(upper: list[int], lower: list[int]) -> StudyRun:
    measured = {
        "bin": 0.5,
        UPPER: {"calls": upper, "bytes": [0] * len(upper)},
        STREAM: {"calls": upper, "bytes": [100 * one for one in upper]},
        LOWER: {"calls": lower, "bytes": [1000 * one for one in lower]},
    }
    return sample("randomtextwriter", measured)


def test_the_two_layers_side_by_side() -> None:
    outcome = LAYERS.conclude([run([0, 40, 40, 0], [0, 0, 3, 5])])
    (table,) = outcome.tables
    assert table.rows == [
        ["1", UPPER, "80", "not counted", "not counted", "80", "not counted"],
        ["1", STREAM, "80", "7.8 KiB", "100 B", "80", "7.8 KiB"],
        ["1", LOWER, "8", "7.8 KiB", "1000 B", "10", "9.8 KiB"],
    ]
    more, pattern, waves = outcome.claims
    assert (more.verdict, more.because) == (
        ClaimVerdict.agrees,
        "records written over writes of DataNodes into blocks: 10.0 times",
    )
    assert pattern.verdict == ClaimVerdict.agrees
    assert waves.verdict == ClaimVerdict.unknown
    assert ElementTree.fromstring(outcome.figure)


def test_layers_with_hardly_fewer_requests_are_alike() -> None:
    more, pattern, _ = LAYERS.conclude([run([0, 6, 9, 0], [0, 4, 6, 0])]).claims
    assert (more.verdict, pattern.verdict) == (ClaimVerdict.agrees, ClaimVerdict.differs)
    assert pattern.because.endswith("in which there are any: 1.00")
    fewer, *_ = LAYERS.conclude([run([1, 1], [2, 2])]).claims  # nothing to correlate either
    assert fewer.verdict == ClaimVerdict.differs
