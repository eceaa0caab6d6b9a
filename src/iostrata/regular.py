"""Files of a run as others may have made them: only regular ones are read, and only so much."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 16 << 20


def open_regular(path: Path) -> BinaryIO:
    """Opens a file to read; raises OSError, at once, for what is none: a FIFO would be waited for,
    and a device may have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is no regular file")


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """All of a file; raises OSError for one that is not regular or has more than `most` bytes."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB")
    return data
