"""What the kernel says of a process."""

from __future__ import annotations

import subprocess
import time

from iostrata.patience import Patience
from iostrata.processes import start_ticks, waits_in


def test_where_a_process_waits_is_known_while_it_lives() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        patience = Patience(10)
        while "sleep" not in waits_in(child.pid) and patience.lasts():
            time.sleep(0.01)  # it has not come to its sleep yet
        assert "sleep" in waits_in(child.pid)
    finally:
        child.kill()
        child.wait()
    assert (waits_in(child.pid), start_ticks(child.pid)) == ("", None)
