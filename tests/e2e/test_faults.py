"""A fault of ours in the middle of a TeraSort changes neither what it writes nor its exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.drawn import SOAK
from tests.e2e import truth_mapreduce
from tests.e2e.cluster import JOB, ONE_ATTEMPT
from tests.e2e.mapreduce import SMALL_BUFFER, examples
from tests.e2e.serving import wait_until
from tests.e2e.site import Site, site_up

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.getuid() != 0, reason="needs root for a mount"),
]

ROWS = 60_000  # of 100 bytes
MAPS, REDUCES = 2, 2
RECORDS = ("--level", "record")  # options of `iostrata record`
# Called once a record in every map and every reduce; neither value is what the extractor expects:
# a Text has no getBlockId(), and is no FileDescriptor.
FAULTY = """
[[point]]
layer = "record"
op = "partition"
class = "org.apache.hadoop.examples.terasort.TeraSort$TotalOrderPartitioner"
method = "getPartition"
desc = "(Lorg/apache/hadoop/io/Text;Lorg/apache/hadoop/io/Text;I)I"
target = "block(arg1)"

[[point]]
layer = "record"
op = "format"
class = "org.apache.hadoop.examples.terasort.TeraOutputFormat$TeraRecordWriter"
method = "write"
desc = "(Lorg/apache/hadoop/io/Text;Lorg/apache/hadoop/io/Text;)V"
target = "file(arg1, arg2)"
"""


@dataclass(frozen=True)
class Sorted:
    """What a TeraSort that was not recorded wrote: checksums of its parts, by the DataNodes."""

    site: Site
    parts: list[str]


def parts(site: Site, run: str) -> list[str]:
    """Name and checksum of each part of an output; NameNode and DataNodes say so."""
    listing = site.cluster.hadoop("hadoop", "fs", "-checksum", f"/tera/{run}/part-r-*")
    lines = [line.split() for line in listing.splitlines()]
    return sorted(f"{line[0].rpartition('/')[2]} {line[2]}" for line in lines)


def command(site: Site, run: str) -> list[str]:
    options = (*ONE_ATTEMPT, SMALL_BUFFER, f"-Dmapreduce.job.reduces={REDUCES}")
    return [
        "hadoop",
        "jar",
        examples(site.cluster),
        "terasort",
        *options,
        "/tera/in",
        f"/tera/{run}",
    ]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sorted]:
    folder = tmp_path_factory.mktemp("faults")
    with site_up(folder, f"faults-{os.getpid()}", "512m") as site:
        jar = ("hadoop", "jar", examples(site.cluster))
        maps = f"-Dmapreduce.job.maps={MAPS}"
        site.cluster.hadoop(*jar, "teragen", maps, str(ROWS), "/tera/in")
        site.cluster.hadoop(*command(site, "plain"))
        if SOAK:
            is_sorted(site, jar)
        found = parts(site, "plain")
        assert len(found) == REDUCES
        yield Sorted(site, found)


def is_sorted(site: Site, jar: tuple[str, ...]) -> None:
    """By TeraValidate, of what was not recorded: that Hadoop sorts is no matter of tracing."""
    site.cluster.hadoop(*jar, "teravalidate", "/tera/plain", "/tera/validated")
    said = site.cluster.hadoop("hadoop", "fs", "-cat", "/tera/validated/part-r-*")
    # anything else it says is an error: a key out of order
    (line,) = said.splitlines()
    assert line.split()[0] == "checksum"


def ended_well(plain: Sorted, run: str, code: int, output: str) -> str:
    """The id of the job, which is what it would be without us."""
    print(output)
    assert code == 0
    assert parts(plain.site, run) == plain.parts
    found = JOB.search(output)
    assert found
    attempts = plain.site.cluster.history(found[1]).attempts
    assert [one.state for one in attempts] == ["SUCCEEDED"] * (MAPS + REDUCES)
    return found[1]


@pytest.mark.drawn("faults", 2)
def test_a_point_that_throws(plain: Sorted, tmp_path: Path) -> None:
    """GIVEN points whose extractor fails in each task THEN they are off, and the rest is exact."""
    site = plain.site
    (tmp_path / "faulty.toml").write_text(FAULTY)
    options = (*RECORDS, "--points", str(tmp_path / "faulty.toml"))
    with site.popen("throws", *command(site, "throws"), options=options) as recorder:
        output, _ = recorder.communicate(timeout=400)
    job = ended_well(plain, "throws", recorder.returncode, output)
    faulted = site.cluster.summary("throws")["faulted_points"]
    assert sorted(name.split("$")[1].split("(")[0] for name in faulted) == [
        "TeraRecordWriter#write",
        "TotalOrderPartitioner#getPartition",
    ]
    run = site.cluster.run("throws")
    assert run.rows("SELECT op FROM events WHERE op IN ('partition', 'format')") == []
    # in each task the point that it calls, and no other one of its points
    off = run.rows(
        "SELECT role, points_faulted FROM processes WHERE points_faulted <> '' ORDER BY role"
    )
    assert [(role, "getPartition" in of, "write(" in of) for role, of in off] == [
        *[("map", True, False)] * MAPS,
        *[("reduce", False, True)] * REDUCES,
    ]
    assert list(truth_mapreduce.problems(run, site.cluster.history(job))) == []


@pytest.mark.drawn("faults", 2)
def test_the_collector_is_killed(plain: Sorted) -> None:
    """GIVEN SIGKILL in the middle, and another collector THEN each call is in the run once."""
    site = plain.site
    with site.popen("killed", *command(site, "killed"), options=RECORDS) as recorder:
        wait_until(lambda: bool(site.tasks()), timeout=120)
        site.kill_collector()
        left = site.tasks()
        # it stays away until a task has ended that nobody has read to its end
        wait_until(lambda: left != site.tasks(), timeout=120)
        assert recorder.poll() is None
        site.collect_again()
        output, _ = recorder.communicate(timeout=400)
    job = ended_well(plain, "killed", recorder.returncode, output)
    assert site.cluster.summary("killed")["run"]["state"] == "ok"
    run = site.cluster.run("killed")
    # An ApplicationMaster has so many threads that its cap may be reached while nobody drains; what
    # tasks did is exact.
    tasks = run.rows(
        "SELECT sum(lost)::BIGINT, sum(refused)::BIGINT, sum(folded)::BIGINT FROM processes "
        "WHERE role IN ('map', 'reduce')"
    )
    assert tasks == [(0, 0, 0)]
    assert list(truth_mapreduce.problems(run, site.cluster.history(job))) == []


@pytest.mark.drawn("faults", 2)
def test_shared_memory_full(plain: Sorted) -> None:
    """GIVEN no byte free from the first map on THEN what was refused is counted."""
    site = plain.site
    with site.popen("full", *command(site, "full")) as recorder:
        wait_until(lambda: bool(site.tasks()), timeout=120)
        with site.full():
            assert recorder.poll() is None
            # its output fits into the pipe
            recorder.wait(timeout=400)
        assert recorder.stdout is not None
        output = recorder.stdout.read()
    ended_well(plain, "full", recorder.returncode, output)
    # a recorder that found no room to ask for its end has gone, which the collector sees
    wait_until(lambda: site.is_done("full"))
    losses = site.cluster.run("full").losses()
    print(losses)
    assert losses["refused"] > 0
