"""Whatever lies in a store, a command shows what can be shown and says in a line what is missing.

Each case breaks a run of two hosts in one way. Commands run in this process: what would be a
traceback for a user is an error of the test. Damage of any kind: tests/fuzz/test_runs.py.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iostrata.cli.tests.here import here
from iostrata.errors import UserError
from iostrata.processes import start_ticks
from iostrata.schema.events import COLUMNS, PROCESS_COLUMNS, SYSTEM_COLUMNS, VERSION
from iostrata.store.files import VERSION_KEY
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, START, make_run, process, row_of_call, sample, write
from iostrata.store.tests.others import let_in, nobody

Break = Callable[[Path], object]
PART, PART_2 = "events/host=one/part-000001.parquet", "events/host=two/part-000001-by-one.parquet"
PROCESSES, PROCESSES_2 = "processes/host=one.parquet", "processes/host=two.parquet"
SYSTEM = "system/host=one/part-000001.parquet"
TEXT = b"hello, I am no Parquet file"
COMMANDS = (
    ("summary", "r"),
    ("findings", "r"),
    ("bottlenecks", "r"),
    ("patterns", "r"),
    ("calltree", "r"),
    ("report", "r", "--json"),
    ("compare", "r", "whole"),
    ("query", "SELECT * FROM events", "--run", "r"),
    ("export", "csv", "r", "-o", "-"),
    ("export", "perfetto", "r", "-o", "/dev/null"),
    ("points", "--fired", "r"),
    ("top", "r", "--once", "--interval", "0.2"),
    ("runs",),
)
READING = COMMANDS[:-2]


def row(kind: str, host: str, proc: int, place: int, **more: Any) -> dict[str, Any]:
    """A row with every value that the collector gives it."""
    made = row_of_call("java", "read", "/a") | {"kind": kind, "host": host, "proc": proc}
    made |= {"run": "r", "role": "client", "pid": proc, "tid": 1, "thread": "main", "point": 1}
    made |= {"start": START + place * SECOND // 8, "span": place + 1, "trace": proc, "bytes": 4096}
    if kind == "sum":
        sums = {"count": 4, "errors": 0, "timed": 4, "timed_dur": 4000, "size_class": 13}
        made |= sums | {"min": 500, "max": 2000, "target": None, "span": None, "dur": SECOND // 4}
    return made | more


def rows(host: str, proc: int) -> list[dict[str, Any]]:
    calls = [row("call", host, proc, place) for place in range(4)]
    return [row("sum", host, proc, 0), *calls]


def whole(store: Path, name: str) -> Path:
    """A run of two hosts, each with a collector of its own; 5 rows and 4 calls each."""
    ran = {"calls": 4, "detail": 4, "start": START, "end": START + 2 * SECOND}
    one, two = (process("client", pid, host=host, proc=pid, **ran) for host, pid in HOSTS.items())
    run = make_run(store, name, [], [one], [sample(place, host="one") for place in range(3)])
    for part, (host, proc) in zip((PART, PART_2), HOSTS.items(), strict=True):
        write(run / part, rows(host, proc), COLUMNS)
    write(run / PROCESSES, [one], PROCESS_COLUMNS)
    (run / "processes/host=node.parquet").unlink()
    (run / "events/host=node/part-000001.parquet").unlink()
    write(run / PROCESSES_2, [two], PROCESS_COLUMNS)
    write(run / SYSTEM, [sample(place, host="one") for place in range(3)], SYSTEM_COLUMNS)
    (run / "system/host=node/part-000001.parquet").unlink()
    changed("progress.json", events=10, processes=2)(run)
    return run


HOSTS = {"one": 11, "two": 22}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("made"), "r")


@pytest.fixture
def store(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with the run r, which a test breaks, and an equal one, whole."""
    store = tmp_path / "store"
    for name in ("r", "whole"):
        shutil.copytree(made, store / name)
    monkeypatch.setenv("IOSTRATA_STORE", str(store))
    return store


def iostrata(*arguments: str) -> tuple[int, str, list[str]]:
    """Exit code, standard output, and lines of standard error."""
    done = here(*arguments)
    return done.returncode, done.stdout, done.stderr.splitlines()


