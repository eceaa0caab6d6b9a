"""The paper's programs as commands of a mix: a Hadoop job and a checkpoint (S4, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from iostrata.progress import silent
from iostrata_lab.artifacts import jobs_jar
from iostrata_lab.mix.study import LAB_PARAMETERS
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import BYTES, Parameter, Value
from iostrata_lab.workload.parameters import values as checked
from iostrata_lab.workload.tfidf.parameters import MEAN_REQUEST, PARAMETERS, options

CHECKPOINT_PARAMETERS = (
    Parameter("ranks", "of the checkpoint", 4, low=1, high=4096),
    Parameter(
        "written", "bytes of each rank", 192 << 20, BYTES, low=1 << 20, high=1 << 40, scaled=True
    ),
    Parameter("chunk", "bytes in a row of N-1", 64 << 20, BYTES, low=1 << 18, high=1 << 40),
    *LAB_PARAMETERS,
)
PAPER_PARAMETERS = (
    Parameter("requests", "requests that are classified", 40_000, low=1, high=1e9, scaled=True),
    Parameter("training", "requests that the model is made of", 783, low=1, high=1e7),
    Parameter("split", "bytes of each map", 16 << 20, BYTES, low=1 << 20, high=1 << 40),
    *CHECKPOINT_PARAMETERS,
)
ON_ONE_MACHINE = (
    "servers, maps and ranks share one machine with its cores, not 19 nodes; ranks are on it",
    "disks are held to 20 MB/s, so that they and not the cores are short, and 32 MiB of what is "
    "written wait in memory for each: else a checkpoint ends before it is on disk",
    "lengths are matched by repeating the shorter program; its first repetition is measured",
    "times are those of commands: the start of Hadoop's client and of the ranks is in them",
    "requests are made up, and each repeat begins with cold caches",
    "trials are recorded, which costs CPU (mix-cost is of that); there they were not",
)


def tfidf(values: Mapping[str, Value], seed: int, *more: str) -> str:
    """The job, with `more` options; a mode and a folder follow."""
    given = [f"{name}={values[name]}" for name in ("requests", "training", "split")]
    context = Context(
        checked(PARAMETERS, given), seed, ClusterClient({}), "", Path(), silent, "iostrata-mix"
    )
    return f"hadoop jar {jobs_jar()} tfidf {' '.join((*more, *options(context)))}"


def tfidf_setup(job: str) -> str:
    """What `classify` reads, once for all trials."""
    return f"{job} generate $HADOOP_MIX_SHARED/w && {job} train $HADOOP_MIX_SHARED/w"


def classify(job: str) -> str:
    """Each repetition has an output of its own beside the same input."""
    return f"ln -s $MIX_SHARED/w/in $MIX_SHARED/w/model $MIX_OWN && {job} classify $HADOOP_MIX_OWN"


def checkpoint(values: Mapping[str, Value], pattern: str) -> str:
    """As in the paper by 256 KB, N-1 in turns of 64 MB; there each client writes 256 MB."""
    whole = int(values["written"])
    block = min(int(values["chunk"]), whole) if pattern == "strided" else whole
    sets = {
        "ranks": values["ranks"],
        "pattern": pattern,
        "block": block,
        "segments": max(1, whole // block),
        "transfer": 256 << 10,
        "checkpoints": 1,
    }
    said = " ".join(f"--set {name}={value}" for name, value in sets.items())
    return f"iostrata workload run checkpoint --folder $MIX_OWN/c {said}"


def read_by_tfidf(values: Mapping[str, Value]) -> float:
    """Bytes of all requests."""
    return float(values["requests"]) * MEAN_REQUEST


def written_by_ranks(values: Mapping[str, Value]) -> float:
    """Bytes of all ranks."""
    return float(values["ranks"]) * float(values["written"])
