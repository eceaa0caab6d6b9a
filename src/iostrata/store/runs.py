"""Runs of a store: facts of one, a list of all, and the search for one by name."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from iostrata.errors import UserError
from iostrata.store.location import RUN_NAME, check_run_name
from iostrata.store.processes import alive


@dataclass(frozen=True)
class Run:
    """One run. `start` and `end` are ns since the epoch, 0 when not known.

    `state` is recording, ok, failed (the command did), interrupted or incomplete (the recorder
    or the collector went away before the end).
    `collector` is the directory of the collector that recorded it; how much it kept one by one in
    the end: `level`, `sampling` of how many requests (of ALL_REQUESTS; 0: all), `budget`
    (millionths of CPU time, 0: no limit).
    `points` are those that its recorder brought: layer, op, method (class#method, descriptor).
    `cluster` is what the cluster's own lists said, as record.session.Survey; empty when not asked.
    `source` is what an imported run was made of, as importers.account.Account; empty for others.
    """

    name: str
    path: Path
    command: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    exit: int | None = None
    state: str = "incomplete"
    host: str = ""
    user: str = ""
    dir: str = ""
    agent: str = ""
    events: int = 0
    bytes: int = 0
    message: str = ""
    collector: str = ""
    level: str = "record"
    budget: int = 0
    sampling: int = 0
    cluster: dict[str, Any] = field(default_factory=dict)
    points: tuple[dict[str, str], ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The run as JSON values."""
        fields = asdict(self)
        fields["path"] = str(self.path)
        fields["command"] = list(self.command)
        del fields["cluster"]
        fields["points"] = list(self.points)
        return fields


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
        raise UserError(f"run {name} cannot be read: {path}", _owner_of(path))
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


def write_facts(run_dir: Path, facts: dict[str, Any]) -> None:
    """Writes run.json whole or not at all."""
    draft = run_dir / "run.json.tmp"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(facts, indent=2) + "\n")
    draft.rename(run_dir / "run.json")


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
    return UserError(f"the store {store} cannot be read: {_owner_of(store)}", "set IOSTRATA_STORE")


def _owner_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError as error:
        return error.strerror or "no access"
    return f"it belongs to uid {status.st_uid}, mode {status.st_mode & 0o777:04o}"


def _read(path: Path) -> Run | None:
    """The run at `path`, None when it is none or may not be read."""
    facts = _json(path / "run.json")
    progress = _json(path / "progress.json")
    if facts is None and progress is None:
        return None
    facts, progress = facts or {}, progress or {}
    return Run(
        name=path.name,
        path=path,
        command=tuple(str(word) for word in facts.get("command", ())),
        start=_number(facts, "start"),
        end=_number(facts, "end"),
        exit=_number(facts, "exit") if isinstance(facts.get("exit"), int) else None,
        state=_state(facts),
        host=str(facts.get("host", "")),
        user=str(facts.get("user", "")),
        dir=str(facts.get("dir", "")),
        agent=str(facts.get("agent", "")),
        events=_number(progress, "events"),
        bytes=_number(progress, "bytes"),
        message=str(facts.get("message", "") or progress.get("message", "")),
        collector=str(facts.get("collector", "")),
        level=str(progress.get("level") or "record"),
        budget=_number(progress, "budget"),
        sampling=_number(progress, "sampling"),
        points=_points(facts.get("points")),
        cluster=cluster if isinstance(cluster := facts.get("cluster"), dict) else {},
        source=source if isinstance(source := facts.get("source"), dict) else {},
    )


def _points(value: Any) -> tuple[dict[str, str], ...]:
    names = ("layer", "op", "method")
    points = value if isinstance(value, list) else []
    return tuple(
        {name: str(point[name]) for name in names}
        for point in points
        if isinstance(point, dict) and set(names) <= set(point)
    )


def _state(facts: dict[str, Any]) -> str:
    state = str(facts.get("state", "incomplete"))
    if state != "recording":
        return state
    recorder = (_number(facts, "recorder_pid"), _number(facts, "recorder_start"))
    return "recording" if alive(*recorder) else "incomplete"


def _number(facts: dict[str, Any], field: str) -> int:
    value = facts.get(field)
    return value if isinstance(value, int) else 0


def _json(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
