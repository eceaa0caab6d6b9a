from __future__ import annotations

from iostrata.analyse.spills import AttemptSpills, spills
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_sum


def test_how_often_each_byte_was_written(traced: Traced) -> None:
    given = {"job": "j", "task": "m_0", "role": "map"}
    engine = traced(
        [
            row_of_sum("record", "collect", count=1000, bytes=9000, **given),
            row_of_sum("record", "append", count=1000, bytes=9900, flags=FLAG["inner"], **given),
            row_of_sum("record", "append", count=1500, bytes=100, flags=FLAG["inner"], **given),
            row_of_sum("task", "spill", count=3, timed_dur=300, bytes=9000, **given),
            row_of_sum("task", "spill_record", count=1, bytes=1000, **given),
            row_of_sum("task", "merge", count=1, timed_dur=70, bytes=15_000, **given),
            row_of_sum(
                "task", "merge", count=1, bytes=700, flags=FLAG["double_counted"], **given
            ),  # within one
            row_of_sum("task", "merge", count=2, timed_dur=8, **given | {"task": "r_0"}),
            row_of_sum("task", "fetch", count=2, **given | {"task": "r_1"}),
        ]
    )
    mine, other = engine.records(spills(), AttemptSpills)
    assert mine == AttemptSpills(
        **given,
        collected=1000,
        appended=2500,
        spilled=10_000,
        merged=15_000,
        spills=3,
        merges=1,
        spill_time=300,
        merge_time=70,
        passes=2.5,
    )
    assert (other.task, other.merges, other.merge_time) == ("r_0", 2, 8)
    assert other.passes is None
