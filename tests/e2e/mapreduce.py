"""The truth table of MapReduce: jobs, and what must be true of them on every version of Hadoop.

`MapReduceTruth` is the suite: test_truth_mapreduce.py runs it on the newest version,
test_versions.py on the older ones, each with a fixture `cluster` of its own.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path

import pytest
from tests.e2e import truth
from tests.e2e import truth_mapreduce as rules
from tests.e2e.cluster import JOB, ONE_ATTEMPT, Cluster
from tests.e2e.conftest import Between, Count, Verifies

from iostrata_lab import clusters
from iostrata_lab.clusters.hadoop.history import HistoryAttempt, JobHistory

ROWS = 20_000  # of 100 bytes: two maps, two spills each with the smallest sort buffer
LINES, WORDS, DISTINCT = 12_000, 10, 400
SMALL_BUFFER = "-Dmapreduce.task.io.sort.mb=1"
# Map outputs go to disk and are merged there, two at a time.
ON_DISK = (
    "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.00001",
    "-Dmapreduce.task.io.sort.factor=2",
)
# Local files then have fewer bytes than were given to the streams around them.
COMPRESSED = "-Dmapreduce.map.output.compress=true"
# Each spills twice, and combines again when it merges these.
THREE_MAPS = (
    "-Dmapreduce.input.fileinputformat.split.maxsize=320000",
    "-Dmapreduce.map.combine.minspills=2",
)
FETCHERS = 5  # mapreduce.reduce.shuffle.parallelcopies
APPMASTER = (
    # From 3.4 on its shutdown hook aborts the job once more, if the NodeManager leaves it the time.
    "role = 'appmaster' AND thread NOT LIKE 'shutdown-hook%'"
)


@dataclass(frozen=True)
class Job:
    """A job that a run recorded."""

    run: str
    id: str


@dataclass(frozen=True)
class Tally:
    """The counters of the successful attempts of a job, by type of task."""

    history: JobHistory

    def attempts(self, type_: str) -> list[HistoryAttempt]:
        found = self.history.attempts
        return [one for one in found if (one.type, one.state) == (type_, rules.SUCCEEDED)]

    def where(self, type_: str) -> str:
        """The rows of these attempts."""
        names = ", ".join(f"'{attempt.name}'" for attempt in self.attempts(type_))
        return f"role = '{type_.lower()}' AND task IN ({names})"

    def _sum(self, type_: str, counter: str) -> int:
        found = self.attempts(type_)
        return sum(rules.counted(attempt.counters, rules.TASK, counter) for attempt in found)

    def map(self, counter: str) -> int:
        return self._sum("MAP", counter)

    def reduce(self, counter: str) -> int:
        return self._sum("REDUCE", counter)

    @property
    def maps(self) -> int:
        return len(self.attempts("MAP"))

    @property
    def reduces(self) -> int:
        return len(self.attempts("REDUCE"))

    @property
    def launched(self) -> int:
        """Attempts of which the ApplicationMaster has said where they run."""
        return sum(bool(attempt.locality) for attempt in self.history.attempts)

    @property
    def spills(self) -> int:
        """With a buffer of 1 MB: at 80 % it is spilled; each record has 16 bytes of accounting."""
        found = 0
        for attempt in self.attempts("MAP"):
            size = rules.counted(attempt.counters, rules.TASK, "MAP_OUTPUT_BYTES")
            records = rules.counted(attempt.counters, rules.TASK, "MAP_OUTPUT_RECORDS")
            found += ceil((size + 16 * records) / (0.8 * 2**20))
        return found


def sorting(tally: Tally) -> dict[int, Count]:
    """Calls in maps that sort: tasks, spills and their merge, with a part for each reduce."""
    maps, spills = tally.maps, tally.spills
    return {
        219: (spills + maps) * tally.reduces,
        220: maps,
        222: spills,
        224: maps,
        225: maps,
        226: spills - maps,  # by the spill thread; the last spill is the flush's own
        227: 0,
        228: maps,
        262: maps,
        263: 0,  # only a task with output is asked to commit
    }


def reducing(cluster: Cluster, run: str, tally: Tally) -> dict[int, Count]:
    """Calls in reduces: tasks, copies, the last merge, commit."""
    reduces = tally.reduces
    fetches = cluster.run(run).one(
        "SELECT count(*) FROM events WHERE kind = 'call' AND layer = 'task' AND op = 'fetch'"
    )
    return {
        209: tally.reduce("REDUCE_OUTPUT_RECORDS"),
        217: tally.reduce("SPILLED_RECORDS"),
        221: reduces,
        227: reduces,
        228: reduces,
        236: tally.reduce("SHUFFLED_MAPS"),
        # Before each fetch, and once more by a fetcher that finds nothing left, if it comes to it.
        237: Between(fetches, fetches + FETCHERS * reduces),
        238: reduces,
        262: reduces,
        263: reduces,
        # What a reduce reads is below its container's folder, in files that it made itself.
        291: cluster.run(run).one(
            "SELECT count(*) FROM events WHERE kind = 'call' AND role = 'reduce' "
            "AND layer = 'java' AND op = 'read' AND target LIKE '%/output/%'"
        ),
    }


def committing(jobs: int, aborted: int = 0) -> dict[int, Count]:
    """Calls in ApplicationMasters."""
    return {260: jobs, 261: jobs - aborted, 265: aborted, 266: jobs}


def raw_writes(cluster: Cluster, run: str) -> dict[int, Count]:
    """Each write to a local file is one of java.io; SPILLS names the rows where nothing else is."""
    query = (
        "SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'java' "
        f"AND op = 'write' AND {SPILLS}"
    )
    return {294: cluster.run(run).one(query)}


SPILLS = "role = 'map' AND category = 'spill'"


def examples(cluster: Cluster) -> str:
    """The jar of Hadoop's own example jobs."""
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    folders = [Path(entry.removesuffix("/*")) for entry in path.split(":")]
    (jar,) = chain.from_iterable(f.glob("hadoop-mapreduce-examples-*.jar") for f in folders)
    return str(jar)


