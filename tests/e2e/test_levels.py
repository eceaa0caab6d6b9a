"""What each level records: Table I of the IOSIG+ paper, measured; sums are complete at each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.serving import wait_until
from tests.e2e.truth import Run

from iostrata.schema.events import LEVEL
from iostrata.schema.names import keeps

Iostrata = Callable[..., subprocess.CompletedProcess[str]]
CALLS = 300
NAMES = {
    "a.properties": "properties",
    "a.xml": "xml",
    "A.class": "classes",
    "a.jar": "jars",
    "a.log": "log",
    "blk_1073741825": "blk",
    "blk_1073741825_1001.meta": "blk_meta",
    "spill0.out": "spill",
    "data": "file",
}


def last_words(recording: subprocess.Popen[str]) -> str:
    """Kills it and its program; what both had said, with what the threads of the program did."""
    ended = recording.poll()
    children = Path(f"/proc/{recording.pid}/task/{recording.pid}/children")
    programs = [int(pid) for pid in children.read_text().split()] if ended is None else []
    for pid in programs:
        os.kill(pid, signal.SIGQUIT)  # a JVM answers with its threads
    time.sleep(1)
    for pid in (*programs, *([recording.pid] if ended is None else [])):
        os.kill(pid, signal.SIGKILL)
    output, error = recording.communicate(timeout=60)
    return f"the recording had ended with {ended}\n{error}\n{output}"


@contextmanager
def recording_of(command: list[str], store: Path) -> Iterator[subprocess.Popen[str]]:
    """A recording that goes on; killed when the test fails, for its program ends when told to.

    What it had said, with what the threads of its program did, is part of the failure.
    """
    with subprocess.Popen(
        command,
        env={**os.environ, "IOSTRATA_STORE": str(store)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as recording:
        try:
            yield recording
        except BaseException as failure:
            failure.add_note(last_words(recording))
            raise


@pytest.mark.drawn("detail of levels", 2)
@pytest.mark.parametrize("level", LEVEL)
def test_detail_is_that_of_the_level_and_sums_are_all(
    level: str, tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    java = ["java", "-cp", str(program), "Levels", str(tmp_path), str(CALLS), *NAMES]
    done = iostrata("record", "--run", "r", "--level", level, "--", *java)
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "store", "r")
    kept = dict(
        run.rows(
            "SELECT category, count(*)::BIGINT FROM events "
            "WHERE kind = 'call' AND op IN ('read', 'write') AND "
            f"target LIKE '{tmp_path}/%' AND target NOT LIKE '%/store/%' GROUP BY category"
        )
    )
    assert kept == {of: 2 * CALLS for of in NAMES.values() if keeps(level, of)}
    # The JVM itself reads class files, jars and properties, too.
    summed = dict(
        run.rows(
            "SELECT category, sum(count)::BIGINT FROM events "
            "WHERE kind = 'sum' AND layer = 'java' AND size_class = 1 AND op IN ('read', 'write') "
            "GROUP BY category"
        )
    )
    assert {of: summed[of] for of in NAMES.values()} == dict.fromkeys(NAMES.values(), 2 * CALLS)
    timed = run.rows(
        "SELECT sum(count)::BIGINT, sum(timed)::BIGINT FROM events "
        "WHERE kind = 'sum' AND layer = 'java' AND size_class = 1 AND category = 'xml'"
    )
    # what is only summed has sampled clocks: fewer of them, unless each call took long
    assert timed[0][0] >= timed[0][1] > 0
    said = iostrata("summary", "r", "--full").stdout
    assert f"level {level}" in said or level in ("record", "thread")


def test_a_level_is_changed_while_a_program_runs(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    java = ["java", "-cp", str(program), "Levels", str(tmp_path), "0", "data"]
    command = [sys.executable, "-m", "iostrata", "record", "--run", "r", "--", *java]
    with recording_of(command, tmp_path / "store") as recording:
        wait_until(lambda: (tmp_path / "data").exists() and (tmp_path / "data").stat().st_size > 50)
        said = iostrata("level", "r", "job")
        assert said.returncode == 0, said.stderr
        assert "run r: level job" in said.stderr
        changed = time.time_ns()
        before = (tmp_path / "data").stat().st_size
        wait_until(lambda: (tmp_path / "data").stat().st_size > before + 50)
        output, error = recording.communicate("end\n", timeout=180)
    assert recording.returncode == 0, error
    written = int(output)
    run = Run(tmp_path / "store", "r")
    mine = f"kind = 'call' AND layer = 'java' AND op = 'write' AND target = '{tmp_path}/data'"
    (kept, last), *_ = run.rows(f"SELECT count(*), max(start)::BIGINT FROM events WHERE {mine}")
    assert 50 <= kept <= before
    assert last <= changed
    counted = run.rows(
        "SELECT sum(count)::BIGINT FROM events "
        "WHERE kind = 'sum' AND layer = 'java' AND op = 'write' AND category = 'file'"
    )
    assert counted == [(written,)]
    # it has ended now
    assert iostrata("level", "r", "phase").returncode != 0


def test_the_share_of_requests_is_changed_while_a_program_runs(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    java = ["java", "-cp", str(program), "Levels", str(tmp_path), "0", "data"]
    command = [sys.executable, "-m", "iostrata", "record", "--run", "r", "--", *java]
    data = tmp_path / "data"
    with recording_of(command, tmp_path / "store") as recording:
        wait_until(lambda: data.exists() and data.stat().st_size > 50)
        said = iostrata("level", "r", "--sampling", "1/10")
        assert said.returncode == 0, said.stderr
        assert "run r: level thread, budget off, 1/10 of the requests individually" in said.stderr
        begin, before = time.time_ns(), data.stat().st_size
        wait_until(lambda: data.stat().st_size > before + 1000)
        end, after = time.time_ns(), data.stat().st_size
        said = iostrata("level", "r", "record", "--sampling", "100%")
        assert said.stderr.startswith("iostrata: run r: level record, budget off\n")
        changed = data.stat().st_size
        wait_until(lambda: data.stat().st_size > changed + 50)
        output, error = recording.communicate("end\n", timeout=180)
    assert recording.returncode == 0, error
    run = Run(tmp_path / "store", "r")
    mine = f"kind = 'call' AND layer = 'java' AND op = 'write' AND target = '{data}'"
    shares = run.rows(f"SELECT DISTINCT inclusion FROM events WHERE {mine} ORDER BY ALL")
    assert shares == [(0.1,), (None,)]
    within = f"{mine} AND start BETWEEN {begin} AND {end}"
    assert run.rows(f"SELECT DISTINCT inclusion FROM events WHERE {within}") == [(0.1,)]
    kept, many = run.one(f"SELECT count(*) FROM events WHERE {within}"), after - before
    assert abs(kept - many / 10) <= 5 * (many * 0.09) ** 0.5 + 2  # deviations of a binomial
    counted = "SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'java' AND "
    assert run.one(f"{counted} op = 'write' AND category = 'file'") == int(output)


def test_estimates_of_a_sampled_run_are_near_what_a_program_did(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    names = ("one", "two", "three")
    java = ["java", "-cp", str(program), "Levels", str(tmp_path), "1000", *names]
    done = iostrata("record", "--run", "r", "--sampling", "25%", "--", *java)
    assert done.returncode == 0, done.stderr
    found = json.loads(iostrata("summary", "r", "--json").stdout)
    (reads,) = [row for row in found["sizes"] if (row["layer"], row["op"]) == ("java", "read")]
    assert reads["<512"] >= 3000  # sums: exact
    assert (found["sampled"], found["run"]["sampling"]) == (True, 250_000_000)
    targets = {row["target"]: row for row in found["targets"]}
    for name in names:
        row = targets[str(tmp_path / name)]
        for what in ("bytes_read", "bytes_written"):
            # 95 of 100 are within the bound, all but one in a million within 2.5 of them;
            # a bound means that it is an estimate, which may well be right (one in 34 is)
            assert abs(row[what] - 1000) <= 2.5 * row[f"{what}_bound"], (name, what)
            assert 0 < row[f"{what}_bound"] < 400, (name, what)


@pytest.mark.parametrize("share", ["0", "2", "1/0", "many", "-1%"])
def test_bad_shares_are_refused_in_a_line(share: str, tmp_path: Path, iostrata: Iostrata) -> None:
    done = iostrata("record", f"--sampling={share}", "--", "true")
    assert done.returncode == 125
    assert share in done.stderr
    assert "1/100" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "store").exists()


def test_bad_levels_are_refused_in_a_line(tmp_path: Path, iostrata: Iostrata) -> None:
    done = iostrata("record", "--level", "fine", "--", "true")
    assert done.returncode == 125
    assert "no level is called 'fine'" in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert "exists" not in iostrata("level", "nothing", "job").stderr
