from __future__ import annotations

from pathlib import Path

from iostrata.replay.tests.made import opened
from iostrata.show.report.document import document
from iostrata.store.tests.made import SECOND, process


def test_a_replayable_run_has_the_grid_of_changes(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        found = document(run).what_if
    assert found is not None
    assert found.missing == ""
    assert found.recorded == 10 * SECOND
    assert abs(found.replayed / found.recorded - 1) < 0.03
    # one host took part, so copies cannot become more
    assert {one.name: one.values for one in found.dimensions} == {
        "disks": ["0.5x", "1x", "2x", "4x"],
        "containers": ["1", "2", "4"],
        "copies": ["1", "2"],
        "cores": ["1x", "2x"],
    }
    assert len(found.choices) == 4 * 3 * 2 * 2
    same = [one for one in found.choices if one.predicted == found.recorded == one.low == one.high]
    assert same


def test_a_run_that_cannot_be_replayed_has_no_section(tmp_path: Path) -> None:
    with opened(tmp_path, processes=[process("client", 1, proc=1)]) as run:
        assert document(run).what_if is None
    with opened(tmp_path / "old", usages=None) as run:
        assert document(run).what_if is None
