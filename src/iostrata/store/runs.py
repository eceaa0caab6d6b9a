"""Runs of a store: facts of one, a list of all, and the search for one by name."""

from __future__ import annotations

import difflib
import os
import shlex
from fnmatch import fnmatchcase
from pathlib import Path

from iostrata.errors import UserError
from iostrata.processes import alive
from iostrata.records import Bytes, Count, EpochNs, Record
from iostrata.schema.events import VERSION
from iostrata.store.facts import (
    FILES,
    Cluster,
    ImportSource,
    ProgressFacts,
    RecordedFacts,
    UserPointFacts,
    read_facts,
)
from iostrata.store.location import RUN_NAME, check_run_name


class Run(Record, frozen=True):
    """One run. `start` and `end` are ns since the epoch, 0 when not known.

    `title` says what ran where the words of `command` do not; `tags` are its user's own.
    `state` is recording, ok, failed (the command did), interrupted or incomplete (the recorder
    or the collector went away before the end).
    `collector` is the directory of the collector that recorded it; how much it recorded
    individually in the end: `level`, `sampling` of how many requests (of ALL_REQUESTS; 0: all),
    `budget` (millionths of CPU time, 0: no limit).
    `points` are those that its recorder brought; `source` is None where it was not imported.
    `schema` is the version of the contract that it follows, 0 when it does not say.
    `events`, `bytes` and `processes` are those that the collector counted, all of them in the store
    when it `published` them. `damage` says what is wrong with run.json and progress.json.
    """

    name: str
    path: Path
    command: tuple[str, ...] = ()
    start: EpochNs = 0
    end: EpochNs = 0
    exit: int | None = None
    state: str = "incomplete"
    host: str = ""
    user: str = ""
    dir: str = ""
    agent: str = ""
    events: Count = 0
    bytes: Bytes = 0
    message: str = ""
    collector: str = ""
    level: str = "record"
    budget: int = 0
    sampling: int = 0
    points: tuple[UserPointFacts, ...] = ()
    source: ImportSource | None = None
    schema: int = 0
    processes: Count = 0
    published: bool = True
    damage: tuple[str, ...] = ()
    title: str = ""
    tags: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it

    @property
    def label(self) -> str:
        """What ran, in one line: `terasort rows=1000000 maps=2`, or the command."""
        return self.title or shlex.join(self.command)

    @property
    def cluster(self) -> Cluster:
        """What the cluster's own lists said, from run.json: there may be many attempts."""
        return read_facts(self.path / "run.json", RecordedFacts)[0].cluster

    @property
    def racks(self) -> dict[str, str]:
        """The rack of each host with a DataNode, as the NameNode listed them."""
        return {node.host: node.rack for node in self.cluster.datanodes or () if node.rack}


def list_runs(store: Path) -> list[Run]:
    """All runs that may be read, newest first; an absent store has none."""
    found = []
    for path in _entries(store):
        run = _read(path)
        if run is not None:
            found.append(run)
    return sorted(found, key=lambda run: (run.start, run.name), reverse=True)


def find_run(store: Path, name: str | None) -> Run:
    """The run of that name, or the latest; raises UserError with near names."""
    if name is None:
        runs = list_runs(store)
        if not runs:
            raise UserError(f"no runs in {store}", "record one: iostrata record -- COMMAND")
        return runs[0]
    check_run_name(name)
    path = store / name
    try:
        present = path.is_dir()
        run = _read(path) if present else None
    except PermissionError as error:
        raise _unreadable(store) from error
    if run is not None:
        return run
    if present:
        raise UserError(f"run {name} cannot be read: {path}", owner_of(path))
    near = difflib.get_close_matches(name, [run.name for run in list_runs(store)], 3, 0.5)
    remedy = f"did you mean {', '.join(near)}?" if near else "iostrata runs lists them"
    raise UserError(f"no run {name} in {store}", remedy)


def find_runs(store: Path, names: str) -> list[Run]:
    """The runs of a list like `a,b` or `before-*`, oldest first; raises UserError where none is."""
    found: dict[str, Run] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        if set(name) & set("*?["):
            runs = [run for run in list_runs(store) if fnmatchcase(run.name, name)]
            if not runs:
                raise UserError(f"no run in {store} is like {name}", "iostrata runs lists them")
        else:
            runs = [find_run(store, name)]
        found |= {run.name: run for run in runs}
    if not found:
        raise UserError(f"{names!r} names no run", "iostrata runs lists them")
    return sorted(found.values(), key=lambda run: (run.start, run.name))


def check_version(run: Run) -> None:
    """Raises UserError for a run of a schema that this version does not know."""
    if run.schema > VERSION:
        raise UserError(
            f"run {run.name} is of schema version {run.schema}, this iostrata reads {VERSION}",
            f"read it with iostrata {run.agent or 'of the version that recorded it'}",
        )


def _entries(store: Path) -> list[Path]:
    try:
        return [path for path in store.iterdir() if RUN_NAME.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise UserError(f"{store} is not a store: it is a file", "set IOSTRATA_STORE") from error
    except PermissionError as error:
        raise _unreadable(store) from error


def _unreadable(store: Path) -> UserError:
    return UserError(f"the store {store} cannot be read: {owner_of(store)}", "set IOSTRATA_STORE")


def owner_of(path: Path) -> str:
    """Whom to ask where somebody may not read."""
    try:
        status = path.stat()
    except OSError as error:
        return error.strerror or "no access"
    return f"it belongs to uid {status.st_uid}, mode {status.st_mode & 0o777:04o}"


def _read(path: Path) -> Run | None:
    """The run at `path`, None when it is none or may not be read."""
    if not any(os.path.lexists(path / name) for name in (*FILES, "events")):
        return None
    facts, damage = read_facts(path / "run.json", RecordedFacts)
    progress, more = read_facts(path / "progress.json", ProgressFacts)
    return Run(
        name=path.name,
        path=path,
        state=_state(facts),
        message=facts.message or progress.message,
        published=progress.state == "done",
        damage=(*damage, *more),
        source=None if facts.source == ImportSource() else facts.source,
        **{name: getattr(facts, name) for name in _OF_RECORDER},
        **{name: getattr(progress, name) for name in _OF_COLLECTOR},
    )


_OF_RECORDER = (
    *("schema", "command", "start", "end", "exit", "host", "user", "dir", "agent", "collector"),
    *("points", "title", "tags"),
)
_OF_COLLECTOR = ("events", "bytes", "processes", "level", "budget", "sampling")


def _state(facts: RecordedFacts) -> str:
    if facts.state != "recording":
        return facts.state
    return "recording" if alive(facts.recorder_pid, facts.recorder_start) else "incomplete"
