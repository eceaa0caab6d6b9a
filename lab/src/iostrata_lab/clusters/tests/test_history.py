"""Hadoop's job history against what the same job said on its console."""

from pathlib import Path

import pytest

from iostrata_lab.clusters.hadoop.history import FILE_SYSTEM, parse, started

HERE = Path(__file__).parent


def test_counters_of_each_attempt() -> None:
    """TestDFSIO -write -nrFiles 1 -size 1MB on Hadoop 3.5.0, cut to its byte counters."""
    history = parse((HERE / "dfsio.jhist").read_text())

    assert (history.id, history.state) == ("job_1795241286724_0001", "SUCCEEDED")
    assert (history.submitted, history.ended) == (1795241492334, 1795241501779)
    assert history.counters == {
        FILE_SYSTEM: {"HDFS_BYTES_READ": 236, "HDFS_BYTES_WRITTEN": 1048647}
    }
    assert [(a.name, a.type, a.state, a.counters) for a in history.attempts] == [
        (
            "attempt_1795241286724_0001_m_000000_0",
            "MAP",
            "SUCCEEDED",
            {FILE_SYSTEM: {"HDFS_BYTES_READ": 236, "HDFS_BYTES_WRITTEN": 1048576}},
        ),
        (
            "attempt_1795241286724_0001_r_000000_0",
            "REDUCE",
            "SUCCEEDED",
            {FILE_SYSTEM: {"HDFS_BYTES_READ": 0, "HDFS_BYTES_WRITTEN": 71}},
        ),
    ]
    assert [attempt.locality for attempt in history.attempts] == ["NODE_LOCAL", "OFF_SWITCH"]
    assert all(0 < attempt.end - attempt.start < 10_000 for attempt in history.attempts)


def test_a_failed_job_has_its_failed_attempt() -> None:
    history = parse((HERE / "failed.jhist").read_text())

    assert (history.state, history.counters) == ("FAILED", {})
    assert [(a.name, a.state) for a in history.attempts] == [
        ("attempt_1795241286724_0002_m_000000_0", "FAILED")
    ]


def test_attempts_that_were_started() -> None:
    assert started((HERE / "dfsio.jhist").read_text()) == [
        "attempt_1795241286724_0001_m_000000_0",
        "attempt_1795241286724_0001_r_000000_0",
    ]
    # one that failed was started too
    failed = ["attempt_1795241286724_0002_m_000000_0"]
    assert started((HERE / "failed.jhist").read_text()) == failed


def test_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="not a job history file"):
        parse("Avro-Binary\n{}\n")
    with pytest.raises(ValueError, match="not a job history file"):
        started("")