def cut(name: str, size: int) -> Break:
    return lambda run: (run / name).write_bytes((run / name).read_bytes()[:size])


def filled(name: str, content: bytes) -> Break:
    return lambda run: (run / name).write_bytes(content)


def removed(name: str) -> Break:
    return lambda run: (run / name).unlink()


def changed(name: str, **values: Any) -> Break:
    def change(run: Path) -> None:
        facts = json.loads((run / name).read_text()) | values
        (run / name).write_text(json.dumps(facts))

    return change


def table(name: str, change: Callable[[pa.Table], pa.Table]) -> Break:
    """The Parquet file with another content."""

    def write_again(run: Path) -> None:
        pq.write_table(change(pq.read_table(run / name)), run / name)

    return write_again


def of_version(version: int) -> Callable[[pa.Table], pa.Table]:
    return lambda rows: rows.replace_schema_metadata({VERSION_KEY: str(version)})


def as_text(column: str) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        place = rows.column_names.index(column)
        return rows.set_column(place, column, rows.column(column).cast(pa.string()))

    return change


def zeroed(name: str) -> Break:
    """Zeros over the data; the footer stays."""

    def write_zeros(run: Path) -> None:
        content = (run / name).read_bytes()
        footer = int.from_bytes(content[-8:-4], "little") + 8
        zeros = bytes(len(content) - 4 - footer)
        (run / name).write_bytes(content[:4] + zeros + content[-footer:])

    return write_zeros


def both(*breaks: Break) -> Break:
    return lambda run: [each(run) for each in breaks]


def recording(run: Path) -> None:
    me = os.getpid()
    live = {"state": "recording", "recorder_pid": me, "recorder_start": start_ticks(me)}
    changed("run.json", **live)(run)
    changed("progress.json", state="recording")(run)
    (run / "events/host=one/.part-000002.parquet.new").write_bytes(b"PAR1 half of a part")
    (run / "live-one.json").write_text('{"at": 1, "part": [], "cells": 3}')


