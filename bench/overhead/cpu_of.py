#!/usr/bin/env python3
"""Runs a command and writes its CPU seconds, those of its children included, into a file.

cpu_of.py FILE COMMAND...
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    file, *command = sys.argv[1:]
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    Path(file).write_text(f"{usage.ru_utime + usage.ru_stime:.4f}\n", "utf-8")
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
