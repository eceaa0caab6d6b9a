"""What a JVM took to get going: against the kernel's account and the JVM's own counters."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import JDKS_AND_8, java_home

from iostrata_lab.clusters.hadoop import jars

# Runs a command and says what CPU time it took, in ns, by wait4.
MEASURED = """import os, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
open(sys.argv[1], "w").write(str(int((usage.ru_utime + usage.ru_stime) * 1e9)))
sys.exit(os.waitstatus_to_exitcode(status))
"""
# As the counters are called that add up to the loading of classes.
TIMES = ("sysClassLoadTime", "appClassLoadTime.self", "defineAppClassTime.self",
         "parseClassTime.self", "classLinkedTime.self", "classVerifyTime.self")  # fmt: skip


def process_of(iostrata: Iostrata, main: str) -> dict[str, Any]:
    """The row of the only process of this main class."""
    found = json.loads(iostrata("query", "SELECT * FROM processes", "--format", "json").stdout)
    (row,) = (row for row in found if row["main"] == main)
    return dict(row)


def counters(printed: str) -> dict[str, int]:
    """What `jcmd PID PerfCounter.print` says, by name; only numbers."""
    return {name: int(value) for name, value in re.findall(r"^([\w.]+)=(\d+)$", printed, re.M)}


def hadoop_common() -> Path:
    (jar,) = jars.fetch(print).glob("hadoop-common-[0-9].[0-9].[0-9].jar")
    return jar


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS_AND_8)
def test_the_begin_and_the_loading_of_classes(
    version: str, tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    home = java_home(version)
    jar, said, cpu = hadoop_common(), tmp_path / "counters", tmp_path / "cpu"
    measured = (sys.executable, "-c", MEASURED, str(cpu), str(home / "bin/java"))
    path = os.pathsep.join([str(program), f"{jar.parent}/*"])
    what = ("-cp", path, "Loads", str(jar), str(said), str(home / "bin/jcmd"))
    # WHEN
    done = iostrata("record", "--run", "r", "--", *measured, *what)
    assert (done.returncode, done.stdout) == (0, "loaded\n"), done.stderr
    row = process_of(iostrata, "Loads")
    # THEN what it took before and since its program began is what the kernel says, but for the
    # moment from one to the other
    assert row["cpu_start"] > 0
    assert 0.8 < (row["cpu_start"] + row["cpu"]) / int(cpu.read_text()) <= 1.01
    # AND classes were loaded as long as the JVM says, but for those that its start needs
    by_jvm = counters(said.read_text())
    ticks = sum(by_jvm.get(f"sun.cls.{name}", 0) for name in TIMES)
    loading = ticks * 1_000_000_000 // by_jvm["sun.os.hrt.frequency"]
    assert 0.6 * loading < row["class_loading"] <= 1.1 * loading
    # AND the summary says so
    full = iostrata("summary", "r", "--full").stdout
    assert "CPU before it began" in full
    assert "loading classes" in full


def test_a_program_that_was_there_before_has_no_begin(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    """An agent that comes later knows nothing of a start, and none is made up."""
    idles = subprocess.Popen(["java", "-cp", str(program), "Idles", "sleep", "60"])
    try:
        done = iostrata("attach", str(idles.pid), "--run", "r", "--seconds", "2")
        assert done.returncode == 0, done.stderr
    finally:
        idles.kill()
        idles.wait()
    assert process_of(iostrata, "Idles")["cpu_start"] is None
