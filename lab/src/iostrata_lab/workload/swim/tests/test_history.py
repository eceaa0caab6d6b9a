"""A trace of one's own jobs: lines of the cluster's history become lines of a trace."""

from __future__ import annotations

from pathlib import Path

from iostrata_lab.workload.swim.history import parsed, text
from iostrata_lab.workload.swim.trace import TraceJob, read

LINES = [
    "job_1_3\tSUCCEEDED\t1700000004999\t10\t0\t20\t/in/a\t",
    "job_1_1\tSUCCEEDED\t1700000001500\t100\t70\t7\t/in/a,/in/b\t",
    "job_1_2\tFAILED\t1700000002400\t50\t0\t0\t\t",
    "job_1_4\tUNFINISHED\t1700000005000\t0\t0\t0\t\t",
    "job_1_5\tUNREADABLE\t0\t0\t0\t0\t\tjava.io.IOException: Unable to parse",
]


def test_jobs_come_in_order_and_in_seconds_of_the_first() -> None:
    found = parsed(LINES)
    assert found.jobs == (
        TraceJob("job_1_1", 0, 0, 100, 70, 7, "/in/a,/in/b"),
        TraceJob("job_1_2", 0, 0, 50, 0, 0, "of job_1_2"),
        TraceJob("job_1_3", 3, 3, 10, 0, 20, "/in/a"),
    )
    assert (found.seconds, found.map_only, found.total) == (3, 2, (160, 70, 27))


def test_what_is_left_out_is_named() -> None:
    found = parsed(LINES)
    assert found.states == {"SUCCEEDED": 2, "FAILED": 1, "UNFINISHED": 1, "UNREADABLE": 1}
    assert found.left_out == (
        ("job_1_4", "not ended"),
        ("job_1_5", "java.io.IOException: Unable to parse"),
    )


def test_a_replay_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text(text(parsed(LINES).jobs))
    assert tuple(read(str(path))) == parsed(LINES).jobs
