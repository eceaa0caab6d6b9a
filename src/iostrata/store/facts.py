"""run.json and progress.json: written whole, and read with each value checked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iostrata.schema.events import ALL_REQUESTS, LEVEL

STATES = ("recording", "ok", "failed", "interrupted", "incomplete")
_LONGEST = 40  # characters of a wrong value that are shown
Check = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """A count, or ns since the epoch: 0 or more, in 64 bits."""
    return type(value) is int and 0 <= value < 1 << 63


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_code(value: Any) -> bool:
    return value is None or (type(value) is int and abs(value) < 1 << 31)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_points(value: Any) -> bool:
    names = ("layer", "op", "method")
    return isinstance(value, list) and all(
        isinstance(point, dict) and all(_is_text(point.get(name)) for name in names)
        for point in value
    )


def _is_node(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and _is_text(value.get("host"))
        and _is_text(value.get("rack", ""))
        and (value.get("pid") is None or is_number(value["pid"]))
    )


def _is_cluster(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    nodes, attempts = value.get("datanodes"), value.get("attempts")
    return (
        (nodes is None or (isinstance(nodes, list) and all(map(_is_node, nodes))))
        and (attempts is None or isinstance(attempts, dict))
        and all(map(_is_words, (attempts or {}).values()))
        and _is_words(value.get("unasked", []))
    )


_NUMBER = (is_number, "a number that is not negative")
_TEXT = (_is_text, "a text")
_OBJECT = (lambda value: isinstance(value, dict), "an object")
# Per file the values that are used: what each must be, in code and in words.
_FACTS: dict[str, tuple[Check, str]] = {
    "schema": _NUMBER,
    "command": (_is_words, "a list of words"),
    "start": _NUMBER,
    "end": _NUMBER,
    "exit": (_is_code, "an exit code"),
    "state": (lambda value: value in STATES, f"one of {', '.join(STATES)}"),
    "recorder_pid": _NUMBER,
    "recorder_start": _NUMBER,
    **dict.fromkeys(("host", "user", "dir", "agent", "message", "collector"), _TEXT),
    "points": (_is_points, "a list of points"),
    "cluster": (_is_cluster, "what a cluster lists"),
    "source": _OBJECT,
}
_PROGRESS: dict[str, tuple[Check, str]] = {
    "state": _TEXT,
    "message": _TEXT,
    **dict.fromkeys(("events", "bytes", "processes", "budget"), _NUMBER),
    "level": (lambda value: value in tuple(LEVEL), f"one of {', '.join(LEVEL)}"),
    "sampling": (
        lambda value: is_number(value) and value <= ALL_REQUESTS,
        f"a number up to {ALL_REQUESTS}",
    ),
}
KNOWN = {"run.json": _FACTS, "progress.json": _PROGRESS}


def read_facts(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The values of a file of KNOWN that are what they must be, and a line for all else."""
    name = path.name
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}, [f"{name} is not there"]
    except OSError as error:
        return {}, [f"{name} cannot be read: {error.strerror}"]
    except (ValueError, RecursionError):  # so deep that Python's parser gives up
        return {}, [f"{name} is damaged: {_size(path)} are no JSON"]
    if not isinstance(found, dict):
        return {}, [f"{name} is not of a run: {_shown(found)} is no object"]
    values: dict[str, Any] = {}
    faults = []
    for key, (check, what) in KNOWN[name].items():
        if key in found and check(found[key]):
            values[key] = found[key]
        elif key in found:
            faults.append(f"{name}: {key} is {_shown(found[key])}, not {what}")
    return values, faults


def write_facts(run_dir: Path, facts: dict[str, Any]) -> None:
    """Writes run.json whole or not at all."""
    draft = run_dir / "run.json.tmp"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(facts, indent=2) + "\n")
    draft.rename(run_dir / "run.json")


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _size(path: Path) -> str:
    try:
        return f"{path.stat().st_size} bytes"
    except OSError:
        return "its bytes"
