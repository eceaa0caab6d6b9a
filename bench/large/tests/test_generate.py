"""A made trace says what its generator counted, and hangs together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.large.generate import generate

from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

EVENTS = 100_000
Known = dict[str, Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="module")
def known(store: Path) -> Known:
    return generate(store, "r", EVENTS)


def summary(store: Path, memory: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "iostrata", "summary", "r", "--json", "--store", str(store)]
    limited = {**os.environ, "IOSTRATA_MEMORY": memory}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=limited)
    said: dict[str, Any] = json.loads(found.stdout)
    return said


@pytest.mark.parametrize("memory", ["50MB", "2GB"])
def test_the_summary_says_what_is_known(store: Path, known: Known, memory: str) -> None:
    said = summary(store, memory)
    layers = {row["layer"]: row for row in said["layers"]}
    assert {row["layer"] for row in known["layers"]} == set(layers)
    for row in known["layers"]:
        assert {name: layers[row["layer"]][name] for name in row} == row
    ops = {(row["layer"], row["op"], row["nested"]): row for row in said["ops"]}
    assert len(ops) == len(known["ops"])
    for row in known["ops"]:
        of = ops[row["layer"], row["op"], row["nested"]]
        assert {name: of[name] for name in row} == row
    assert (said["processes"]["traced"], said["dropped"]) == (said["processes"]["total"], 0)


def test_sums_hold_all_calls_and_every_parent_is_there(store: Path, known: Known) -> None:
    with OpenedRun(find_run(store, "r")) as opened:
        (found,) = opened.rows(
            "SELECT count(*) FILTER (kind = 'call') AS calls, count(*) AS rows, "
            "sum(count) FILTER (kind = 'sum' AND layer <> 'record')::BIGINT AS sums, "
            "count(DISTINCT (proc, span)) FILTER (kind = 'call') AS spans, "
            "count(DISTINCT host) AS hosts FROM events"
        )
        lost = opened.rows(
            "SELECT count(*) AS n FROM calls c ANTI JOIN calls p ON p.span = c.parent "
            "AND p.proc = coalesce(c.parent_proc, c.proc) AND p.start <= c.start "
            "AND p.start + p.dur >= c.start + c.dur WHERE c.parent IS NOT NULL"
        )
        roots = opened.rows("SELECT DISTINCT layer, op FROM calls WHERE parent IS NULL")
        far = opened.rows("SELECT DISTINCT role FROM calls WHERE parent_proc IS NOT NULL")
    assert found == {
        "calls": EVENTS,
        "rows": known["rows"],
        "sums": EVENTS,
        "spans": EVENTS,
        "hosts": 4,
    }
    assert lost == [{"n": 0}]  # each lies within the call that caused it
    assert roots == [{"layer": "task", "op": "run"}]
    assert {row["role"] for row in far} == {"DataNode", "NameNode", "NodeManager"}


def test_a_seed_makes_the_same_trace_again(store: Path, known: Known, tmp_path: Path) -> None:
    assert generate(tmp_path, "r", EVENTS) == known
    assert generate(tmp_path, "other", EVENTS, seed=2) != known


def test_a_run_that_is_there_stays(store: Path, known: Known) -> None:
    with pytest.raises(FileExistsError, match="name another run"):
        generate(store, "r", EVENTS)