NOT_IOSTRATA = f"parquet-cpp-arrow version {pa.__version__} wrote it, not iostrata: move it away"
AGAIN = "copy it again, or move it away"
LOST_TWO = [
    "5 of 10 events are in no readable file",
    "host two: 1 process made 4 calls, 0 of them are in a readable file",
]
NEWER = f"is of schema version {VERSION + 1}, this iostrata reads version {VERSION}"
# What is broken, and what is said to be missing; what is left is shown.
SHOWN: dict[str, tuple[Break, list[str]]] = {
    "a part cut short": (
        cut(PART_2, 500),
        [f"{PART_2} is cut short: 500 bytes without the end of a Parquet file; {AGAIN}", *LOST_TWO],
    ),
    "an empty part": (filled(PART_2, b""), [f"{PART_2} is empty: 0 bytes; {AGAIN}", *LOST_TWO]),
    "a text as part": (
        filled(PART_2, TEXT),
        [f"{PART_2} is no Parquet file: it begins with b'hell'; move it away", *LOST_TWO],
    ),
    "another table as part": (
        table(PART_2, lambda _: pa.table({"a": [1]})),
        [f"{PART_2} lacks the column run; {NOT_IOSTRATA}", *LOST_TWO],
    ),
    "a part with another type": (
        table(PART_2, as_text("start")),
        [f"{PART_2} has VARCHAR in the column start, not BIGINT; {NOT_IOSTRATA}", *LOST_TWO],
    ),
    "an older part": (
        table(PART_2, lambda rows: rows.drop_columns(["anchor"])),
        [f"{PART_2} lacks the column anchor; {NOT_IOSTRATA}", *LOST_TWO],
    ),
    "a newer part": (
        table(PART_2, of_version(VERSION + 1)),
        [f"{PART_2} {NEWER}; {NOT_IOSTRATA}", *LOST_TWO],
    ),
    "a part of this version": (table(PART_2, of_version(VERSION)), []),
    "a folder as part": (
        lambda run: (run / "events/host=one/x.parquet").mkdir(),
        ["events/host=one/x.parquet is a folder, not a Parquet file; move it away"],
    ),
    "the parts of a host deleted": (lambda run: shutil.rmtree((run / PART_2).parent), LOST_TWO),
    "all parts deleted": (
        lambda run: shutil.rmtree(run / "events"),
        [
            "10 of 10 events are in no readable file",
            "host one: 1 process made 4 calls, 0 of them are in a readable file",
            "host two: 1 process made 4 calls, 0 of them are in a readable file",
        ],
    ),
    "the processes of a host deleted": (
        removed(PROCESSES_2),
        [
            "1 of 2 processes are in no readable file: how much of them was traced is not known",
            "host two: its processes are in no readable file",
        ],
    ),
    "processes cut short": (
        cut(PROCESSES, 200),
        [
            f"{PROCESSES} is cut short: 200 bytes without the end of a Parquet file; {AGAIN}",
            "1 of 2 processes are in no readable file: how much of them was traced is not known",
            "host one: its processes are in no readable file",
        ],
    ),
    "a newer history of a host": (
        table(SYSTEM, of_version(VERSION + 1)),
        [f"{SYSTEM} {NEWER}; {NOT_IOSTRATA}"],
    ),
    "run.json cut": (cut("run.json", 40), ["run.json is damaged: 40 bytes are no JSON"]),
    "run.json gone": (removed("run.json"), ["run.json is not there"]),
    "run.json of something else": (
        filled("run.json", b"[1, 2]"),
        ["run.json is not of a run: [1, 2] is no object"],
    ),
    "run.json with other types": (
        changed("run.json", command=5, start="now", end=10**30, exit="x", state="lost", cluster=[]),
        [
            "run.json: command is 5, not a list of words",
            'run.json: start is "now", not a number that is not negative',
            f"run.json: end is {10**30}, not a number that is not negative",
            'run.json: exit is "x", not an exit code',
            'run.json: state is "lost", not one of recording, ok, failed, interrupted, incomplete',
            "run.json: cluster is [], not what a cluster lists",
        ],
    ),
    "run.json with another cluster": (
        changed("run.json", cluster={"datanodes": [{"name": 1}], "attempts": {}, "unasked": []}),
        [
            'run.json: cluster is {"datanodes": [{"name": 1}], "attempts":…, '
            "not what a cluster lists"
        ],
    ),
    "run.json with settings that none has": (
        changed(
            "run.json", cluster={"configuration": {"job_1_0001": {"dfs.replication": "3\x1b"}}}
        ),
        [
            'run.json: cluster is {"configuration": {"job_1_0001": {"dfs.r…, '
            "not what a cluster lists"
        ],
    ),
    "progress.json with other types": (
        changed("progress.json", events=-1, level="all", sampling=1.5),
        [
            "progress.json: events is -1, not a number that is not negative",
            'progress.json: level is "all", not one of record, thread, phase, task, job',
            "progress.json: sampling is 1.5, not a number up to 1000000000",
        ],
    ),
    "neither run.json nor progress.json": (
        both(removed("run.json"), filled("progress.json", b"")),
        ["run.json is not there", "progress.json is damaged: 0 bytes are no JSON"],
    ),
    "still being recorded": (
        recording,
        ["still being recorded: only what was published so far is in the numbers"],
    ),
    "a recorder that was killed": (
        both(recording, changed("run.json", recorder_start=1)),
        ["its recording was cut off: what was not published by then is in no number"],
    ),
    "a collector that was killed": (
        both(recording, changed("run.json", state="interrupted")),
        ["its collector ended before it had published all: the rest is in no number"],
    ),
    "a cluster that lists more hosts": (
        changed("run.json", cluster={"datanodes": [{"name": "b:1", "host": "b"}]}),
        [],
    ),
}
# What is broken so that nothing is left, and the line that says so; RUN is the run's folder.
REFUSED: dict[str, tuple[Break, str]] = {
    "all parts cut": (
        both(cut(PART, 500), cut(PART_2, 500)),
        f"RUN/{PART} is cut short: 500 bytes without the end of a Parquet file "
        f"(and 1 more file) · {AGAIN}",
    ),
    "a newer run": (
        changed("run.json", schema=VERSION + 1, agent="9.9.9"),
        f"run r is of schema version {VERSION + 1}, this iostrata reads {VERSION} "
        "· read it with iostrata 9.9.9",
    ),
    "damaged inside": (
        both(zeroed(PART), zeroed(PART_2)),
        f"RUN/{PART} is damaged: ",
    ),
    "no run": (lambda run: shutil.rmtree(run), "no run r in "),
}


