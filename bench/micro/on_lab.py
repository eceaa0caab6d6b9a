#!/usr/bin/env python3
"""micro.py for DFSInputStream.read, on a file of a lab's HDFS that is gone afterwards.

bench/micro/on_lab.py bench/runs/2026-11-21-micro
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from iostrata_lab import clusters

SIZE = 64 << 20


def main() -> None:
    lab = clusters.up("bench-micro", yarn=False)
    try:
        with tempfile.NamedTemporaryFile() as local:
            local.truncate(SIZE)
            lab.run(["hadoop", "fs", "-put", local.name, "/data"], check=True, capture_output=True)
        uri = f"hdfs://127.0.0.1:{lab.state.ports['namenode']}/data"
        classpath = lab.environment()["CLASSPATH"]
        micro = Path(__file__).with_name("micro.py")
        command = [sys.executable, str(micro), sys.argv[1], "--hdfs", uri, "--hadoop", classpath]
        subprocess.run(command, check=True)
    finally:
        lab.down()


if __name__ == "__main__":
    main()
