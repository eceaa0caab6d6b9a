"""run.json and progress.json: read with each value checked. `writing.py` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta

from iostrata.regular import read_regular
from iostrata.schema.events import ALL_REQUESTS, LEVEL
from iostrata.store.configuration import VALUE

State = Literal["recording", "ok", "failed", "interrupted", "incomplete"]
STATES: tuple[str, ...] = get_args(State)
_LONGEST = 40  # characters of a wrong value that are shown
# The description of a type says in words what a value must be.
MOST = (1 << 63) - 1
Number = Annotated[int, Meta(ge=0, le=MOST, description="a number that is not negative")]
Text = Annotated[str, Meta(description="a text")]


class _Facts(msgspec.Struct, frozen=True):
    """Values of a file, of which others than ours are left alone."""


class UserPointFacts(_Facts, frozen=True):
    """A point that the recorder brought; `method` is class#method and descriptor."""

    layer: str
    op: str
    method: str


class ListedDataNode(_Facts, frozen=True):
    """A DataNode as the NameNode lists it."""

    name: str
    host: str
    pid: Number | None = None
    rack: str = ""


class Cluster(_Facts, frozen=True):
    """What the lists of a cluster said when a run had ended.

    `attempts` are those of each job, from its history. None: nobody was asked. `configuration` has
    of each job what store.configuration keeps. `unasked` says who did not answer.
    """

    datanodes: tuple[ListedDataNode, ...] | None = None
    attempts: dict[str, tuple[str, ...]] | None = None
    configuration: dict[str, dict[str, Annotated[str, Meta(pattern=VALUE)]]] = {}
    unasked: tuple[str, ...] = ()


class CountedFile(_Facts, frozen=True):
    """Of a file that other tools counted requests of, what no column of events says.

    `requests` are reads and writes; `unaligned` of them do not begin at a multiple of `alignment`
    bytes, `consecutive` begin where the one before ended. `time` (ns) is that of all calls of all
    ranks, `slowest` that of the rank that needed most, where several ranks share the file, else 0.
    """

    target: str
    requests: Number = 0
    unaligned: Number = 0
    consecutive: Number = 0
    alignment: Number = 0
    time: Number = 0
    slowest: Number = 0


class ImportSource(_Facts, frozen=True):
    """What an imported run was made of, and what of it is not in the run.

    `unit` is what its files consist of: lines, records; `left_out` counts what was understood and
    is not imported, by reason; `incomplete` says why the trace has no end, or the import not all.
    `counted`: files that took longest, of tools that count their requests.
    """

    format: str = ""
    unit: str = ""
    read: int = 0
    not_understood: int = 0
    first_not_understood: str = ""
    left_out: dict[str, int] = {}
    incomplete: str = ""
    notes: tuple[str, ...] = ()
    counted: tuple[CountedFile, ...] = ()


class RecordedFacts(_Facts, frozen=True):
    """run.json, of the recorder."""

    schema: Number = 0
    command: Annotated[tuple[str, ...], Meta(description="a list of words")] = ()
    title: Text = ""
    tags: Annotated[dict[str, str], Meta(description="an object of texts")] = {}
    start: Number = 0
    end: Number = 0
    exit: Annotated[
        Annotated[int, Meta(gt=-(1 << 31), lt=1 << 31)] | None, Meta(description="an exit code")
    ] = None
    state: Annotated[State, Meta(description=f"one of {', '.join(STATES)}")] = "incomplete"
    recorder_pid: Number = 0
    recorder_start: Number = 0
    host: Text = ""
    user: Text = ""
    dir: Text = ""
    agent: Text = ""
    message: Text = ""
    collector: Text = ""
    points: Annotated[tuple[UserPointFacts, ...], Meta(description="a list of points")] = ()
    cluster: Annotated[Cluster, Meta(description="what a cluster lists")] = Cluster()
    source: Annotated[ImportSource | None, Meta(description="an object")] = None


class ProgressFacts(_Facts, frozen=True):
    """progress.json, of the collector."""

    state: Text = "done"
    message: Text = ""
    events: Number = 0
    bytes: Number = 0
    processes: Number = 0
    budget: Number = 0
    level: Annotated[
        Literal[tuple(LEVEL)],  # type: ignore[valid-type]
        Meta(description=f"one of {', '.join(LEVEL)}"),
    ] = "record"
    sampling: Annotated[
        int, Meta(ge=0, le=ALL_REQUESTS, description=f"a number up to {ALL_REQUESTS}")
    ] = 0


FILES = ("run.json", "progress.json")
# What msgspec comes to where bytes are no JSON: no UTF-8 and too deep are errors of Python.
NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_F = TypeVar("_F", RecordedFacts, ProgressFacts)


def read_facts(path: Path, kind: type[_F]) -> tuple[_F, list[str]]:
    """The values of run.json or progress.json that are what they must be; a line for each other.

    A value that is not there, or wrong, is that of an empty file; of two with one name the last
    counts. Values that are none of ours are passed over and take no memory.
    """
    name = path.name
    try:
        text = read_regular(path)
    except FileNotFoundError:
        return kind(), [f"{name} is not there"]
    except OSError as error:
        return kind(), [f"{name} cannot be read: {error.strerror}"]
    try:
        values = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        return kind(), [f"{name} is not of a run: {_shown(text)} is no object"]
    except NO_JSON:
        return kind(), [f"{name} is damaged: {len(text)} bytes are no JSON"]
    right: dict[str, Any] = {}
    faults = []
    for field in msgspec.structs.fields(kind):
        if field.name not in values:
            continue
        try:
            right[field.name] = msgspec.json.decode(values[field.name], type=field.type)
        except NO_JSON:
            what = f"{_shown(values[field.name])}, not {_described(field.type)}"
            faults.append(f"{name}: {field.name} is {what}")
    return kind(**right), faults


def _described(kind: Any) -> str:
    """What a value of a field must be, in words."""
    words: list[str] = [meta.description for meta in kind.__metadata__ if meta.description]
    return words[-1]


def _shown(value: bytes | msgspec.Raw) -> str:
    """The begin of a value as the file says it, in one line."""
    text = bytes(value)[: 8 * _LONGEST].decode("utf-8", "backslashreplace")
    text = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split())
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
