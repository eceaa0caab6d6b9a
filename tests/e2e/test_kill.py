"""`kill -9`, again and again: no published event and no count is lost, nothing comes twice.

The referee is the file system: a file that a thread appends 16 bytes to per call is as long as
the calls that really happened. One call per thread may be in flight when the process dies.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.drawn import SEED, SOAK
from tests.e2e.serving import describes_itself, wait_until
from tests.e2e.truth import Run

from iostrata.artifacts import native_binary

THREADS = 3
ROUNDS = 20 if SOAK else 2


def written(prefix: Path) -> list[int]:
    """Calls that reached each thread's file."""
    return [Path(f"{prefix}{i}").stat().st_size // 16 for i in range(THREADS)]


def traced(run: Run, prefix: Path) -> tuple[int, list[tuple[int, int]]]:
    """Calls by sums over all threads, and per file individual calls and distinct spans."""
    total = run.one(
        "SELECT coalesce(sum(count), 0)::BIGINT FROM events WHERE kind = 'sum' AND op = 'write' "
        "AND category = 'file'"
    )
    detail = [
        run.rows(
            "SELECT count(*), count(DISTINCT span) FROM events WHERE kind = 'call' AND target = ?",
            f"{prefix}{i}",
        )[0]
        for i in range(THREADS)
    ]
    return int(total), [(int(a), int(b)) for a, b in detail]


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("budget", ["off", "1%"])
@pytest.mark.one_of("round_")
def test_of_the_writing_jvm(budget: str, round_: int, tmp_path: Path, program: Path) -> None:
    # With a budget long enough for calls to be only summed; without one until rings are full.
    longest = 0.6 if budget == "off" else 3
    pause = random.Random(f"{SEED} {round_}").uniform(0.1, longest)
    prefix = tmp_path / "append-"
    script = (
        f"java -cp {program} Appends {prefix} {THREADS} 100000000 & "
        f"while [ ! -s {prefix}2 ]; do sleep 0.02; done; sleep {pause}; kill -9 $!; wait $!"
    )
    record = [sys.executable, "-m", "iostrata", "record", "--run", "r", "--budget", budget]
    done = subprocess.run(
        [*record, "--", "bash", "-c", script],
        env={**os.environ, "IOSTRATA_STORE": str(tmp_path / "store")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    print(done.stderr)
    assert done.returncode == 128 + signal.SIGKILL
    run = Run(tmp_path / "store", "r")
    happened = written(prefix)
    total, detail = traced(run, prefix)
    losses = run.losses()
    print(f"happened {happened}, sums {total}, calls {detail}, {losses}")
    # A call is counted when it has returned: the one in flight may be in the file already.
    assert sum(happened) - THREADS <= total <= sum(happened)
    for calls, spans in detail:
        assert calls == spans
    assert (losses["lost"], losses["refused"], losses["folded"]) == (0, 0, 0)
    if budget == "off":
        kept = sum(calls for calls, _ in detail)
        assert 0 <= total - losses["dropped"] - kept <= THREADS
    assert run.rows("SELECT DISTINCT exit FROM processes WHERE traced") == [("killed",)]


def collect(directory: Path, store: Path) -> subprocess.Popen[bytes]:
    """A collector as a node runs it; ready when it has described itself."""
    (directory / "collector").unlink(missing_ok=True)
    process = subprocess.Popen(
        [str(native_binary()), "collect", "--dir", str(directory), "--store", str(store)]
        + ["--spool", str(store / ".spool")],
        stdin=subprocess.DEVNULL,
    )
    wait_until(lambda: describes_itself(directory) or process.poll() is not None)
    assert process.poll() is None
    return process


def test_of_the_collector(tmp_path: Path, program: Path) -> None:
    """GIVEN a run of half a million calls WHEN its collector is killed again and again and
    started anew THEN the run holds each call once, and its sums are exact."""
    calls = 200_000
    directory = Path(f"/dev/shm/iostrata-kill-{os.getpid()}")
    directory.mkdir(mode=0o700)
    store = tmp_path / "store"
    prefix = tmp_path / "append-"
    chance = random.Random(7)
    collector = collect(directory, store)
    try:
        recorder = subprocess.Popen(
            [sys.executable, "-m", "iostrata", "record", "--dir", str(directory), "--run", "r"]
            + ["--", "java", "-cp", str(program), "Appends", str(prefix), str(THREADS), str(calls)],
            env={**os.environ, "IOSTRATA_STORE": str(store)},
        )
        kills = 0
        while recorder.poll() is None:
            time.sleep(chance.uniform(0.15, 0.4))
            if Path(f"{prefix}0").exists() and kills < ROUNDS + 2:
                collector.kill()
                collector.wait()
                kills += 1
                collector = collect(directory, store)
        assert recorder.wait(timeout=180) == 0
        assert kills >= 2
    finally:
        collector.terminate()
        collector.wait(timeout=180)
        subprocess.run(["rm", "-rf", str(directory)], check=True)
    run = Run(store, "r")
    total, detail = traced(run, prefix)
    losses = run.losses()
    print(f"{kills} kills, sums {total}, calls {detail}, {losses}")
    assert total == calls * THREADS
    assert sum(calls for calls, _ in detail) + losses["dropped"] == calls * THREADS
    for kept, spans in detail:
        assert kept == spans
