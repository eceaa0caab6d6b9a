"""What tracing may cost: detail follows it, totals do not."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.truth import Run

Iostrata = Callable[..., subprocess.CompletedProcess[str]]
# Of Busy.java, in ms: its reads are so few that none is too many, whatever their hooks take.
HALF_A_PAUSE = 100
LATE = 25  # reads of its second part, which take five seconds
READ = "kind = '{}' AND layer = 'java' AND op = 'read' AND target = '{}'"


@pytest.fixture
def busy(tmp_path: Path, program: Path) -> list[str]:
    (tmp_path / "data").write_bytes(bytes(64 * 1024))
    return ["java", "-cp", str(program), "Busy", str(tmp_path / "data")]


def kept(run: Run, file: Path, more: str = "") -> int:
    where = READ.format("call", file)
    ((number,),) = run.rows(f"SELECT count(*)::BIGINT FROM events WHERE {where} {more}")
    return int(number)


def summed(run: Run) -> int:
    """Reads of 64 bytes, which nothing else in the program makes; size class 7: 64 to 127."""
    ((number,),) = run.rows(
        "SELECT sum(count)::BIGINT FROM events "
        "WHERE kind = 'sum' AND layer = 'java' AND op = 'read' AND category = 'file' "
        "AND size_class = 7"
    )
    return int(number)


@pytest.mark.drawn("budgets", 2)
@pytest.mark.parametrize("budget", ["1%", "0.01%", "off"])
def test_totals_are_the_same_at_each_budget(
    budget: str, tmp_path: Path, busy: list[str], iostrata: Iostrata
) -> None:
    done = iostrata("record", "--run", "r", "--budget", budget, "--", *busy, "5", "0")
    assert done.returncode == 0, done.stderr
    reads = int(done.stdout.split()[0])
    run = Run(tmp_path / "store", "r")
    assert summed(run) == reads
    said = iostrata("summary", "r", "--json").stdout
    facts = json.loads(said)
    cost = facts["cost"]
    assert cost["cpu"] > 100 * reads  # ns: no machine reads a file in less
    assert 0 < cost["cost"] < cost["cpu"]
    points = {row["point"] for row in cost["summed"]}
    if budget == "off":
        # what found no room in a ring is said to be dropped, call by call
        (process,) = (row for row in facts["processes"]["list"] if row["traced"])
        assert process["calls"] == process["detail"] + process["dropped"]
        assert 0 <= reads - kept(run, tmp_path / "data") <= process["dropped"]
        assert points == set()
        return
    assert kept(run, tmp_path / "data") < reads
    # it makes several hundred thousand of them a second: that costs more than a percent (what
    # its start reads may do so, too, in a window of its own)
    assert "java.io.FileInputStream#read" in points
    text = iostrata("summary", "r", "--full").stdout
    assert re.search("only in sums, to stay within the budget: .*FileInputStream#read", text)
    if budget == "0.01%":
        assert len(cost["over"]) == 1
        assert "budget not met: " in text


def test_when_the_load_falls_all_is_kept_again(
    tmp_path: Path, busy: list[str], iostrata: Iostrata
) -> None:
    done = iostrata("record", "--run", "r", "--budget", "1%", "--", *busy, "3", "20")
    assert done.returncode == 0, done.stderr
    counts, times = done.stdout.splitlines()
    fast, slow = map(int, counts.split())
    made = [int(time) for time in times.split()]
    run = Run(tmp_path / "store", "r")
    assert summed(run) == fast + slow
    # At first the calls of the fast part are paid off, then each read is kept. One is made at least
    # a whole pause after the one before it, so half a pause before it is between the two.
    since = (made[-LATE] - HALF_A_PAUSE) * 10**6
    assert kept(run, tmp_path / "data", f"AND start >= {since}") == LATE


@pytest.mark.parametrize("budget", ["1", "0%", "-1%", "101%", "nan%", "much"])
def test_a_bad_budget_is_refused_in_a_line(budget: str, iostrata: Iostrata) -> None:
    done = iostrata("record", f"--budget={budget}", "--", "true")
    assert done.returncode == 125
    assert f"no budget: '{budget}'" in done.stderr
    assert len(done.stderr.splitlines()) <= 2