def all_but(without: str) -> tuple[str, ...]:
    """Options of `iostrata record`: records are counted, and no point is off but this one."""
    return "--level", "record", *(("--without-point", without) if without else ())


def example(cluster: Cluster, run: str, *arguments: str, without: str = "") -> Job:
    """Records one of the examples, with one attempt a task."""
    name, *rest = arguments
    command = ("hadoop", "jar", examples(cluster), name, *ONE_ATTEMPT, *rest)
    found = JOB.search(cluster.record(run, *command, options=all_but(without)))
    assert found
    return Job(run, found[1])


def compiled(cluster: Cluster, *names: str) -> Path:
    """A jar with programs of the tests, compiled against the cluster's own Hadoop."""
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    classes = cluster.folder / "classes"
    sources = [str(Path(__file__).with_name(f"{name}.java")) for name in names]
    subprocess.run(["javac", "-cp", path, "-d", str(classes), *sources], check=True)
    jar = cluster.folder / "jobs.jar"
    subprocess.run(["jar", "cf", str(jar), "-C", str(classes), "."], check=True)
    return jar


def old_jobs(cluster: Cluster, run: str, jar: Path, *paths: str, without: str = "") -> list[Job]:
    """Two jobs of the old API: a copy, and a count in which attempts fail and are overtaken."""
    command = ("hadoop", "jar", str(jar), "OldCount", *paths)
    ids = JOB.findall(cluster.record(run, *command, options=all_but(without)))
    assert len(ids) == 2
    return [Job(run, found) for found in ids]


def problems(cluster: Cluster, *jobs: Job) -> list[str]:
    """What does not add up in jobs of one run."""
    run = cluster.run(jobs[0].run)
    found: Iterable[Iterable[str]] = (rules.problems(run, cluster.history(job.id)) for job in jobs)
    return [*truth.loss_problems(run), *chain.from_iterable(found)]


