"""Traces: what is read, and what a malformed line is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata_lab.workload.swim.trace import SHIPPED, TraceJob, read, without_outages

PLAIN = "a\t5\t5\t10\t20\t30\nb\t7\t2\t1\t0\t3\n"


def test_what_is_shipped_has_the_published_jobs_and_bytes() -> None:
    """Counts of the whole file by awk; 75.5 % of its jobs are map-only."""
    jobs = read("fb-2009")
    assert len(jobs) == 5894
    assert jobs[0] == TraceJob("job0", 49, 49, 740773, 2339561, 627471)
    assert sum(job.map_only for job in jobs) == 4448
    assert read("fb-2009-first50") == jobs[:50]
    assert all(path.with_name("LICENSE-SWIM.txt").is_file() for path in SHIPPED.values())


@pytest.mark.parametrize("name", ["trace.tsv", "trace.tsv.gz"])
def test_lines_with_and_without_paths(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = PLAIN.replace("\t30\n", "\t30\tdata/x\t\t\n").encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert read(str(path)) == [
        TraceJob("a", 5, 5, 10, 20, 30, "data/x"),
        TraceJob("b", 7, 2, 1, 0, 3),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", " has no job"),
        (PLAIN + "\n", ":3: 1 columns in ''"),
        (PLAIN + "c\t9\t2\t1\t2\n", ":3: 5 columns in 'c\\t9\\t2\\t1\\t2'"),
        (PLAIN + "c\t9\t2\t1\t2\tx\n", ":3: output='x'"),
        (PLAIN + "c\t9\t2\t-1\t2\t3\n", ":3: input='-1'"),
        (PLAIN + "c\t9\t2\t1\t1e3\t3\n", ":3: shuffle='1e3'"),
        (PLAIN + "c\t9\t2\t1\t2\t9223372036854775808\n", ":3: output='9223372036854775808'"),
        (PLAIN + "c\t9\t3\t1\t2\t3\n", ":3: gap 3 s is not submit 9 s less the one before, 7 s"),
        (PLAIN + "\t9\t2\t1\t2\t3\n", ":3: job=''"),
        (PLAIN + "a\x01\t9\t2\t1\t2\t3\n", ":3: job='a\\x01'"),
    ],
)
def test_a_malformed_line_is_named_with_its_value(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trace.tsv"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        read(str(path))
    assert raised.value.message == f"{path}{said}"


def test_what_is_no_trace_at_all(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(PLAIN.encode() * 100)[:40])
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, said in ((cut, "no text"), (binary, "no text"), (tmp_path / "no", "No such file")):
        with pytest.raises(UserError, match=said):
            read(str(path))


def test_after_an_outage_the_job_comes_at_once() -> None:
    gaps = (1, 600, 601, 4)
    submits = (1, 601, 1202, 1206)
    jobs = [TraceJob("j", at, gap, 1, 1, 1) for at, gap in zip(submits, gaps, strict=True)]
    kept, outages = without_outages(jobs)
    assert [(job.submit, job.gap) for job in kept] == [(1, 1), (601, 600), (601, 0), (605, 4)]
    assert outages == 1
