"""A model of what was asked of HDFS, fitted to a recorded run: what the generator needs to ask for
the like of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from iostrata.errors import UserError
from iostrata.records import Bytes, Count, Record
from iostrata_lab.workload.requests.popularity import Popular, popular
from iostrata_lab.workload.swim.fit import GapModel
from iostrata_lab.workload.swim.fitting import models_of

FEWEST = 20  # requests: of fewer, any model fits
STRONG = 10.0  # a difference of AIC that leaves the worse model no support (Burnham and Anderson)
POISSON, HYPEREXPONENTIAL = "exponential", "hyperexponential"
# Of a trace's operations, the generator's: a file that is opened is read.
OPERATIONS = {
    "open": "read", "stat": "stat", "list": "list", "create": "create", "append": "append",
    "rename": "rename", "delete": "delete",
}  # fmt: skip
_NAMED_FILES = ("open", "stat")  # those whose files the generator draws


@dataclass(frozen=True)
class RecordedRequest:
    """A request that was kept: ns, operation of the trace, file or folder, (process, thread)."""

    start: int
    dur: int
    op: str
    target: str
    thread: tuple[int, int]


@dataclass(frozen=True)
class Observed:
    """Requests in order of start, and exact totals of all: (calls, bytes) by operation, with
    `read` and `write` for the bytes of files.
    """

    requests: Sequence[RecordedRequest]
    totals: Mapping[str, tuple[int, int]]


class ModelAnswer(Record, frozen=True):
    """A model as JSON has it, with the parameters of the generator; fields are as in `Model`."""

    rate: float
    seconds: float
    operations: dict[str, int]
    kept: Count
    gaps: tuple[GapModel, ...]
    session: float
    think: float
    files: Popular
    read_size: Bytes
    write_size: Bytes
    settings: dict[str, str]


@dataclass(frozen=True)
class Model:
    """`rate` is requests/s, `operations` how many were asked for, `kept` how many of them were
    recorded individually; `session` is requests, `think` s; sizes are mean bytes.
    """

    rate: float
    seconds: float
    operations: dict[str, int]
    kept: int
    gaps: tuple[GapModel, ...]  # between sessions, best AIC first
    session: float
    think: float
    files: Popular
    read_size: int
    write_size: int

    @property
    def arrivals(self) -> GapModel:
        """Of those that the generator has: Poisson's, unless two phases are far more likely."""
        by_name = {one.name: one for one in self.gaps}
        simple = by_name[POISSON]
        phases = by_name.get(HYPEREXPONENTIAL, simple)
        return phases if simple.aic - phases.aic > STRONG else simple

    def answer(self, settings: dict[str, str]) -> ModelAnswer:
        """With what `settings` says, and what a user of them added."""
        return ModelAnswer(**vars(self), settings=settings)

    def settings(self) -> dict[str, str]:
        """Parameters of the generator, which asks for the like of it with them."""
        best = self.arrivals
        found = {"base": f"{self.rate:.6g}", "arrivals": "poisson"}
        if best.name == HYPEREXPONENTIAL:
            of = best.parameters
            found |= {
                "arrivals": "hyperexponential",
                "phase_share": f"{of['p']:.6g}",
                "phase_first": f"{of['mean1']:.6g}",
                "phase_second": f"{of['mean2']:.6g}",
            }
        shares = (f"{op}:{many}" for op, many in self.operations.items() if many)
        deep = self.files.files >= 16  # what the generator's folders need
        found |= {
            "session": f"{self.session:.6g}",
            "think": f"{self.think:.6g}",
            "mix": ",".join(shares),
            "files": str(self.files.files),
            "zipf": f"{self.files.zipf:.3f}",
            "file_size": str(max(self.read_size, 1)),
            "read_size": str(max(self.read_size, 1)),
            "write_size": str(self.write_size),
        }
        return found if deep else found | {"depth": "0"}


def model_of(seen: Observed, pause: float = 0.0) -> Model:
    """The model. Requests of a thread less than `pause` s apart are one session; with 0 each is its
    own. Where not all requests were kept, gaps are scaled to the rate of all.

    Raises UserError for too few requests.
    """
    if len(seen.requests) < FEWEST:
        raise UserError(
            f"{len(seen.requests)} requests to HDFS were kept, {FEWEST} are needed",
            "record a longer run, or at a level that keeps more (--level)",
        )
    counts = {name: seen.totals.get(op, (0, 0))[0] for op, name in OPERATIONS.items()}
    total = sum(counts.values())
    seconds = (seen.requests[-1].start - seen.requests[0].start) / 1e9
    if seconds <= 0:
        raise UserError("all requests to HDFS began at once", "record a longer run")
    sessions = _sessions(seen.requests, pause)
    thinks = [b.start - a.start - a.dur for one in sessions for a, b in pairwise(one)]
    targets = Counter(one.target for one in seen.requests if one.op in _NAMED_FILES)
    return Model(
        rate=(total - 1) / seconds,
        seconds=seconds,
        operations=counts,
        kept=len(seen.requests),
        gaps=models_of([max(gap, 1e-9) for gap in gaps_of(seen, pause)]),
        session=len(seen.requests) / len(sessions),
        think=max(0, sum(thinks)) / 1e9 / len(thinks) if thinks else 0.0,
        files=popular(targets.values()),
        read_size=_mean(seen.totals, "read", ("open",)),
        write_size=_mean(seen.totals, "write", ("create", "append")),
    )


def gaps_of(seen: Observed, pause: float = 0.0) -> list[float]:
    """s between sessions, scaled to the rate of all requests where not all were kept."""
    total = sum(seen.totals.get(op, (0, 0))[0] for op in OPERATIONS)
    starts = [one[0].start for one in _sessions(seen.requests, pause)]
    return [(b - a) / 1e9 * len(seen.requests) / total for a, b in pairwise(starts)]


def _mean(totals: Mapping[str, tuple[int, int]], moved: str, ops: tuple[str, ...]) -> int:
    """Bytes of each of these requests."""
    calls = sum(totals.get(op, (0, 0))[0] for op in ops)
    return round(totals.get(moved, (0, 0))[1] / calls) if calls else 0


def _sessions(requests: Sequence[RecordedRequest], pause: float) -> list[list[RecordedRequest]]:
    """In order of their first requests; a request belongs to the last session of its thread if it
    begins less than `pause` s after that one's last was done.
    """
    sessions: list[list[RecordedRequest]] = []
    last: dict[tuple[int, int], list[RecordedRequest]] = defaultdict(list)
    for request in requests:
        one = last[request.thread]
        if one and pause and request.start - one[-1].start - one[-1].dur < pause * 1e9:
            one.append(request)
            continue
        last[request.thread] = [request]
        sessions.append(last[request.thread])
    return sessions
