"""MapReduce on a real cluster: what we traced against what Hadoop counted, per attempt."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from tests.e2e import truth
from tests.e2e import truth_mapreduce as rules
from tests.e2e.cluster import JOB, Cluster, lab_up

from iostrata import lab

pytestmark = pytest.mark.cluster

ROWS = 20_000  # of 100 bytes: two maps, two spills each with the smallest sort buffer
LINES, WORDS = 12_000, 10
SMALL_BUFFER = "-Dmapreduce.task.io.sort.mb=1"
# A second attempt of a slow task would write again what the expected counts hold once.
ONE_ATTEMPT = ("-Dmapreduce.map.speculative=false", "-Dmapreduce.reduce.speculative=false")
# Map outputs go to disk and are merged there, two at a time.
ON_DISK = (
    "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.00001",
    "-Dmapreduce.task.io.sort.factor=2",
)
# Each spills twice, and combines again when it merges these.
THREE_MAPS = (
    "-Dmapreduce.input.fileinputformat.split.maxsize=320000",
    "-Dmapreduce.map.combine.minspills=2",
)


@dataclass(frozen=True)
class Job:
    """A job that a run recorded."""

    run: str
    id: str


def examples(cluster: Cluster) -> str:
    """The jar of Hadoop's own example jobs."""
    path = lab.find(cluster.name).environment()["CLASSPATH"]
    folders = [Path(entry.removesuffix("/*")) for entry in path.split(":")]
    (jar,) = chain.from_iterable(f.glob("hadoop-mapreduce-examples-*.jar") for f in folders)
    return str(jar)


def example(cluster: Cluster, run: str, *arguments: str, without: str = "") -> Job:
    """Records one of the examples, with one attempt a task."""
    name, *rest = arguments
    options = ("--without-point", without) if without else ()
    command = ("hadoop", "jar", examples(cluster), name, *ONE_ATTEMPT, *rest)
    found = JOB.search(cluster.record(run, *command, options=options))
    assert found
    return Job(run, found[1])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("truth-mapreduce")
    with lab_up(folder, f"mapred-{os.getpid()}") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def text(cluster: Cluster) -> str:
    """A path in HDFS with LINES lines of WORDS words."""
    chosen = random.Random(1)
    lines = [
        " ".join(f"word{chosen.randrange(400)}" for _ in range(WORDS)) + "\n" for _ in range(LINES)
    ]
    local = cluster.folder / "text"
    local.write_text("".join(lines), "utf-8")
    cluster.hadoop("hadoop", "fs", "-put", str(local), "/text")
    return "/text"


@pytest.fixture(scope="module")
def teragen(cluster: Cluster) -> Job:
    options = ("-Dmapreduce.job.maps=2", str(ROWS), "/tera/in")
    return example(cluster, "teragen", "teragen", *options)


@pytest.fixture(scope="module")
def terasort(cluster: Cluster, teragen: Job) -> Job:
    options = (SMALL_BUFFER, "-Dmapreduce.job.reduces=2", "/tera/in", "/tera/out")
    return example(cluster, "terasort", "terasort", *options)


@pytest.fixture(scope="module")
def wordcount(cluster: Cluster, text: str) -> Job:
    options = (SMALL_BUFFER, *ON_DISK, *THREE_MAPS, text, "/words")
    return example(cluster, "wordcount", "wordcount", *options)


@pytest.fixture(scope="module")
def old_jar(cluster: Cluster) -> Path:
    path = lab.find(cluster.name).environment()["CLASSPATH"]
    classes = cluster.folder / "old"
    source = str(Path(__file__).with_name("OldCount.java"))
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    jar = cluster.folder / "old.jar"
    subprocess.run(["jar", "cf", str(jar), "-C", str(classes), "."], check=True)
    return jar


def old_jobs(cluster: Cluster, run: str, jar: Path, *paths: str, without: str = "") -> list[Job]:
    """Two jobs of the old API: a copy, and a count in which attempts fail and are overtaken."""
    options = ("--without-point", without) if without else ()
    command = ("hadoop", "jar", str(jar), "OldCount", *paths)
    ids = JOB.findall(cluster.record(run, *command, options=options))
    assert len(ids) == 2
    return [Job(run, found) for found in ids]


@pytest.fixture(scope="module")
def old(cluster: Cluster, old_jar: Path, text: str) -> list[Job]:
    return old_jobs(cluster, "old", old_jar, text, "/old")


def problems(cluster: Cluster, job: Job) -> list[str]:
    run = cluster.run(job.run)
    history = cluster.history(job.id)
    return [*truth.loss_problems(run), *rules.problems(run, history)]


def total(cluster: Cluster, job: Job, counter: str) -> int:
    return rules.counted(cluster.history(job.id).counters, rules.TASK, counter)


def calls(cluster: Cluster, job: Job, op: str, role: str) -> int:
    query = (
        "SELECT coalesce(sum(count), 0)::BIGINT FROM events WHERE kind = 'sum' "
        "AND layer = 'task' AND op = ? AND role = ?"
    )
    return int(cluster.run(job.run).one(query, op, role))


def test_a_job_without_reduce(
    cluster: Cluster, teragen: Job, verifies: Callable[[Path, str], None]
) -> None:
    assert total(cluster, teragen, "MAP_OUTPUT_RECORDS") == ROWS
    assert problems(cluster, teragen) == []
    verifies(cluster.store, teragen.run)


