"""What is said of jobs that went well, failed, or were not even submitted."""

from __future__ import annotations

from pathlib import Path

from iostrata_lab.workload.swim.plan import PlannedJob, ReplayPlan
from iostrata_lab.workload.swim.replay import outcomes_of, row_of, summary_of

PLAN = ReplayPlan(
    tuple(PlannedJob(f"j{i}", i * 100, 0, 10, 20, 30, 1, 1) for i in range(4)),
    (10,),
)
# As Outcome.java writes them, in the order in which the jobs ended.
LINES = """\
1\tjob_1_2\tSUCCEEDED\t103\t150\t200\t300\t10\t21\t30\t27\t99\t30\t90\t
0\tjob_1_1\tSUCCEEDED\t1\t50\t100\t400\t10\t20\t30\t26\t99\t30\t90\t
3\t\tFAILED\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\tjava.io.IOException: no
2\tjob_1_3\tSUCCEEDED\t210\t250\t300\t350\t-1\t-1\t-1\t-1\t-1\t30\t90\t
"""


def test_exact_or_not_or_unknown(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.tsv"
    path.write_text(LINES)
    rows = [row_of(PLAN.jobs[one["index"]], one) for one in outcomes_of(path)]
    assert [(row["name"], row["done"], row["exact"]) for row in rows] == [
        ("j0", True, True),
        ("j1", True, False),  # a byte more was shuffled
        ("j2", True, None),
        ("j3", False, None),
    ]
    assert [row["duration_ms"] for row in rows] == [399, 197, 140, None]
    assert rows[3]["error"] == "java.io.IOException: no"
    assert summary_of(PLAN, 5, rows) == {
        "jobs_asked": 4,
        "jobs_done": 3,
        "jobs_exact": 1,
        "jobs_without_counters": 2,
        "map_only": 0,
        "outages_left_out": 5,
        "submit_late_median_ms": 3,
        "submit_late_max_ms": 10,
        "submits_in_time": 3,
        "gap_off_max_ms": 7,
        "input_files": 1,
        "input_files_bytes": 10,
        "asked_input": 40,
        "input": 20,
        "asked_shuffle": 80,
        "shuffle": 41,
        "asked_output": 120,
        "output": 60,
        "shuffle_with_format": 53,
        "local_written": 198,
        "output_with_replicas": 270,
    }
