"""Sequential reads at places of a disk or an image of one: nothing is written (S3.3, Fig. 11)."""

from __future__ import annotations

import mmap
import os
import random
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.text import size as text

_REQUEST = 1 << 20  # bytes
_ALIGNED = 1 << 20  # places begin at multiples of it: no sector of any disk is larger


@dataclass(frozen=True)
class OpenedDisk:
    """A disk or an image: `size` in bytes; `direct`: reads pass by the page cache; `has_holes`:
    parts of an image are on no disk.
    """

    file: int
    path: Path
    size: int
    direct: bool
    has_holes: bool

    def rate(self, place: int, size: int) -> float:
        """Bytes/s of `size` bytes from a place on, which are in no memory of this host."""
        if not self.direct:
            os.posix_fadvise(self.file, place, size, os.POSIX_FADV_DONTNEED)
        done, begin = 0, time.perf_counter()
        with mmap.mmap(-1, _REQUEST) as buffer:
            while done < size:
                with memoryview(buffer) as whole, whole[: size - done] as part:
                    found = os.preadv(self.file, [part], place + done)
                if not found:
                    raise UserError(f"{self.path} ends at {place + done} bytes", "is it whole?")
                done += found
        return done / (time.perf_counter() - begin)


@contextmanager
def opened(path: Path) -> Iterator[OpenedDisk]:
    """For reading; raises UserError where it is no disk and no file, or may not be read."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISBLK(mode) and not stat.S_ISREG(mode):
            raise UserError(f"{path} is no disk and no image", "name one as /dev/sdb or disk.img")
        file, direct = _open(path)
    except OSError as error:
        remedy = "sudo iostrata …" if isinstance(error, PermissionError) else "name another one"
        raise UserError(f"{path}: {error.strerror}", remedy) from None
    try:
        size, on_disk = os.lseek(file, 0, os.SEEK_END), os.fstat(file).st_blocks * 512
        yield OpenedDisk(file, path, size, direct, stat.S_ISREG(mode) and on_disk < size)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "is it well?") from None
    finally:
        os.close(file)


def _open(path: Path) -> tuple[int, bool]:
    """The file, and whether it is read past the page cache: not every file system can."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_DIRECT), True
    except PermissionError:
        raise
    except OSError:
        return os.open(path, flags), False


def places_of(size: int, count: int, each: int) -> list[int]:
    """Where to read `each` bytes, evenly from the first byte to the last; raises UserError where
    there is no room.
    """
    last = size - each
    if count < 2 or last < (count - 1) * _ALIGNED:
        raise UserError(
            f"{count} places of {text(each)} do not fit into {text(size)}",
            "say fewer --places or a smaller --read",
        )
    return [last * number // (count - 1) // _ALIGNED * _ALIGNED for number in range(count)]


def rates(
    disk: OpenedDisk,
    places: list[int],
    each: int,
    passes: int,
    step: Callable[[int, int], None],
    seed: int = 1,
) -> list[list[float]]:
    """Of each place, its rate in each pass, in bytes/s.

    A pass goes to all places in an order of its own, so that what disturbs a moment disturbs no
    zone. `step`: passes and places that are done.
    """
    found: list[list[float]] = [[] for _ in places]
    drawn = random.Random(seed)
    for number in range(passes):
        order = list(range(len(places)))
        drawn.shuffle(order)
        for done, at in enumerate(order):
            step(number, done)
            found[at].append(disk.rate(places[at], each))
    return found
