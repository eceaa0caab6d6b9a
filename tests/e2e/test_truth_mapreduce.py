"""MapReduce on the newest Hadoop: what we traced against what Hadoop counted, per attempt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.e2e import truth
from tests.e2e.cluster import JOB, ONE_ATTEMPT, Cluster
from tests.e2e.conftest import Count, Verifies
from tests.e2e.labs import Labs
from tests.e2e.mapreduce import (
    APPMASTER,
    LINES,
    ON_DISK,
    SMALL_BUFFER,
    THREE_MAPS,
    WORDS,
    Job,
    MapReduceTruth,
    Tally,
    all_but,
    committing,
    example,
    examples,
    old_jobs,
    problems,
    reducing,
    sorting,
)

from iostrata.schema.points import POINTS

LARGE = 1_500_000  # bytes of the record that each map of Merges hands out, and of its output
MEMORY = 64 * 2**20
# Four parts of 1.5 MB, of which three are merged in memory; with the fourth, memory is full.
IN_MEMORY = (
    "-Dmapreduce.input.fileinputformat.split.maxsize=240000",
    "-Dmapreduce.map.sort.spill.percent=0.95",
    f"-Dmapreduce.reduce.memory.totalbytes={MEMORY}",
    "-Dmapreduce.reduce.shuffle.input.buffer.percent=1",
    f"-Dmapreduce.reduce.shuffle.memory.limit.percent={2 * LARGE / MEMORY}",
    f"-Dmapreduce.reduce.shuffle.merge.percent={3.5 * LARGE / MEMORY}",
    "-Dmapreduce.reduce.merge.memtomem.enabled=true",
    # With two the merged part has no room for its checksum: Hadoop fails.
    "-Dmapreduce.reduce.merge.memtomem.threshold=3",
)


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at()


def merges(cluster: Cluster, run: str, jar: Path, text: str, without: str = "") -> Job:
    """Records Merges; its map that waits is killed, as an operator or the kernel would do it."""
    pid, never = cluster.folder / f"{run}.pid", cluster.folder / f"{run}.never"
    os.mkfifo(never)
    options = " ".join((SMALL_BUFFER, *ONE_ATTEMPT, *IN_MEMORY))
    script = (
        f"hadoop jar {jar} Merges {options} {text} /{run} {pid} {never} & job=$!\n"
        f"until [ -s {pid} ] || ! kill -0 $job; do sleep 0.1; done\n"
        f"kill -KILL $(cat {pid}); wait $job"
    )
    found = JOB.search(cluster.record(run, "bash", "-c", script, options=all_but(without)))
    assert found
    return Job(run, found[1])


# Every point whose calls or bytes a rule reads, that rule, which must fail when the point is off,
# and a job that fires it. Others may fail with it. Not in the list are the overloads that no task
# calls, and DFSInputStream#read(): the byte is counted by the call inside.
TERASORT = ("terasort", SMALL_BUFFER, "/tera/in", "/tera/{run}")
WORDCOUNT = ("wordcount", SMALL_BUFFER, *ON_DISK, *THREE_MAPS, "/text", "/words/{run}")
TERAGEN = ("teragen", "100", "/tera/{run}")
OBJECTS, BUFFERS = (
    "(Ljava/lang/Object;Ljava/lang/Object;)",
    "Lorg/apache/hadoop/io/DataInputBuffer;",
)
MUTATIONS = {
    "MapTask$NewTrackingRecordReader#nextKeyValue": ("MAP_INPUT_RECORDS", TERASORT),
    "MapTask$MapOutputBuffer#collect": ("MAP_OUTPUT_RECORDS", TERASORT),
    "MapTask$NewDirectOutputCollector#write": ("MAP_OUTPUT_RECORDS", TERAGEN),
    "ReduceContextImpl#nextKeyValue": ("REDUCE_INPUT_RECORDS", TERASORT),
    "ReduceTask$NewTrackingRecordWriter#write": ("REDUCE_OUTPUT_RECORDS", TERASORT),
    "Task$NewCombinerRunner#combine": ("COMBINE_INPUT_RECORDS", WORDCOUNT),
    "Task$CombineOutputCollector#collect": ("COMBINE_OUTPUT_RECORDS", WORDCOUNT),
    f"IFile$Writer#append{OBJECTS}V": ("SPILLED_RECORDS", WORDCOUNT),
    f"IFile$Writer#append({BUFFERS}{BUFFERS})V": ("SPILLED_RECORDS", TERASORT),
    "IFile$Reader#nextRawValue": ("SPILLED_RECORDS", TERASORT),
    "ShuffleSchedulerImpl#copySucceeded": ("REDUCE_SHUFFLE_BYTES", TERASORT),
    "RawLocalFileSystem$LocalFSFileInputStream#read([BII)I": ("FILE_BYTES_READ", TERASORT),
    "RawLocalFileSystem$LocalFSFileOutputStream#write([BII)V": ("FILE_BYTES_WRITTEN", TERASORT),
    "DFSInputStream#read([BII)I": ("HDFS_BYTES_READ", TERASORT),
    "FSDataOutputStream$PositionCache#write([BII)V": ("HDFS_BYTES_WRITTEN", TERASORT),
}
OLD = {
    "MapTask$TrackedRecordReader#next": "MAP_INPUT_RECORDS",
    "MapTask$DirectMapOutputCollector#collect": "MAP_OUTPUT_RECORDS",
    "Task$OldCombinerRunner#combine": "COMBINE_INPUT_RECORDS",
    "MergeManagerImpl#combineAndSpill": "COMBINE_INPUT_RECORDS",
    "Task$CombineValuesIterator#next": "COMBINE_INPUT_RECORDS",
    "ReduceTask$ReduceValuesIterator#next": "REDUCE_INPUT_RECORDS",
    "ReduceTask$OldTrackingRecordWriter#write": "REDUCE_OUTPUT_RECORDS",
}
SINGLE = "MapTask$MapOutputBuffer#spillSingleRecord"


def without(point: str) -> str:
    """Name of the run without a point."""
    return "without-" + "".join(c for c in point if c.isalnum())[:40]


def test_every_point_that_a_rule_reads_is_a_mutation() -> None:
    """Of the layers that only tasks have; what tells a combiner's records apart is read, too."""
    ops = {"read", "collect", "write", "combine", "combined", "append", "read_back"}
    points = [p for p in POINTS if p.layer == "record" and p.op in ops and p.cls != "hdf5"]
    read = {f"{p.cls.rpartition('.')[2]}#{p.method}" for p in points}
    named = {name.split("(")[0] for name in (*MUTATIONS, *OLD)}
    assert read <= named