@pytest.mark.drawn("what can be shown", 8)
@pytest.mark.parametrize("case", SHOWN)
def test_what_can_be_shown_is_shown_and_marked(store: Path, case: str) -> None:
    damage, lines = SHOWN[case]
    damage(store / "r")
    # WHEN
    code, said, err = iostrata("summary", "r", "--json")
    text_code, text, _ = iostrata("summary", "r", "--full")
    # THEN
    assert (code, json.loads(said)["incomplete"], err) == (0, lines, [])
    marked = [line for line in text.splitlines() if line.startswith("incomplete: ")]
    assert (text_code, marked) == (0, [f"incomplete: {line}" for line in lines])


@pytest.mark.drawn("where nothing is left", 12)
@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_where_nothing_is_left_one_line_says_why(
    store: Path, case: str, command: tuple[str, ...]
) -> None:
    damage, line = REFUSED[case]
    damage(store / "r")
    code, _, err = iostrata(*command)
    assert (code, len(err)) == (2, 1), err
    assert err[0].startswith(f"iostrata: {line.replace('RUN', str(store / 'r'))}")


@pytest.mark.parametrize("command", READING[1:], ids=" ".join)
def test_every_command_says_that_a_run_is_incomplete(store: Path, command: tuple[str, ...]) -> None:
    damage, lines = SHOWN["a part cut short"]
    damage(store / "r")
    code, said, err = iostrata(*command)
    assert (code, bool(said)) == (0, True)
    assert [line for line in err if "incomplete" in line] == [
        f"iostrata: run r is incomplete: {line}" for line in lines
    ]


@pytest.mark.parametrize("command", ["findings", "bottlenecks", "patterns", "report"])
def test_json_says_that_a_run_is_incomplete(store: Path, command: str) -> None:
    damage, lines = SHOWN["a part cut short"]
    damage(store / "r")
    found = json.loads(iostrata(command, "r", "--json")[1])
    assert found.get("completeness", found)["incomplete"] == lines


def test_a_live_view_says_what_it_could_not_read(store: Path) -> None:
    SHOWN["a part cut short"][0](store / "r")
    code, said, _ = iostrata("top", "r", "--once")
    assert (code, f"incomplete: {SHOWN['a part cut short'][1][0]}" in said) == (0, True)


def test_a_list_of_runs_names_those_that_are_damaged(store: Path) -> None:
    cut("run.json", 40)(store / "r")
    code, said, err = iostrata("runs")
    assert (code, err) == (
        0,
        ["iostrata: run r is incomplete: run.json is damaged: 40 bytes are no JSON"],
    )
    assert [line.split()[0] for line in said.splitlines()[1:]] == ["whole", "r"]


def test_a_run_that_goes_away_while_it_is_read(store: Path) -> None:
    run = find_run(store, "r")
    gone = f"^run r is gone: there is no {store / 'r'}$"
    opened = OpenedRun(run)
    shutil.rmtree(store / "r")
    with pytest.raises(UserError, match=gone), opened:
        opened.rows("SELECT * FROM events")
    with pytest.raises(UserError, match=gone):
        OpenedRun(run)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_what_may_not_be_read_is_named(store: Path) -> None:
    # GIVEN a run that others may read but for a part, a folder of parts, and its facts
    let_in(store)
    for name in (PART, "system/host=one", "run.json"):
        (store / "r" / name).chmod(0)
    with nobody():
        code, said, err = iostrata("summary", "r", "--json")
    assert (code, err) == (0, [])
    assert json.loads(said)["incomplete"][:3] == [
        "run.json cannot be read: Permission denied",
        f"{PART} cannot be read: Permission denied; it belongs to uid 0, mode 0000",
        "system/host=one cannot be read: Permission denied; it belongs to uid 0, mode 0000",
    ]
