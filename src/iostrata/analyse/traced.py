"""What share of the bytes that a process moved was traced, by the kernel's own account.

The kernel counts what a process reads and writes by system calls (rchar and wchar of
/proc/PID/io) and what it moves from and to devices, which mapped files do, too (read_bytes and
write_bytes). Each agent reads that while its process is recorded; the collector adds up what calls
of layer java moved meanwhile. What is missing went past the methods of Java.

recv() and send() are in no such count of the kernel. Netty's native transport uses them: those of
its copies that are traced are left out of what the calls moved, and of a process that has loaded
another one more may be missing than this says.
"""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.processes import Process
from iostrata.records import Bytes, Count, Record, Share

LEAST_SHARE = 0.05  # missing: below, a trace is whole
LEAST_BYTES = 1 << 20  # missing: likewise
# A JVM reads classes of the JDK by itself, from lib/modules: 0.3 MiB in a small program, 11 MiB in
# a Hadoop client (docs/guide/incomplete.md).
READ_BY_JVM = 12 << 20


class TracedShare(Record, frozen=True):
    """A process of which the kernel has counted bytes: `moved` in all, `missing` of it in no call.

    `missing` is `missing_read`, `missing_written`, and `mapped`, which only devices saw: bytes of
    mapped files. `native` has the names of [native_code] in schema/events.toml that were seen in
    the process, and `lost` calls, segments and names were lost by it or rejected.
    """

    host: str | None
    role: str | None
    pid: int | None
    task: str | None
    io_read: Bytes
    io_written: Bytes
    disk_read: Bytes
    disk_written: Bytes
    traced_read: Bytes
    traced_written: Bytes
    moved: Bytes
    missing: Bytes
    missing_read: Bytes
    missing_written: Bytes
    mapped: Bytes
    share: Share
    native: list[str]
    lost: Count

    @property
    def is_short(self) -> bool:
        """So much is missing that people must know."""
        if self.lost:
            return False  # that is why, and other lines say it
        by_jvm = min(self.missing_read, READ_BY_JVM)
        return self.missing - by_jvm > max(LEAST_BYTES, LEAST_SHARE * self.moved)


def traced_shares(processes: Sequence[Process]) -> list[TracedShare]:
    """Of all processes that know it, those first of which most is missing."""
    found = [share for process in processes if (share := _share(process, processes))]
    return sorted(found, key=lambda row: (-row.missing, row.host or "", row.pid or 0))


def _share(process: Process, others: Sequence[Process]) -> TracedShare | None:
    counts = (
        *(process.io_read, process.io_written, process.disk_read, process.disk_written),
        *(process.traced_read, process.traced_written),
    )
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    io_read, io_written, disk_read, disk_written, traced_read, traced_written = known
    native = [name for name in (process.native or "").split(",") if name]
    # The kernel adds to a process what its children did: those that were traced miss nothing here.
    children = [each for each in others if "children" in native and _may_be_child(each, process)]
    missing_read = max(io_read - traced_read - sum(each.io_read or 0 for each in children), 0)
    missing_written = io_written - traced_written - sum(each.io_written or 0 for each in children)
    missing_written = max(missing_written, 0)
    # Devices move more than calls ask for (readahead, whole pages): only where files were mapped,
    # and no more than was, is that I/O of the program.
    beyond = max(disk_read - io_read, 0) + max(disk_written - io_written, 0)
    mapped = min(beyond, process.mapped or 0)
    missing = missing_read + missing_written + mapped
    moved = io_read + io_written + mapped
    return TracedShare(
        host=process.host,
        role=process.role,
        pid=process.pid,
        task=process.task,
        io_read=io_read,
        io_written=io_written,
        disk_read=disk_read,
        disk_written=disk_written,
        traced_read=traced_read,
        traced_written=traced_written,
        moved=moved,
        missing=missing,
        missing_read=missing_read,
        missing_written=missing_written,
        mapped=mapped,
        share=1 - missing / moved if moved else 1.0,
        native=native,
        lost=(process.lost or 0) + (process.rejected or 0),
    )


def _may_be_child(process: Process, parent: Process) -> bool:
    """It lived while the other one did, on the same host: no more is known of who started whom."""
    if process.host != parent.host or None in (process.start, process.end, parent.start):
        return False
    began = (process.start or 0) > (parent.start or 0)
    return began and (parent.end is None or (process.end or 0) <= parent.end)
