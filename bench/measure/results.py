"""One JSON file of raw measurements that grows run by run: Ctrl-C loses nothing but one pair."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]


def machine() -> Row:
    """What the figures depend on: machine, kernel, load, Java, and the commit measured."""

    def said(*command: str) -> str:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return (done.stdout + done.stderr).strip()

    model = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo", "model name")]
    memory = [line.split()[1] for line in _lines("/proc/meminfo", "MemTotal")]
    return {
        "date": time.strftime("%FT%TZ", time.gmtime()),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "model": model[0] if model else "",
        "memory_kb": int(memory[0]) if memory else 0,
        "load": Path("/proc/loadavg").read_text("utf-8").strip(),
        "java": said("java", "-version").partition("\n")[0],
        "commit": said("git", "rev-parse", "HEAD"),
        "changed": bool(said("git", "status", "--porcelain", "--untracked-files=no")),
    }


def _lines(path: str, begin: str) -> list[str]:
    return [line for line in Path(path).read_text("utf-8").splitlines() if line.startswith(begin)]


class Results:
    """FOLDER/NAME.json: command, machine, settings, runs (raw), found (computed from them).

    A file that is there is gone on with if it was measured with the same settings; else the
    program ends with a line that says so.
    """

    def __init__(self, folder: Path, name: str, settings: Row) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.json"
        self.facts: Row = {
            "command": _command(),
            "machine": machine(),
            "settings": settings,
            "runs": [],
            "found": {},
        }
        before = read(self.path)
        if before is None:
            return
        if before["settings"] != settings:
            sys.exit(
                f"{self.path} was measured with {before['settings']}, not with {settings}: "
                "choose another folder, or remove it"
            )
        self.facts["runs"] = before["runs"]
        # Who measures on two days has two machines, in what matters here.
        self.facts["before"] = [*before.get("before", []), before["machine"]]
        say(f"{self.path.name}: going on after {len(before['runs'])} runs")

    @property
    def runs(self) -> list[Row]:
        return list(self.facts["runs"])

    def having(self, **wanted: object) -> list[Row]:
        """The runs with these values."""
        return [run for run in self.runs if all(run.get(k) == v for k, v in wanted.items())]

    def add(self, runs: Iterable[Row]) -> None:
        """Keeps runs that belong together: all of them are in the file, or none."""
        self.facts["runs"] += runs
        self._write()

    def conclude(self, found: Any) -> None:
        """Keeps what was computed from the runs."""
        self.facts["found"] = found
        self._write()

    def _write(self) -> None:
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(self.facts, indent=1) + "\n", "utf-8")
        fresh.rename(self.path)


def read(path: Path) -> Row | None:
    """A file of results; None if it is not there. Ends the program if it is none."""
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except ValueError as error:
        sys.exit(f"{path} is no file of results ({error}): remove it")


def _command() -> list[str]:
    program = Path(sys.argv[0]).resolve()
    inside = program.is_relative_to(ROOT)
    return [str(program.relative_to(ROOT)) if inside else program.name, *sys.argv[1:]]


_begin = time.monotonic()


def say(text: str) -> None:
    """A line of progress, with the seconds since the start."""
    print(f"{time.monotonic() - _begin:7.1f} s  {text}", file=sys.stderr, flush=True)


def end_as_by_ctrl_c() -> None:
    """A SIGTERM ends as Ctrl-C does: labs and groups are cleaned up, what was measured stays.

    Also where a shell that started the program in its background has it ignore SIGINT.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupt)
