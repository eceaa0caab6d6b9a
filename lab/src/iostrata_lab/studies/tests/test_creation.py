from __future__ import annotations

from pathlib import Path

from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import ClaimVerdict, StudyRun
from iostrata_lab.studies.tests.made import sample

CREATION = STUDIES.named("creation")
SECOND = 10**9


def of(label: str, size: int, created: float, job: float, repeat: int = 1) -> StudyRun:
    roles = {
        "client": {"calls": 1, "time": int(created / 2 * SECOND)},
        "map": {"calls": 4, "time": int(created / 2 * SECOND)},
    }
    return sample(label, roles, repeat, job, asked_bytes=size)


def test_creations_are_counted_by_role(tmp_path: Path) -> None:
    events = [
        row_of_sum("fs", "connect", role="map", count=2, timed_dur=30),
        row_of_sum("fs", "connect", role="map", timed_dur=10),
        row_of_sum("fs", "connect", role="client", timed_dur=5),
        row_of_sum("fs", "open", role="client", timed_dur=500),
        row_of_sum("hdfs", "connect", role="client", timed_dur=700),
    ]
    make_run(tmp_path, "r", events, [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        measured = CREATION.measure(opened)
    assert measured == {"map": {"calls": 3, "time": 40}, "client": {"calls": 1, "time": 5}}


def test_creation_beside_the_application() -> None:
    samples = [
        of("32 KB", 32_768, 12, 10),
        of("1 MB", 1 << 20, 10, 20),
        of("1 MB", 1 << 20, 14, 40, repeat=2),
        of("1 MB", 1 << 20, 12, 30, repeat=3),
    ]
    outcome = CREATION.conclude(samples)
    assert outcome.tables[0].rows == [
        ["32 KB", "5", "12.00", "10.0", "1.200", "client 6.00, map 6.00"],
        ["1 MB", "5", "12.00", "30.0", "0.400", "client 5.00, map 5.00"],
    ]
    weaker, above, largest = outcome.claims
    assert (weaker.verdict, above.verdict) == (ClaimVerdict.agrees, ClaimVerdict.agrees)
    assert weaker.because.startswith("creating over application time: 32 KB 1.20, 1 MB 0.40; ")
    assert largest.verdict == ClaimVerdict.unknown


def test_a_small_share_that_grows_is_other_than_in_the_paper() -> None:
    for last in (3.0, 0.9):  # it grows, or becomes smaller by less than repeats differ by
        outcome = CREATION.conclude([of("a", 1000, 1, 10), of("b", 9000, last, 10)])
        assert [claim.verdict for claim in outcome.claims][:2] == [ClaimVerdict.differs] * 2


def test_the_papers_numbers_divided_by_its_sampling() -> None:
    _, paper = CREATION.conclude([of("a", 1, 1, 1), of("b", 2, 1, 1)]).tables
    assert [row[3:] for row in paper.rows] == [
        ["91.9", "28", "3.28", "3.28"],
        ["155.0", "32", "0.05", "4.84"],
    ]
