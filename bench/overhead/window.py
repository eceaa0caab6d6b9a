#!/usr/bin/env python3
"""Watches a process for some seconds: CPU of its control group, and what it has done meanwhile.

    window.py GROUP COUNTER SECONDS OUT

GROUP is a folder of control groups, COUNTER a file whose first 8 bytes count bytes. Writes JSON
into OUT: cpu_s, bytes, seconds; bytes is -1 when the process ended meanwhile. Standard library
only and no import of ours: it is the command that a run records.
"""

import json
import struct
import sys
import time
from pathlib import Path


def cpu(group: Path) -> float:
    usage = group / "cpuacct.usage"
    if usage.exists():
        return int(usage.read_text()) / 1e9
    fields = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(fields["usage_usec"]) / 1e6


def look(group: Path, counter: Path) -> tuple[float, int, float]:
    # Java writes its own byte order into a ByteBuffer that nobody changed: big endian.
    return cpu(group), struct.unpack(">q", counter.read_bytes()[:8])[0], time.monotonic()


def main() -> None:
    group, counter = Path(sys.argv[1]), Path(sys.argv[2])
    begin = look(group, counter)
    time.sleep(float(sys.argv[3]))
    end = look(group, counter)
    alive = (group / "cgroup.procs").read_text().strip() and begin[1] >= 0 and end[1] >= begin[1]
    found = {
        "cpu_s": end[0] - begin[0],
        "bytes": end[1] - begin[1] if alive else -1,
        "seconds": end[2] - begin[2],
    }
    Path(sys.argv[4]).write_text(json.dumps(found))


main()