def test_a_sort(cluster: Cluster, terasort: Job, verifies: Callable[[Path, str], None]) -> None:
    assert total(cluster, terasort, "REDUCE_OUTPUT_RECORDS") == ROWS
    assert problems(cluster, terasort) == []
    assert calls(cluster, terasort, "spill", "map") == 4  # two maps with two spills each
    assert calls(cluster, terasort, "receive", "reduce") == 4  # two maps for two reduces
    verifies(cluster.store, terasort.run)


def test_a_combiner(
    cluster: Cluster, wordcount: Job, verifies: Callable[[Path, str], None]
) -> None:
    assert total(cluster, wordcount, "MAP_INPUT_RECORDS") == LINES
    assert total(cluster, wordcount, "MAP_OUTPUT_RECORDS") == LINES * WORDS
    assert total(cluster, wordcount, "REDUCE_OUTPUT_RECORDS") == 400
    assert total(cluster, wordcount, "COMBINE_INPUT_RECORDS") > LINES * WORDS
    assert problems(cluster, wordcount) == []
    verifies(cluster.store, wordcount.run)


def test_failed_and_overtaken_attempts(
    cluster: Cluster, old: list[Job], verifies: Callable[[Path, str], None]
) -> None:
    copy, count = old
    assert total(cluster, copy, "MAP_OUTPUT_RECORDS") == LINES
    assert total(cluster, count, "MAP_OUTPUT_RECORDS") == LINES * WORDS
    states = {a.name[-10:]: a.state for a in cluster.history(count.id).attempts}
    assert states["m_000000_0"] == "FAILED"
    assert states["m_000000_1"] == "SUCCEEDED"
    assert states["m_000001_0"] == "KILLED"
    assert states["m_000001_1"] == "SUCCEEDED"
    assert problems(cluster, copy) == []
    assert problems(cluster, count) == []
    verifies(cluster.store, count.run)


# Every point whose calls or bytes a rule reads, and a job that fires it.
TERASORT = ("terasort", SMALL_BUFFER, "/tera/in", "/tera/{run}")
WORDCOUNT = ("wordcount", SMALL_BUFFER, *ON_DISK, *THREE_MAPS, "/text", "/words/{run}")
TERAGEN = ("teragen", "100", "/tera/{run}")
OBJECTS, BUFFERS = (
    "(Ljava/lang/Object;Ljava/lang/Object;)",
    "Lorg/apache/hadoop/io/DataInputBuffer;",
)
MUTATIONS = {
    "MapTask$NewTrackingRecordReader#nextKeyValue": TERASORT,
    "MapTask$MapOutputBuffer#collect": TERASORT,
    "MapTask$NewDirectOutputCollector#write": TERAGEN,
    "ReduceContextImpl#nextKeyValue": TERASORT,
    "ReduceTask$NewTrackingRecordWriter#write": TERASORT,
    "Task$NewCombinerRunner#combine": WORDCOUNT,
    "Task$CombineOutputCollector#collect": WORDCOUNT,
    f"IFile$Writer#append{OBJECTS}V": WORDCOUNT,
    f"IFile$Writer#append({BUFFERS}{BUFFERS})V": TERASORT,
    "IFile$Reader#nextRawValue": TERASORT,
    "ShuffleSchedulerImpl#copySucceeded": TERASORT,
    "RawLocalFileSystem$LocalFSFileInputStream#read([BII)I": TERASORT,
    "RawLocalFileSystem$LocalFSFileOutputStream#write([BII)V": TERASORT,
}


OLD = (
    "MapTask$TrackedRecordReader#next",
    "MapTask$DirectMapOutputCollector#collect",
    "Task$OldCombinerRunner#combine",
    "Task$CombineValuesIterator#next",
    "ReduceTask$ReduceValuesIterator#next",
    "ReduceTask$OldTrackingRecordWriter#write",
)


def mutations() -> list[str]:
    """All of them in `make soak`; in `make test` one, the same every time."""
    if os.environ.get("SOAK"):
        return sorted(MUTATIONS)
    return random.Random(3).sample(sorted(MUTATIONS), 1)


def without(point: str) -> str:
    """Name of the run without a point."""
    return "without-" + "".join(c for c in point if c.isalnum())[:40]


@pytest.mark.parametrize("point", mutations())
def test_truth_turns_red_without(cluster: Cluster, teragen: Job, text: str, point: str) -> None:
    """GIVEN one data point switched off WHEN the job runs THEN a rule fails, and names it."""
    arguments = [argument.format(run=without(point)) for argument in MUTATIONS[point]]
    found = problems(cluster, example(cluster, without(point), *arguments, without=point))
    print("\n".join(found))
    assert found


@pytest.mark.skipif("SOAK" not in os.environ, reason="SOAK=1 runs the mutations of the old API")
@pytest.mark.parametrize("point", OLD)
def test_truth_of_the_old_api_turns_red_without(
    cluster: Cluster, old_jar: Path, text: str, point: str
) -> None:
    run = without(point)
    jobs = old_jobs(cluster, run, old_jar, text, f"/{run}", without=point)
    found = [problem for job in jobs for problem in problems(cluster, job)]
    print("\n".join(found))
    assert found
