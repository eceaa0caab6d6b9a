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
    "read": Move(False, 2),
    "pread64": Move(False, 2, 3),
    "pread": Move(False, 2, 3),
    "readv": Move(False),
    "preadv": Move(False, None, 3),
    "preadv2": Move(False, None, 3),
    "recv": Move(False, 2),
    "recvfrom": Move(False, 2),
    "recvmsg": Move(False),
    "recvmmsg": Move(False, messages=True),
    "write": Move(True, 2),
    "pwrite64": Move(True, 2, 3),
    "pwrite": Move(True, 2, 3),
    "writev": Move(True),
    "pwritev": Move(True, None, 3),
    "pwritev2": Move(True, None, 3),
    "send": Move(True, 2),
    "sendto": Move(True, 2),
    "sendmsg": Move(True),
    "sendmmsg": Move(True, messages=True),
}
TRANSFERS = {
    "sendfile": FileCopy(1, 2, 0, None, 3),
    "sendfile64": FileCopy(1, 2, 0, None, 3),
    "copy_file_range": FileCopy(0, 1, 2, 3, 4),
    "splice": FileCopy(0, 1, 2, 3, 4),
}
OPENS = {
    "open": PathArgument("open"),
    "creat": PathArgument("open"),
    "openat": PathArgument("open", 1, 0),
    "openat2": PathArgument("open", 1, 0),
}
NAMED = {
    "stat": PathArgument("stat"),
    "lstat": PathArgument("stat"),
    "stat64": PathArgument("stat"),
    "lstat64": PathArgument("stat"),
    "newfstatat": PathArgument("stat", 1, 0),
    "fstatat64": PathArgument("stat", 1, 0),
    "statx": PathArgument("stat", 1, 0),
    "statfs": PathArgument("stat"),
    "access": PathArgument("stat"),
    "faccessat": PathArgument("stat", 1, 0),
    "faccessat2": PathArgument("stat", 1, 0),
    "readlink": PathArgument("stat"),
    "readlinkat": PathArgument("stat", 1, 0),
    "mkdir": PathArgument("mkdirs"),
    "mkdirat": PathArgument("mkdirs", 1, 0),
    "unlink": PathArgument("delete"),
    "unlinkat": PathArgument("delete", 1, 0),
    "rmdir": PathArgument("delete"),
    "truncate": PathArgument("truncate"),
    "link": PathArgument("link"),
    "linkat": PathArgument("link", 1, 0),
    "symlink": PathArgument("link", 1),
    "symlinkat": PathArgument("link", 2, 1),
    "chmod": PathArgument("set_attributes"),
    "fchmodat": PathArgument("set_attributes", 1, 0),
    "chown": PathArgument("set_attributes"),
    "fchownat": PathArgument("set_attributes", 1, 0),
    "utimensat": PathArgument("set_attributes", 1, 0),
}
# Path before and after; with a directory each.
RENAMES = {"rename": (0, 1), "renameat": (1, 3), "renameat2": (1, 3)}
ON_DESCRIPTOR = {
    "close": "close",
    "lseek": "seek",
    "_llseek": "seek",
    "fstat": "stat",
    "fstat64": "stat",
    "fstatfs": "stat",
    "fsync": "sync",
    "fdatasync": "sync",
    "sync_file_range": "sync",
    "syncfs": "sync",
    "ftruncate": "truncate",
    "fallocate": "allocate",
    "flock": "lock",
    "getdents": "list",
    "getdents64": "list",
    "connect": "connect",
    "accept": "accept",
    "accept4": "accept",
    "fchmod": "set_attributes",
    "fchown": "set_attributes",
}
# Not I/O, but they change which file a descriptor is, or whose it is.
DUPLICATES = ("dup", "dup2", "dup3", "fcntl", "fcntl64")
PAIRS = {"pipe": 0, "pipe2": 0, "socketpair": 3}
FORKS = ("clone", "clone2", "clone3", "fork", "vfork")
# I/O that other system calls set going and nobody sees: it is not in the trace.
BLIND = ("io_uring_enter", "io_submit", "process_vm_readv", "process_vm_writev", "vmsplice")
