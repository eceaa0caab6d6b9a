"""What a process took over time adds up to what its row says, by the kernel's account."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.e2e.test_java import CALLS, SIZE, java
from tests.e2e.truth import Run

Iostrata = Callable[..., subprocess.CompletedProcess[str]]
TOTALS = ("cpu", "io_read", "io_written", "disk_read", "disk_written")


def test_the_curve_of_a_process_adds_up(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    iostrata("record", "--run", "r", "--", *java(program, tmp_path / "data"))
    run = Run(tmp_path / "store", "r")
    for name in TOTALS:
        curve = run.one(f"SELECT sum({name})::BIGINT FROM usage")
        assert curve == run.one(f"SELECT {name} FROM processes"), name
    assert run.one("SELECT sum(io_read)::BIGINT FROM usage") >= CALLS * SIZE
    outside = (
        "SELECT count(*) FROM usage JOIN processes USING (proc) "
        'WHERE time < start OR time + "interval" > "end" OR "interval" <= 0'
    )
    assert run.one(outside) == 0
