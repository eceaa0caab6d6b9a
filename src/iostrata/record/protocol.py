"""What a recorder and a collector say to each other.

record RUN          asked at the door (record/door.py), which writes DIR/runs/RUN.run:
                    recorder_pid, recorder_start, command, expect=ROLE:PID, points_off=ID,
                    level=NAME, sampling=N (of ALL_REQUESTS), budget=MILLIONTHS, devices=1; and
                    before it RUN.points: points of its user, as agents read them
stop RUN            asked at the door: exit=CODE
withdraw RUN        asked at the door: as if it had not been asked for
STORE/RUN/progress.json   the collector's answer: state (stuck: it cannot publish now), events,
                    bytes, dropped, processes, level, sampling, budget, behind, jobs, message; at
                    the end coverage, see store.coverage
STORE/RUN/live-HOST.json  once a second while it records: what `iostrata top` shows
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

from iostrata.errors import UserError
from iostrata.patience import Patience
from iostrata.processes import start_ticks
from iostrata.record.collector import Collector, has_successor
from iostrata.record.door import POINTS, ask
from iostrata.regular import read_regular
from iostrata.schema.detail import Detail
from iostrata.schema.events import ALL_REQUESTS
from iostrata.store.coverage import ReportedCoverage
from iostrata.text import shortened, storable

AS_USUAL = Detail()
# Of a command, whose words may be megabytes: run.json has all of it, and a packet has no room.
_LONGEST = 4000


@dataclass(frozen=True)
class RunProgress:
    """The collector's answer; `bytes` is the size of the trace, `jobs` those the run submitted.

    `level`, `sampling` (of ALL_REQUESTS; 0: all) and `budget` (millionths) are how much is kept one
    by one, `behind` how many processes do not do so yet.
    """

    state: str = ""
    events: int = 0
    bytes: int = 0
    dropped: int = 0
    processes: int = 0
    level: str = ""
    budget: int = 0
    sampling: int = 0
    behind: int = 0
    message: str = ""
    jobs: Sequence[str] = ()
    coverage: ReportedCoverage | None = None

    @property
    def detail(self) -> Detail:
        """What it goes by."""
        return Detail(self.level, self.sampling or ALL_REQUESTS, self.budget)


def read_progress(collector: Collector, run: str) -> RunProgress:
    """The last answer about a run; an empty one when there is none so far."""
    try:
        answer = json.loads(read_regular(collector.store / run / "progress.json"))
    except (OSError, ValueError):
        return RunProgress()
    return _progress(answer) if isinstance(answer, dict) else RunProgress()


def _progress(answer: dict[str, Any]) -> RunProgress:
    """Values that are what they must be; what a newer collector says beside them is left out."""
    known = {
        field.name: answer[field.name]
        for field in fields(RunProgress)
        if field.name in answer and isinstance(answer[field.name], type(field.default))
    }
    jobs = answer.get("jobs")
    if isinstance(jobs, list):
        known["jobs"] = tuple(str(job) for job in jobs)
    return RunProgress(**{**known, "coverage": ReportedCoverage.of(answer.get("coverage"))})


def announce(
    collector: Collector,
    run: str,
    command: list[str],
    expect: Iterable[tuple[str, int]] = (),
    points_off: Iterable[int] = (),
    detail: Detail = AS_USUAL,
    points: Sequence[Mapping[str, str]] = (),
    *,
    devices: bool = False,
) -> None:
    """Asks the collector to record a run of this process; `points` are rows of schema.users."""
    lines = [f"recorder_pid={os.getpid()}", f"recorder_start={start_ticks(os.getpid())}"]
    shown = storable(shortened(" ".join(command), _LONGEST)).replace("\n", " ")
    lines.append(f"command={shown}")
    lines += [f"expect={role}:{pid}" for role, pid in expect]
    lines += [f"points_off={point}" for point in points_off]
    lines += ["devices=1"] * devices
    lines += detail.lines()
    brought = ""
    if points:
        from iostrata.schema.pointfile import points_table

        brought = POINTS + points_table(points)
    ask(collector, f"record {run}\n{_text(lines)}{brought}")


def change_detail(collector: Collector, run: str, detail: Detail) -> None:
    """Asks the collector to go on with a run in another detail; raises UserError."""
    order = collector.dir / "runs" / f"{run}.run"
    try:
        lines = order.read_text("utf-8").splitlines()
    except PermissionError as error:
        who = "its owner may change its level"
        raise UserError(f"run {run} is another user's", who) from error
    except FileNotFoundError as error:
        raise UserError(f"run {run} is not being recorded", "iostrata runs") from error
    except OSError as error:
        raise UserError(f"{order} cannot be read: {error.strerror}") from error
    changed = tuple(line.partition("=")[0] + "=" for line in detail.lines())
    kept = [line for line in lines if not line.startswith(changed)]
    ask(collector, f"record {run}\n{_text([*kept, *detail.lines()])}")


def end(collector: Collector, run: str, exit_code: int) -> None:
    """Asks the collector to finish a run."""
    ask(collector, f"stop {run}\nexit={exit_code}\n")


def withdraw(collector: Collector, run: str) -> None:
    """Takes back an announcement that was not answered."""
    with suppress(UserError):
        ask(collector, f"withdraw {run}")


def is_asked_for(collector: Collector, run: str) -> bool:
    """Whether a run that was announced still waits or is recorded; a collector that cannot take it
    up forgets that it was asked.
    """
    return (collector.dir / "runs" / f"{run}.run").exists()


def wait_for(
    collector: Collector,
    run: str,
    states: tuple[str, ...],
    timeout: float,
    show: Callable[[RunProgress], None] = lambda _: None,
) -> RunProgress | None:
    """Waits for one of the states; None after `timeout` seconds or when the collector is gone.

    One that was killed may have a successor by now, which goes on with its runs.
    """
    patience = Patience(timeout)
    nap = 0.005
    while True:
        living = collector.alive or has_successor(collector)
        progress = read_progress(collector, run)
        show(progress)
        if progress.state in states:
            return progress
        if not living or not patience.lasts():
            return None
        time.sleep(nap)
        nap = min(nap * 1.5, 0.05)  # processes of a run may take seconds to end


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
