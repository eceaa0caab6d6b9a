"""System calls that are I/O: what each does, and where its arguments say on what.

Numbers are positions of arguments. Names of operations are those of other layers where there is
one for it (`schema.directions` has those that move data).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Move:
    """A call that moves data of descriptor 0; its result is bytes, unless it counts `messages`."""

    writes: bool
    asked: int | None = None
    offset: int | None = None
    messages: bool = False


@dataclass(frozen=True)
class FileCopy:
    """A call that moves data from one descriptor to another within the kernel."""

    source: int
    source_offset: int
    sink: int
    sink_offset: int | None
    asked: int


@dataclass(frozen=True)
class PathArgument:
    """A call on a path; `directory` is that of the descriptor it is relative to."""

    op: str
    path: int = 0
    directory: int | None = None


MOVES = {
    **dict.fromkeys(("read", "recv", "recvfrom"), Move(False, 2)),
    **dict.fromkeys(("pread64", "pread"), Move(False, 2, 3)),
    **dict.fromkeys(("readv", "recvmsg"), Move(False)),
    **dict.fromkeys(("preadv", "preadv2"), Move(False, None, 3)),
    "recvmmsg": Move(False, messages=True),
    **dict.fromkeys(("write", "send", "sendto"), Move(True, 2)),
    **dict.fromkeys(("pwrite64", "pwrite"), Move(True, 2, 3)),
    **dict.fromkeys(("writev", "sendmsg"), Move(True)),
    **dict.fromkeys(("pwritev", "pwritev2"), Move(True, None, 3)),
    "sendmmsg": Move(True, messages=True),
}
TRANSFERS = {
    **dict.fromkeys(("sendfile", "sendfile64"), FileCopy(1, 2, 0, None, 3)),
    **dict.fromkeys(("copy_file_range", "splice"), FileCopy(0, 1, 2, 3, 4)),
}
OPENS = {
    **dict.fromkeys(("open", "creat"), PathArgument("open")),
    **dict.fromkeys(("openat", "openat2"), PathArgument("open", 1, 0)),
}
_STATS = ("stat", "lstat", "stat64", "lstat64", "statfs", "access", "readlink")
_STATS_AT = ("newfstatat", "fstatat64", "statx", "faccessat", "faccessat2", "readlinkat")
NAMED = {
    **dict.fromkeys(_STATS, PathArgument("stat")),
    **dict.fromkeys(_STATS_AT, PathArgument("stat", 1, 0)),
    "mkdir": PathArgument("mkdirs"),
    "mkdirat": PathArgument("mkdirs", 1, 0),
    **dict.fromkeys(("unlink", "rmdir"), PathArgument("delete")),
    "unlinkat": PathArgument("delete", 1, 0),
    "truncate": PathArgument("truncate"),
    "link": PathArgument("link"),
    "linkat": PathArgument("link", 1, 0),
    "symlink": PathArgument("link", 1),
    "symlinkat": PathArgument("link", 2, 1),
    **dict.fromkeys(("chmod", "chown"), PathArgument("set_attributes")),
    **dict.fromkeys(("fchmodat", "fchownat", "utimensat"), PathArgument("set_attributes", 1, 0)),
}
# Path before and after; with a directory each.
RENAMES = {"rename": (0, 1), "renameat": (1, 3), "renameat2": (1, 3)}
ON_DESCRIPTOR = {
    "close": "close",
    **dict.fromkeys(("lseek", "_llseek"), "seek"),
    **dict.fromkeys(("fstat", "fstat64", "fstatfs"), "stat"),
    **dict.fromkeys(("fsync", "fdatasync", "sync_file_range", "syncfs"), "sync"),
    "ftruncate": "truncate",
    "fallocate": "allocate",
    "flock": "lock",
    **dict.fromkeys(("getdents", "getdents64"), "list"),
    "connect": "connect",
    **dict.fromkeys(("accept", "accept4"), "accept"),
    **dict.fromkeys(("fchmod", "fchown"), "set_attributes"),
}
# Not I/O, but they change which file a descriptor is, or whose it is.
DUPLICATES = ("dup", "dup2", "dup3", "fcntl", "fcntl64")
PAIRS = {"pipe": 0, "pipe2": 0, "socketpair": 3}
FORKS = ("clone", "clone2", "clone3", "fork", "vfork")
# I/O that other system calls set going and nobody sees: it is not in the trace.
BLIND = ("io_uring_enter", "io_submit", "process_vm_readv", "process_vm_writev", "vmsplice")
