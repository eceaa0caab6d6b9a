"""A process that sleeps does not work: on the critical path, and in what holds a run back."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.e2e.conftest import Iostrata

from iostrata_lab.clusters.hadoop import jars

SECOND = 10**9
BARRIER = 25  # s after the start of NNBench
NNBENCH = ("org.apache.hadoop.hdfs.NNBench", "-operation", "create_write", "-maps", "1",
           "-reduces", "1", "-numberOfFiles", "5", "-blockSize", "1048576",
           "-bytesToWrite", "10")  # fmt: skip


def held_back(iostrata: Iostrata, *command: str) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """What the critical path of a command spent outside of calls, and the findings."""
    done = iostrata("record", "--run", "r", "--", *command)
    assert done.returncode == 0, done.stderr
    functions = json.loads(iostrata("bottlenecks", "r", "--json").stdout)["functions"]
    outside = {
        name: sum(one[name] for one in functions if one["layer"] == "task")
        for name in ("critical", "critical_idle")
    }
    return outside, json.loads(iostrata("findings", "r", "--json").stdout)["findings"]


def test_a_program_that_sleeps_is_idle(program: Path, iostrata: Iostrata) -> None:
    outside, findings = held_back(iostrata, "java", "-cp", str(program), "Idles", "sleep", "5")
    assert 4 * SECOND < outside["critical_idle"] <= outside["critical"]
    # tests beside this one use the CPU
    assert next(each for each in findings if each["rule"] != "cpu-taken")["rule"] == "idle"


def test_a_main_thread_that_waits_for_one_that_computes_is_not(
    program: Path, iostrata: Iostrata
) -> None:
    outside, findings = held_back(iostrata, "java", "-cp", str(program), "Idles", "join", "5")
    assert outside["critical"] > 5 * SECOND
    # what a thread waited for a CPU in its last second is not known, and other tests use the CPU
    assert outside["critical_idle"] < outside["critical"] / 3
    assert "idle" not in [each["rule"] for each in findings if not each["because"]]


def test_nnbench_at_its_barrier(tmp_path: Path, iostrata: Iostrata) -> None:
    """Its maps sleep until a time that it was given, as all do until the last of them is there."""
    start = str(int(time.time()) + BARRIER)
    java = ("java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars.fetch(print)}/*")
    when = ("-startTime", start, "-baseDir", f"file://{tmp_path}/names")
    began = time.monotonic()
    outside, findings = held_back(iostrata, *java, *NNBENCH, *when)
    assert time.monotonic() - began > BARRIER - 1
    # it had the rest of the time to start, and to create its files, while other tests use the CPU
    assert outside["critical_idle"] > BARRIER / 3 * SECOND
    (idle,) = (each for each in findings if each["rule"] == "idle")
    assert idle["severity"] == "warning"