class MapReduceTruth:
    """Jobs of both APIs, exact per attempt, and how often each point was called in them."""

    @pytest.fixture(scope="class")
    @classmethod
    def text(cls, cluster: Cluster) -> str:
        """A path in HDFS with LINES lines of WORDS words."""
        chosen = random.Random(1)
        lines = [
            " ".join(f"word{chosen.randrange(DISTINCT)}" for _ in range(WORDS)) + "\n"
            for _ in range(LINES)
        ]
        local = cluster.folder / "text"
        local.write_text("".join(lines), "utf-8")
        cluster.hadoop("hadoop", "fs", "-put", str(local), "/text")
        return "/text"

    @pytest.fixture(scope="class")
    @classmethod
    def teragen(cls, cluster: Cluster) -> Job:
        options = ("-Dmapreduce.job.maps=2", str(ROWS), "/tera/in")
        return example(cluster, "teragen", "teragen", *options)

    @pytest.fixture(scope="class")
    @classmethod
    def jar(cls, cluster: Cluster) -> Path:
        return compiled(cluster, "OldCount", "Merges")

    def test_a_job_without_reduce(self, cluster: Cluster, teragen: Job, verifies: Verifies) -> None:
        tally = Tally(cluster.history(teragen.id))
        assert tally.map("MAP_OUTPUT_RECORDS") == ROWS
        assert problems(cluster, teragen) == []
        # Each map commits: its output is the job's.
        once = dict.fromkeys((220, 227, 228, 262, 263), tally.maps)
        run = cluster.run(teragen.run)
        verifies(run, {200: ROWS, 205: ROWS, 204: 0, **once}, tally.where("MAP"))
        verifies(run, committing(jobs=1), APPMASTER)

    @pytest.mark.usefixtures("teragen")
    def test_a_sort(self, cluster: Cluster, verifies: Verifies) -> None:
        options = (SMALL_BUFFER, "-Dmapreduce.job.reduces=2", "/tera/in", "/tera/out")
        terasort = example(cluster, "terasort", "terasort", *options)
        tally = Tally(cluster.history(terasort.id))
        assert (tally.maps, tally.reduces, tally.spills) == (2, 2, 4)
        assert tally.reduce("REDUCE_OUTPUT_RECORDS") == ROWS
        assert problems(cluster, terasort) == []
        run = cluster.run(terasort.run)
        assert [*rules.spilled(run), *rules.segments(run)] == []
        # Every record is spilled, read back and merged.
        records = dict.fromkeys((200, 204, 217), ROWS)
        maps = {**records, 216: tally.map("SPILLED_RECORDS"), **sorting(tally)}
        verifies(run, maps, tally.where("MAP"))
        # What came into memory is written to one file, then read.
        reduces = {207: ROWS, 216: ROWS, **reducing(cluster, terasort.run, tally)}
        verifies(run, reduces, tally.where("REDUCE"))
        near = Counter(one.locality for one in tally.history.attempts if one.type == "MAP")
        (found,) = cluster.summary(terasort.run)["map_places"]
        assert (found["data_local"], found["rack_local"], found["remote"] + found["anywhere"]) == (
            *(near["NODE_LOCAL"], near["RACK_LOCAL"], near["OFF_SWITCH"]),
        )
        verifies(run, {**committing(jobs=1), 274: tally.launched}, APPMASTER)
        verifies(run, raw_writes(cluster, terasort.run), SPILLS)

    def test_a_combiner(self, cluster: Cluster, text: str, verifies: Verifies) -> None:
        options = (SMALL_BUFFER, COMPRESSED, *ON_DISK, *THREE_MAPS, text, "/words")
        wordcount = example(cluster, "wordcount", "wordcount", *options)
        tally = Tally(cluster.history(wordcount.id))
        assert (tally.maps, tally.reduces, tally.spills) == (3, 1, 6)
        assert tally.map("MAP_INPUT_RECORDS") == LINES
        assert tally.map("MAP_OUTPUT_RECORDS") == LINES * WORDS
        assert tally.reduce("REDUCE_OUTPUT_RECORDS") == DISTINCT
        assert problems(cluster, wordcount) == []
        run = cluster.run(wordcount.run)
        assert [*rules.spilled(run), *rules.segments(run)] == []
        words, combined = LINES * WORDS, tally.map("COMBINE_INPUT_RECORDS")
        maps: dict[int, Count] = {
            200: LINES,
            204: words,
            207: combined,
            211: tally.spills + tally.maps,  # for the one reduce at each spill and each merge
            214: tally.map("COMBINE_OUTPUT_RECORDS"),
            215: tally.map("SPILLED_RECORDS"),
            217: combined - words,  # what a merge combines again
            **sorting(tally),
        }
        verifies(run, maps, tally.where("MAP"))
        received, spilled = tally.reduce("REDUCE_INPUT_RECORDS"), tally.reduce("SPILLED_RECORDS")
        reduces: dict[int, Count] = {
            207: received,
            216: spilled - received,  # read twice: written in between
            240: tally.maps // (2 * 2 - 1),  # of the files on disk, when there are 2 x factor - 1
            **reducing(cluster, wordcount.run, tally),
        }
        verifies(run, reduces, tally.where("REDUCE"))

    def test_failed_and_overtaken_attempts(
        self, cluster: Cluster, text: str, jar: Path, verifies: Verifies
    ) -> None:
        copy, count = old_jobs(cluster, "old", jar, text, "/old")
        copied, counted = Tally(cluster.history(copy.id)), Tally(cluster.history(count.id))
        assert copied.map("MAP_OUTPUT_RECORDS") == LINES
        assert counted.map("MAP_OUTPUT_RECORDS") == LINES * WORDS
        states = {a.name[-10:]: a.state for a in counted.history.attempts}
        assert states["m_000000_0"] == "FAILED"
        assert states["m_000001_0"] == "KILLED"
        assert states["m_000001_1"] == "SUCCEEDED"
        assert problems(cluster, copy, count) == []
        self.overtaken_is_unfinished(cluster, count, counted)
        self.verify_old(cluster, copied, counted, verifies)

    def overtaken_is_unfinished(self, cluster: Cluster, count: Job, counted: Tally) -> None:
        """YARN ends it with SIGTERM in the middle of its work; all others came to their end.

        On a slow host another one may be overtaken, too, and at any time.
        """
        open_runs = cluster.run(count.run).rows(
            "SELECT role, job, task FROM events WHERE kind = 'unfinished' AND layer = 'task' "
            "AND op = 'run'"
        )
        killed = {a.name for a in counted.history.attempts if a.state == "KILLED"}
        attempt = f"attempt_{count.id.removeprefix('job_')}_m_000001_0"
        assert {row[:2] for row in open_runs} == {("map", count.id)}
        assert {attempt} <= {row[2] for row in open_runs} <= killed

    def verify_old(
        self, cluster: Cluster, copied: Tally, counted: Tally, verifies: Verifies
    ) -> None:
        run = cluster.run("old")
        once: dict[int, Count] = dict.fromkeys((220, 227, 228, 262, 263), copied.maps)
        copies = {201: LINES, 206: LINES, **once}
        verifies(run, copies, copied.where("MAP"))
        words, combined = LINES * WORDS, counted.map("COMBINE_INPUT_RECORDS")
        maps: dict[int, Count] = {
            201: LINES,
            204: words,
            212: counted.spills + counted.maps,
            214: counted.map("COMBINE_OUTPUT_RECORDS"),
            215: counted.map("SPILLED_RECORDS"),
            217: combined - words,
            218: combined,
            264: 0,
            **sorting(counted),
        }
        verifies(run, maps, counted.where("MAP"))
        reduces: dict[int, Count] = {
            208: counted.reduce("REDUCE_INPUT_RECORDS"),
            210: counted.reduce("REDUCE_OUTPUT_RECORDS"),
            213: 1,
            214: counted.reduce("COMBINE_OUTPUT_RECORDS"),
            215: counted.reduce("COMBINE_OUTPUT_RECORDS"),
            218: counted.reduce("COMBINE_INPUT_RECORDS"),
            239: 1,  # of three outputs in memory, which together are just too much
            **reducing(cluster, "old", counted),
        }
        del reduces[209]  # the new API's
        verifies(run, reduces, counted.where("REDUCE"))
        verifies(run, committing(jobs=2), APPMASTER)
        # The attempt that failed cleaned up behind itself.
        verifies(run, {264: 1}, "role = 'map'")
