"""What reading a run may take: memory, and disk for what does not fit into it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from iostrata.errors import UserError

MOST_MEMORY = 3 * 10**9  # bytes
LEAST_MEMORY = 50 * 10**6  # with less, scans of two threads may not begin
# A file of a few KB can claim to unpack to any size: what a run may take depends on its size.
SMALL_RUN = 256 * 10**6
PER_BYTE = 16
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def memory(size: int) -> int:
    """Bytes that queries of files of `size` bytes may take, and call trees as much again.

    IOSTRATA_MEMORY, like 500MB or 4GB; else half of what is free, at most MOST_MEMORY, and no more
    than SMALL_RUN and PER_BYTE for each byte of the files. Raises UserError.
    """
    asked = os.environ.get("IOSTRATA_MEMORY")
    if asked is None:
        most = min(MOST_MEMORY, SMALL_RUN + PER_BYTE * size)
        return max(LEAST_MEMORY, min(most, _free_memory() // 2))
    found = re.fullmatch(r"(\d+) ?([KMGT]B)", asked.strip())
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < LEAST_MEMORY:
        least = f"{LEAST_MEMORY // _UNITS['MB']}MB"
        raise UserError(f"IOSTRATA_MEMORY is {asked!r}", f"give a size from {least}, like 2GB")
    return size


def spill_space(folder: Path) -> int:
    """Bytes that queries may put into a folder when they need more than memory: half of what is
    free on its disk."""
    return shutil.disk_usage(folder).free // 2


def _free_memory() -> int:
    """Of the machine, or of the control group where that has less."""
    free = _number(Path("/proc/meminfo"), r"^MemAvailable:\s+(\d+) kB") * 1024
    if not free:  # no Linux: all that there is
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    allowed = _number(_control_group() / "memory.max", r"^(\d+)")
    return min(free, allowed) if allowed else free


def _control_group() -> Path:
    found = re.search(r"^0::/(.*)$", _text(Path("/proc/self/cgroup")), re.M)
    return Path("/sys/fs/cgroup") / (found[1] if found else "")


def _number(path: Path, pattern: str) -> int:
    found = re.search(pattern, _text(path), re.M)
    return int(found[1]) if found else 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
