from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.space import JobSpace
from iostrata.show.space import space_table

GIB = 1 << 30
SORT = JobSpace(
    job="job_1_0001", role=None, written=4 * GIB, hdfs=GIB, most=3 * GIB, most_at=0,
    temporary=2 * GIB, left=GIB, unnamed=GIB,
)  # fmt: skip
CLIENT = replace(SORT, job=None, role="client", written=0, most=0, left=0, unnamed=0)


def test_space_of_jobs_with_what_is_left() -> None:
    head, sort, client, note = (" ".join(line.split()) for line in space_table([SORT, CLIENT]))
    assert head.startswith("space used by written of it in HDFS most at a time")
    assert sort == "job_1_0001 4.0 GiB 1.0 GiB 3.0 GiB 2.0 GiB 1.0 GiB 33 %"
    assert client.startswith("client 0 B")
    assert client.endswith("–")
    assert note.endswith("1.0 GiB are in files of which only the kind is known)")


def test_a_run_without_files_has_no_table() -> None:
    assert space_table([]) == []
    assert space_table([SORT] * 14)[-2] == "and 2 jobs more (--json lists all)"
