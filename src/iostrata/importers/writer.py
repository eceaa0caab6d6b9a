"""Makes a run of calls: a draft beside the runs of the store, renamed when it is whole.

Calls go to a text file first, numbers only; names are kept once each. In the end DuckDB adds them
up and writes Parquet, within a limit of memory. Columns are those of schema/events.toml.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Self

import duckdb

from iostrata.errors import UserError
from iostrata.importers import tables
from iostrata.importers.account import ImportAccount
from iostrata.importers.names import CallTarget
from iostrata.importers.tables import SummedCalls, Thread, TracedCall
from iostrata.records import builtins
from iostrata.schema.events import FLAG, VERSION
from iostrata.store.location import check_run_name
from iostrata.store.writing import write_facts

MEMORY = "1GB"  # of DuckDB; the rest of what it needs is on disk, in the draft
MOST = 1 << 61  # ns, bytes, calls: two of them still fit into 64 bits, and no trace has as many


class RunWriter:
    """A context: what is not finished when it ends leaves nothing."""

    def __init__(self, store: Path, name: str) -> None:
        self._final = store / check_run_name(name)
        self._draft = store / f".import-{name}-{os.getpid()}"
        self._targets: dict[CallTarget, int] = {}
        self.threads: list[Thread] = []
        self.calls = 0
        self.rows = 0
        self._start, self._end = MOST, 0

    def __enter__(self) -> Self:
        if self._final.exists():
            raise UserError(
                f"run {self._final.name} exists already in {self._final.parent}",
                "choose another name with --run",
            )
        try:
            self._final.parent.mkdir(parents=True, exist_ok=True)
            self._draft.mkdir(0o700)
            self._file = (self._draft / "rows.csv").open("w", encoding="ascii", buffering=1 << 20)
        except OSError as error:
            raise UserError(
                f"{self._final.parent} cannot be written: {error.strerror}", "set IOSTRATA_STORE"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        shutil.rmtree(self._draft, ignore_errors=True)

    def _target(self, target: CallTarget) -> int:
        return self._targets.setdefault(target, len(self._targets))

    def thread(self, thread: Thread) -> int:
        """Number of a thread; `threads[number]` may be changed as long as more becomes known."""
        self.threads.append(thread)
        return len(self.threads) - 1

    def call(self, thread: int, start: int, dur: int | None, call: TracedCall) -> None:
        """One call of a thread. Raises ValueError for numbers that no call has."""
        flags = FLAG["inner"] * call.inner + FLAG["errno"] * bool(call.error)
        target = None if call.target is None else self._target(call.target)
        numbers = (thread, start, dur, target, call.offset, call.size, call.asked, 1)
        self._row(call.kind, call.layer, call.op, call.error, flags, numbers)
        self._saw(start, start + (dur or 0))
        self.calls += call.kind == "call"

    def sum(self, thread: int, start: int, dur: int, calls: SummedCalls) -> None:
        """Calls of a thread within a time. Raises ValueError for numbers that no call has."""
        flags = FLAG["estimated"] * calls.estimated
        place = (thread, start, dur, self._target(calls.target), calls.size_class)
        numbers = (*place, calls.size, None, calls.count, calls.time, calls.most)
        self._row("sum", calls.layer, calls.op, "", flags, numbers)
        self._saw(start, start + dur)

    def finish(self, account: ImportAccount) -> Path:
        """Writes the run and puts it in its place; its folder."""
        self._file.close()
        try:
            self._write(account)
            self._draft.rename(self._final)
        except duckdb.Error as error:
            first = str(error).strip().splitlines()[0]
            raise UserError(f"the run could not be written: {first}") from error
        except OSError as error:
            raise UserError(
                f"{self._final} could not be written: {error.strerror}",
                "make room, or choose another name with --run or another store with --store",
            ) from error
        return self._final

    def _row(
        self, kind: str, layer: str, op: str, error: str, flags: int, numbers: tuple[Any, ...]
    ) -> None:
        """A line of `tables.ROWS`; a sum has its size class where a call has its offset."""
        for number in numbers:
            if number is not None and not 0 <= number <= MOST:
                raise ValueError(f"{number} is out of range")
        cells = ",".join("" if number is None else str(number) for number in numbers)
        blank = "," * (10 - len(numbers))
        self._file.write(f"{kind},{layer},{op},{error},{flags},{cells}{blank}\n")
        self.rows += 1

    def _saw(self, start: int, end: int) -> None:
        self._start, self._end = min(self._start, start), max(self._end, end)

    def _write(self, account: ImportAccount) -> None:
        spill = self._draft / "spill"
        spill.mkdir()
        config: Any = {"memory_limit": MEMORY, "temp_directory": str(spill)}
        with duckdb.connect(config=config) as db:
            events = tables.write(
                db, self._draft, self._final.name, list(self._targets), self.threads
            )
        shutil.rmtree(spill)
        (self._draft / "rows.csv").unlink()
        size = sum(path.stat().st_size for path in self._draft.rglob("*.parquet"))
        progress = {"state": "done", "run": self._final.name, "events": events, "bytes": size}
        (self._draft / "progress.json").write_text(json.dumps(progress) + "\n")
        write_facts(self._draft, self._facts(account))
        for path in [*self._draft.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)

    def _facts(self, account: ImportAccount) -> dict[str, Any]:
        hosts = sorted({thread.host for thread in self.threads if thread.host})
        return {
            "schema": VERSION,
            "run": self._final.name,
            "command": account.command,
            "start": account.start or self._start,
            "end": max(account.end, self._end),
            "exit": account.exit,
            "state": account.state,
            "host": hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts" if hosts else "",
            "user": account.user,
            "message": account.message(),
            "source": builtins(account.facts()),
        }
