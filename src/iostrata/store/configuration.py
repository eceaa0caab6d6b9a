"""Settings of jobs that advice may name: only these are kept of a configuration, so no secret is.

All are read by the job itself. What a NameNode or a NodeManager has set is in no job's
configuration: there it is the default of the client, whatever the server has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

INPUT_FORMATS = ("mapreduce.job.inputformat.class", "mapred.input.format.class")
SETTINGS = frozenset(
    {
        *INPUT_FORMATS,
        "dfs.blocksize",
        "dfs.client.block.write.replace-datanode-on-failure.best-effort",
        "dfs.replication",
        "fs.hdfs.impl.disable.cache",
        "fs.posix.locality",
        "io.file.buffer.size",
        "mapreduce.fileoutputcommitter.algorithm.version",
        "mapreduce.input.fileinputformat.split.maxsize",
        "mapreduce.input.fileinputformat.split.minsize",
        "mapreduce.job.jvm.numtasks",
        "mapreduce.job.maps",
        "mapreduce.job.reduce.slowstart.completedmaps",
        "mapreduce.job.reduces",
        "mapreduce.job.ubertask.enable",
        "mapreduce.map.java.opts",
        "mapreduce.map.log.level",
        "mapreduce.map.memory.mb",
        "mapreduce.map.output.compress",
        "mapreduce.map.output.compress.codec",
        "mapreduce.map.sort.spill.percent",
        "mapreduce.map.speculative",
        "mapreduce.reduce.java.opts",
        "mapreduce.reduce.memory.mb",
        "mapreduce.reduce.speculative",
        "mapreduce.task.io.sort.factor",
        "mapreduce.task.io.sort.mb",
        "spark.driver.memory",
        "spark.executor.cores",
        "spark.executor.instances",
        "spark.executor.memory",
        "spark.io.compression.codec",
        "spark.serializer",
        "spark.shuffle.compress",
        "spark.speculation",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.shuffle.partitions",
    }
)
# A number, a size, a class, a word: what a setting of these is. Heap sizes are several words.
VALUE = r"\A[\w.$+-][\w.$+ -]{0,199}\Z"
# Options of a JVM may hold passwords of key stores: only those that size its heap are kept.
_HEAP = re.compile(r"(?<!\S)-Xm[nsx]\d+[kKmMgG]?(?!\S)")
_OPTIONS = {"--executor-memory": "spark.executor.memory", "--driver-memory": "spark.driver.memory"}


def kept(configuration: Mapping[str, str]) -> dict[str, str]:
    """The settings of a configuration that are kept, without values that none of them has."""
    found = {}
    for key in sorted(SETTINGS & configuration.keys()):
        value = configuration[key].strip()
        if key.endswith(".java.opts"):
            value = " ".join(_HEAP.findall(value))
        if re.search(VALUE, value):
            found[key] = value
    return found


def of_command(command: Sequence[str]) -> dict[str, str]:
    """The settings that a command line gives to its jobs: -D and, of spark-submit, --conf."""
    return kept(dict(_given(command)))


def _given(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, after in zip(command, [*command, ""][1:], strict=True):
        if word in _OPTIONS:
            yield _OPTIONS[word], after
        elif word in ("-D", "--conf", "-c"):
            key, _, value = after.partition("=")
            yield key, value
        elif word.startswith(("-D", "--conf=")):
            key, _, value = word.removeprefix("-D").removeprefix("--conf=").partition("=")
            yield key, value