@pytest.mark.cluster
class TestNewest(MapReduceTruth):
    """The table, records larger than the sort buffer, and jobs that go wrong."""

    @pytest.mark.drawn("rare jobs", 1)
    def test_large_records_merges_in_memory_and_a_kill(
        self, cluster: Cluster, text: str, jar: Path, verifies: Verifies
    ) -> None:
        job = merges(cluster, "merges", jar, text)
        tally = Tally(cluster.history(job.id))
        maps, words = tally.maps, LINES * WORDS
        assert (maps, tally.reduces) == (4, 1)
        assert tally.map("MAP_OUTPUT_RECORDS") == words + maps
        assert tally.map("MAP_OUTPUT_BYTES") > maps * LARGE
        states = {a.name[-10:]: a.state for a in tally.history.attempts}
        assert (states["m_000000_0"], states["m_000000_1"]) == ("FAILED", "SUCCEEDED")
        assert problems(cluster, job) == []
        self.killed_is_unfinished(cluster, job)
        run, combined = cluster.run(job.run), tally.map("COMBINE_INPUT_RECORDS")
        in_maps: dict[int, Count] = {
            200: LINES,
            204: words + maps,
            207: combined,
            211: 3 * maps,  # at two spills and their merge, which is of three files
            214: tally.map("COMBINE_OUTPUT_RECORDS"),
            215: tally.map("SPILLED_RECORDS"),
            **sorting(tally),
            219: 4
            * maps,  # what was there when the large record came, the record, the rest, the merge
            # What was there when the large record came, the record, and what came after it.
            222: 2 * maps,
            223: maps,
            226: maps,
        }
        verifies(run, in_maps, tally.where("MAP"))
        received = tally.reduce("REDUCE_INPUT_RECORDS")
        # Whatever was merged in memory before, it is written once and read once.
        in_reduce = {
            207: received,
            216: received,
            239: 1,
            241: 1,
            **reducing(cluster, job.run, tally),
        }
        verifies(run, in_reduce, tally.where("REDUCE"))

    def killed_is_unfinished(self, cluster: Cluster, job: Job) -> None:
        """What the map was in the middle of when SIGKILL met it, and of no other task.

        Other tasks end by System.exit, which waits for no thread: one that sends to its
        ApplicationMaster just then (org.apache.hadoop.ipc.Client) never returns from the socket.
        """
        rows = cluster.run(job.run).rows(
            "SELECT role, job, task, layer, op, target FROM events WHERE kind = 'unfinished' "
            "AND task IS NOT NULL ORDER BY layer, op"
        )
        attempt = f"attempt_{job.id.removeprefix('job_')}_m_000000_0"
        never = str(cluster.folder / f"{job.run}.never")
        calls = [
            ("java", "read", never),
            ("task", "process", "org.apache.hadoop.mapred.YarnChild"),
            ("task", "run", None),
        ]
        assert [row for row in rows if row[2] == attempt] == [
            ("map", job.id, attempt, *call) for call in calls
        ]
        others = {(layer, op) for _, _, task, layer, op, _ in rows if task != attempt}
        assert others <= {("java", "send"), ("java", "receive")}

    @pytest.mark.drawn("rare jobs", 1)
    def test_a_job_that_fails(self, cluster: Cluster, text: str, verifies: Verifies) -> None:
        """The only attempt of its only map fails at once: all of it is aborted."""
        broken = "-Dmapreduce.job.map.output.collector.class=no.such.Collector"
        arguments = ("-Dmapreduce.map.maxattempts=1", broken, text, "/failing")
        command = ("hadoop", "jar", examples(cluster), "wordcount", *arguments)
        done = cluster.iostrata("record", "--lab", cluster.name, "--run", "failing", "--", *command)
        assert done.returncode == 1
        found = JOB.search(done.stderr)
        assert found
        history = cluster.history(found[1])
        assert history.state == "FAILED"
        assert problems(cluster, Job("failing", found[1])) == []
        run = cluster.run("failing")
        verifies(run, {220: 1, 228: 0, 262: 1, 263: 0, 264: 1}, "role = 'map'")
        verifies(run, committing(jobs=1, aborted=1), APPMASTER)

    @pytest.mark.drawn("mutations", 1)
    @pytest.mark.usefixtures("teragen", "text")
    @pytest.mark.parametrize("point", MUTATIONS)
    def test_truth_turns_red_without(self, cluster: Cluster, point: str) -> None:
        """GIVEN one data point switched off WHEN the job runs THEN the rule that reads it fails."""
        rule, job = MUTATIONS[point]
        arguments = [argument.format(run=without(point)) for argument in job]
        found = problems(cluster, example(cluster, without(point), *arguments, without=point))
        print("\n".join(found))
        assert rule in truth.failed(found)

    @pytest.mark.soak
    @pytest.mark.parametrize("point", OLD)
    def test_truth_of_the_old_api_turns_red_without(
        self, cluster: Cluster, jar: Path, text: str, point: str
    ) -> None:
        run = without(point)
        found = problems(cluster, *old_jobs(cluster, run, jar, text, f"/{run}", without=point))
        print("\n".join(found))
        assert OLD[point] in truth.failed(found)

    @pytest.mark.soak
    def test_truth_of_large_records_turns_red_without(
        self, cluster: Cluster, jar: Path, text: str
    ) -> None:
        found = problems(cluster, merges(cluster, without(SINGLE), jar, text, without=SINGLE))
        print("\n".join(found))
        assert "MAP_OUTPUT_BYTES" in truth.failed(found)
