"""What may be asked of the generator, checked as a whole."""

from __future__ import annotations

import math
from pathlib import Path

from iostrata.errors import UserError
from iostrata.text import size
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import BYTES, Parameter
from iostrata_lab.workload.requests.mix import MIXES, weights_of

ARRIVALS = ("constant", "poisson", "lognormal", "hyperexponential", "recorded")
RUN, SATURATION = "run", "saturation"
_GIB = 1 << 30
PARAMETERS = (
    Parameter("base", "rate that alpha multiplies", 200.0, "requests/s", low=1e-3, high=1e6),
    Parameter("alpha", "factor for the base, as in Table 1 of the paper", 1.0, low=1e-6, high=1e6),
    Parameter("duration", "duration of the measurement", 30.0, "s", low=1, high=1e6, scaled=True),
    Parameter("warmup", "duration at the same rate before the measurement",
              5.0, "s", low=0, high=1e4),
    Parameter("arrivals", "when sessions begin", "poisson", choices=ARRIVALS),
    Parameter("sigma", "lognormal: standard deviation of the logarithm of the rate",
              0.5, low=0, high=5),
    Parameter("interval", "lognormal: how long a rate holds", 1.0, "s", low=1e-3, high=1e6),
    # of jobs, Facebook 2009 (SWIM): the ratio of the means is what counts
    Parameter("phase_share", "hyperexponential: share of gaps of the first kind",
              0.789, low=0, high=1),
    Parameter("phase_first", "hyperexponential: mean of gaps of the first kind",
              9.07, "s", low=1e-9, high=1e9),
    Parameter("phase_second", "hyperexponential: mean of the other gaps",
              34.5, "s", low=1e-9, high=1e9),
    Parameter("gaps", "recorded: a local file with a gap in seconds on each line", ""),
    Parameter("session", "mean number of requests of a session (geometric)",
              1.0, "requests", low=1, high=1e6),
    Parameter("think", "mean time within a session until the next", 0.1, "s", low=0, high=1e6),
    Parameter("client", "one client of HDFS for all, or one that each session makes", "shared",
              choices=("shared", "session")),
    Parameter("mix", f"{', '.join(MIXES)}, or weights: read:74,stat:17,list:9", "spotify"),
    Parameter("files", "files that are read and looked up", 1000, "files", low=1, high=1e6),
    Parameter("zipf", "exponent of how popular files are; 0: all alike", 0.8, low=0, high=10),
    Parameter("depth", "levels of folders above the files", 2, "levels", low=0, high=20),
    Parameter("fanout", "folders in each folder", 4, "folders", low=1, high=10_000),
    Parameter("file_size", "mean", 256 << 10, BYTES, low=0, high=_GIB),
    Parameter("read_size", "mean bytes of a request", 64 << 10, BYTES, low=1, high=_GIB),
    Parameter("write_size", "mean bytes of a request", 64 << 10, BYTES, low=0, high=_GIB),
    Parameter("spread", "sigma of lognormal sizes; 0: constant sizes", 0.0, low=0, high=5),
    Parameter("threads", "threads that do requests", 32, "threads", low=1, high=10_000),
    Parameter("limit", "requests that may wait; further ones are dropped",
              1_000_000, low=1, high=1e8),
    Parameter("spin", "time before each arrival in which the dispatcher does not sleep",
              50, "µs", low=0, high=1_000_000),
    Parameter("find", "one run, or the highest rate that HDFS keeps up with",
              RUN, choices=(RUN, SATURATION)),
    Parameter("trial", "saturation: duration of each rate", 5.0, "s", low=1, high=1e5),
    Parameter("most", "saturation: the highest rate", 50_000.0, "requests/s", low=1, high=1e6),
    Parameter("slowest", "saturation: 99 % must be faster", 1.0, "s", low=1e-3, high=1e3),
)  # fmt: skip
# Not sent as they are.
_PHASES = ("phase_share", "phase_first", "phase_second")


def gaps_of(path: str) -> list[float]:
    """Seconds, of a file with one on each line; raises UserError with the line that is none."""
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise UserError(f"gaps={path}: {error.strerror}", "name another file") from None
    except UnicodeDecodeError:
        raise UserError(f"gaps={path} is no text", "say a gap on each line") from None
    found = [_gap(line, f"{path} line {number}") for number, line in enumerate(lines, 1)]
    if not sum(found) > 0:
        raise UserError(f"{path}: no gap is longer than 0", "there must be one")
    return found


def _gap(line: str, where: str) -> float:
    try:
        gap = float(line)
    except ValueError:
        gap = math.nan
    if not 0 <= gap < math.inf:
        raise UserError(f"{where}: {line!r} is no gap in seconds", "say a number from 0 on")
    return gap


def rate(context: Context) -> float:
    """Requests per second: alpha times the base, or times the rate of the recorded gaps."""
    base = context.real("base")
    if context.text("arrivals") == "recorded":
        gaps = gaps_of(context.text("gaps"))
        base = len(gaps) / sum(gaps) * context.real("session")
    return context.real("alpha") * base


def check(context: Context) -> None:
    """Raises UserError for what is impossible together."""
    weights = weights_of(context.text("mix"))
    if (context.text("arrivals") == "recorded") != bool(context.text("gaps")):
        raise UserError("arrivals=recorded and gaps=FILE go together", "say both or none")
    expected = rate(context) * context.real("duration")
    if expected < 1:
        raise UserError(
            f"{rate(context):g} requests/s for {context.real('duration'):g} s are none",
            "ask for more: base, alpha, duration",
        )
    folders = context.number("fanout") ** context.number("depth")
    if folders > context.number("files"):
        raise UserError(
            f"fanout={context.number('fanout')} and depth={context.number('depth')} are "
            f"{folders} folders for files={context.number('files')}",
            "ask for more files or fewer folders",
        )
    read, there = context.number("read_size"), context.number("file_size")
    if weights["read"] and read > there:
        raise UserError(
            f"read_size={size(read)} of files with file_size={size(there)}", "ask for less"
        )
    if context.text("find") == SATURATION and rate(context) > context.real("most"):
        raise UserError(
            f"{rate(context):g} requests/s to begin with, most={context.real('most'):g}",
            "begin lower: base, alpha",
        )


def bytes_of(context: Context) -> int:
    """In HDFS, with six standard deviations; of what is written twice what is expected."""
    requests = rate(context) * (context.real("duration") + context.real("warmup"))
    if context.text("find") == SATURATION:
        requests = max(requests, context.real("most") * context.real("trial"))
    weights = weights_of(context.text("mix"))
    writes = requests * (weights["create"] + weights["append"]) / sum(weights.values())
    spread = 6 * math.sqrt(math.expm1(context.real("spread") ** 2))
    files = context.number("files")
    there = context.number("file_size") * (files + spread * math.sqrt(files))
    return int(there + context.number("write_size") * 2 * (writes + spread * math.sqrt(writes)))


def words(context: Context) -> list[str]:
    """NAME=VALUE, as `Settings.java` reads them."""
    values = dict(context.values)
    phases = ",".join(str(values.pop(name)) for name in _PHASES)
    values["mix"] = ",".join(str(weight) for weight in weights_of(context.text("mix")).values())
    if values["gaps"]:
        values["gaps"] = str(Path(context.text("gaps")).absolute())
    del values["find"]
    said = {**values, "phases": phases, "seed": context.seed, "folder": context.folder}
    return [f"{name}={value}" for name, value in said.items()]
