"""Which JVMs without the agent belong to a run: those that its recorder starts for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.jdks import java_home
from tests.e2e.truth import Run

LONG_ENOUGH = 3  # s: all processes are listed once a second


def test_what_a_recorder_has_started_before_is_none_of_its_run(
    tmp_path: Path, classes: Path
) -> None:
    # GIVEN a program that has started a JVM, a server of a lab as it were, and then records a run
    # in which there is another one
    java = f"{java_home('17')}/bin/java -cp {classes} Serves"
    within = f"sleep {LONG_ENOUGH} | env -u JAVA_TOOL_OPTIONS {java}"
    record = f'exec {sys.executable} -m iostrata record --run r -- sh -c "{within}"'
    script = f"exec 3<&0; {java} <&3 & echo $! > {tmp_path}/before; sleep 1; {record}"
    environment = {**os.environ, "IOSTRATA_STORE": str(tmp_path / "store")}
    with subprocess.Popen(
        ["sh", "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as recorder:
        # WHEN
        assert recorder.stdout is not None
        assert recorder.wait(timeout=60) == 0
        # THEN only that of the run is named
        (pid,) = Run(tmp_path / "store", "r").rows("SELECT pid FROM processes WHERE NOT traced")
    assert pid != (int((tmp_path / "before").read_text()),)
