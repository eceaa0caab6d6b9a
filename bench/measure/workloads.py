"""The jobs that are measured, by size: the same commands for every tool that observes them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from iostrata_lab import clusters

BASE = "/bench"  # in HDFS
DFSIO = "hadoop org.apache.hadoop.fs.TestDFSIO"
DFSIO_FILES = 4
ROW = 100  # bytes of a TeraGen row


@dataclass(frozen=True)
class Job:
    """A command for `megabytes` (1e6 bytes) of data.

    `prepare` is run once before; `outputs` are paths of HDFS that it leaves. {examples} is the
    jar of Hadoop's examples, {text} a local text file of as many megabytes.
    """

    name: str
    megabytes: float
    command: str
    prepare: str = ""
    outputs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name} {self.megabytes:.0f} MB"


def dfsio(mode: str, megabytes: int) -> Job:
    """TestDFSIO of four files; its sizes are in units of 2^20 bytes."""
    each = max(1, round(megabytes * 1e6 / 2**20 / DFSIO_FILES))
    base = f"-Dtest.build.data={BASE}/dfsio-{mode}-{megabytes}"
    words = f"{DFSIO} {base} -{{mode}} -nrFiles {DFSIO_FILES} -size {each}MB -resFile /dev/null"
    return Job(
        name=f"TestDFSIO {mode}",
        megabytes=DFSIO_FILES * each * 2**20 / 1e6,
        command=words.format(mode=mode),
        prepare=words.format(mode="write") if mode == "read" else "",
    )


def terasort(megabytes: int) -> Job:
    rows, data, out = round(megabytes * 1e6 / ROW), f"{BASE}/tera-{megabytes}", f"{BASE}/sorted"
    return Job(
        name="TeraSort",
        megabytes=megabytes,
        command=f"hadoop jar {{examples}} terasort -Dmapreduce.job.reduces=2 {data} {out}",
        prepare=f"hadoop jar {{examples}} teragen -Dmapreduce.job.maps=2 {rows} {data}",
        outputs=(out,),
    )


def sort(megabytes: int) -> Job:
    """Of lines by their first word, with two reduces."""
    data, out = f"{BASE}/tera-{megabytes}", f"{BASE}/sorted"
    lib, line = "org.apache.hadoop.mapreduce.lib", "org.apache.hadoop.io.Text"
    words = (
        f"-r 2 -inFormat {lib}.input.KeyValueTextInputFormat "
        f"-outFormat {lib}.output.TextOutputFormat -outKey {line} -outValue {line} {data} {out}"
    )
    return Job(
        name="Sort",
        megabytes=megabytes,
        command=f"hadoop jar {{examples}} sort {words}",
        prepare=terasort(megabytes).prepare,
        outputs=(out,),
    )


def wordcount(megabytes: int) -> Job:
    """With combiner."""
    data, out = f"{BASE}/text-{megabytes}", f"{BASE}/words"
    return Job(
        name="WordCount",
        megabytes=megabytes,
        command=f"hadoop jar {{examples}} wordcount {data} {out}",
        prepare=f"hadoop fs -mkdir -p {BASE} ; hadoop fs -put -f {{text}} {data}",
        outputs=(out,),
    )


def commands(words: str, job: Job, lab: str, work: Path) -> list[list[str]]:
    """The command lines of a job's `command` or `prepare`, for a lab."""
    if "{text}" in words:
        words = words.replace("{text}", str(text(work, job.megabytes)))
    words = words.replace("{examples}", str(clusters.find_hadoop(lab).examples_jar))
    return [line.split() for line in words.split(" ; ")]


def text(work: Path, megabytes: float) -> Path:
    """A file of words, the same every time."""
    path = work / f"text-{megabytes:.0f}"
    if path.exists():
        return path
    chosen = random.Random(1)
    words = b" ".join(b"word%d" % chosen.randrange(5000) for _ in range(20_000))
    block = b"".join(
        words[at : at + 70].replace(b"\n", b" ") + b"\n" for at in range(0, len(words), 70)
    )
    with path.open("wb") as out:
        while out.tell() < megabytes * 1e6:
            out.write(block)
    return path
