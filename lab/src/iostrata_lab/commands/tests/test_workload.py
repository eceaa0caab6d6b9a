"""How a workload ends that is told to: what it started ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from iostrata.progress import silent
from iostrata_lab.workload.catalog import WORKLOADS
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.runner import hand_over


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_a_recorded_workload_runs_ends_before_it(tmp_path: Path, number: int) -> None:
    # GIVEN a recorded workload whose `hadoop` goes on for as long as nobody ends it
    begun = tmp_path / "pid"
    hadoop = tmp_path / "hadoop"
    hadoop.write_text(f"#!/bin/sh\necho $$ > {begun}.new\nmv {begun}.new {begun}\nexec sleep 600\n")
    hadoop.chmod(0o755)
    teragen = WORKLOADS.named("teragen")
    context = Context(
        values(teragen.parameters, []),
        1,
        ClusterClient({}),
        "/tmp/x",
        tmp_path,
        silent,
        "tag",
    )
    asked = tmp_path / "context.json"
    hand_over(context, teragen, asked)
    jobs = (
        tmp_path / "jobs.jar"
    )  # asked for by each workload; that of java/jobs may not be built yet
    jobs.touch()
    # a shell that runs the tests in the background has them ignore SIGINT, and Python with them
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"
        "from iostrata.cli import main; main()"
    )
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(
            [sys.executable, "-c", start, "workload", "inside", str(asked)],
            env={
                **os.environ,
                "PATH": f"{tmp_path}:{os.environ['PATH']}",
                "IOSTRATA_JOBS": str(jobs),
            },
            stdout=said,
            stderr=said,
        )
        until = time.monotonic() + 180
        while not begun.exists():
            if running.poll() is not None:
                said.seek(0)
                pytest.fail(f"ended with {running.poll()}: {said.read().decode()}")
            assert time.monotonic() < until
            time.sleep(0.05)
        pid = int(begun.read_text())
        # WHEN it is told to end
        running.send_signal(number)
        # THEN it does, and nothing of it goes on
        assert running.wait(180) == 130
    assert not Path(f"/proc/{pid}").exists()
