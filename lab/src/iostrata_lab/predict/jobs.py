"""Jobs of Hadoop on other clusters, each predicted from a single run of it (S5, Fig. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iostrata.errors import UserError
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

PARAMETERS = (
    Parameter("clusters", "numbers of nodes; jobs are recorded on the first", "4,2,8"),
    Parameter("spindle", "bytes/s of the disk of a node, at first; and then twice as many",
              20_000_000, BYTES, low=1_000_000),
    Parameter("input", "bytes that jobs read", 128 << 20, BYTES, low=1 << 20, scaled=True),
    Parameter("maps", "of jobs", 8, low=1, high=1000),
)  # fmt: skip
_MOST_NODES = 16
_TEXT = "org.apache.hadoop.io.Text"
_AS_TEXT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"


@dataclass(frozen=True)
class PredictedJob:
    """A program of Hadoop's examples; `make`: what its input is written with, `run`: its words
    before input and output. `paper`: the accuracy that S5 names, by number of nodes, 0 for any.
    """

    name: str
    make: tuple[str, ...]
    run: tuple[str, ...]
    paper: Mapping[int, float]

    @property
    def input(self) -> str:
        """Its folder in HDFS."""
        return f"/in/{self.name}"


JOBS = (
    PredictedJob(
        "identity",
        (),
        ("sort", "-r", "2", "-outKey", _TEXT, "-outValue", _TEXT),
        {0: 0.7},
    ),
    PredictedJob(
        "wordcount",
        ("-outFormat", _AS_TEXT),
        ("wordcount", "-Dmapreduce.job.reduces=2"),
        {4: 0.31, 16: 0.6},
    ),
)


def node_counts(values: Mapping[str, Value]) -> list[int]:
    """Of `clusters`; raises UserError."""
    text = str(values["clusters"]).strip()
    try:
        found = [int(word) for word in text.split(",")] if text else []
    except ValueError:
        found = [0]
    if not all(1 <= nodes <= _MOST_NODES for nodes in found) or len(set(found)) < len(found):
        raise UserError(f"clusters={text} is not allowed", f"say 4,2,8: 1 to {_MOST_NODES} nodes")
    return found
