"""Samples of a point on a pool of Ceph: block devices on RADOS, by fio's engine (S5.1, S5.7).

Each client has an image of its own, which librbd cuts into objects: the paper's Archipelago is such
a device. An image is ours by its name.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from iostrata.errors import UserError
from iostrata.predict import child
from iostrata.predict.dimensions import CLIENTS, OPERATION, SIZE, Point
from iostrata.predict.fio import PATIENCE, WHOLE_FILES, Fio, FioResult, access, answer, own, result

_ANSWERS = 60.0  # s, within which Ceph does what is asked
# A client that was killed watches its image for so long: osd_client_watch_timeout, and some more.
_WATCHED = 45.0
_PACKAGE = "apt-get install ceph-common, or your system's package"


@dataclass
class RbdLoad:
    """Images whose names begin with `prefix`; `seconds`: how long a sample takes at most."""

    program: str
    pool: str
    prefix: str
    seconds: float
    _made: dict[str, int] = field(default_factory=dict)  # bytes of images that are read

    def prepare(self, point: Point) -> None:
        """Makes the images, and fills those that are read."""
        size = int(point[SIZE.name])
        images = self._images(point)
        if point[OPERATION.name] == "write":
            for image in images:
                self._make(image, size)
            return
        if any(self._made.get(image, 0) < size for image in images):
            for image in images:
                self._make(image, size)
            self._run(point, list(WHOLE_FILES))
            self._made |= dict.fromkeys(images, size)

    def measure(self, point: Point) -> FioResult:
        """Raises UserError where fio fails."""
        how = [*access(point), f"--runtime={self.seconds:g}"]
        found = result(self._run(point, how), point, f"pool {self.pool}")
        if point[OPERATION.name] == "write":
            for image in self._images(point):
                self.remove(image)
        return found

    def remove(self, image: str) -> None:
        """Raises UserError where it is still watched after some time."""
        end = time.monotonic() + _WATCHED
        while True:
            done = _asked("rbd", "rm", "--no-progress", f"{self.pool}/{image}")
            if not done.returncode:
                return
            if "watchers" not in done.stderr or time.monotonic() > end:
                raise _failed(done)
            time.sleep(1)

    def there(self) -> list[str]:
        """Images of this profile, also those that a killed session has left."""
        found = _ask("rbd", "ls", self.pool, "--format", "json")
        return [name for name in json.loads(found) if name.startswith(f"{self.prefix}.")]

    def _images(self, point: Point) -> list[str]:
        clients = range(int(point[CLIENTS.name]))
        return [f"{self.prefix}.{point[OPERATION.name]}.{client}" for client in clients]

    def _make(self, image: str, size: int) -> None:
        if image in self.there():
            self.remove(image)
        _ask("rbd", "create", "--size", f"{size}B", f"{self.pool}/{image}")

    def _run(self, point: Point, how: list[str]) -> Any:
        shared = ["--name=global", "--ioengine=rbd", f"--pool={self.pool}", "--clientname=admin"]
        shared += [f"--size={point[SIZE.name]}", "--norandommap", *how, *own(point)]
        each = [(f"--name={image}", f"--rbdname={image}") for image in self._images(point)]
        command = [self.program, "--output-format=json", *shared, *chain.from_iterable(each)]
        return answer(child.run(command, self.seconds + PATIENCE, f"fio hangs in pool {self.pool}"))


def space(pool: str) -> int:
    """Bytes that images may have there; raises UserError where there is no such pool."""
    pools = json.loads(_ask("ceph", "df", "--format", "json"))["pools"]
    known = {str(one["name"]): int(one["stats"]["max_avail"]) for one in pools}
    if pool not in known:
        raise UserError(f"Ceph has no pool {pool}", f"say one of {', '.join(sorted(known))}")
    return known[pool]


@contextmanager
def rbd_load(pool: str, prefix: str, seconds: float) -> Iterator[RbdLoad]:
    """With images of its own, which are gone afterwards."""
    load = RbdLoad(Fio.found(), pool, prefix, seconds)
    if "rbd" not in _ask(load.program, "--enghelp").split():
        raise UserError(f"{load.program} has no engine rbd", "install a fio that was built with it")
    for image in load.there():
        load.remove(image)
    try:
        yield load
    finally:
        for image in load.there():
            load.remove(image)


def _ask(*words: str) -> str:
    """What a program says; raises UserError where it fails."""
    done = _asked(*words)
    if done.returncode:
        raise _failed(done)
    return str(done.stdout)


def _asked(*words: str) -> Any:
    if not shutil.which(words[0]):
        raise UserError(f"{words[0]} is not installed", _PACKAGE)
    return child.run(words, _ANSWERS, "Ceph does not answer")


def _failed(done: Any) -> UserError:
    command = " ".join(done.args[:2])
    return UserError(f"{command} failed: {child.said(done)[-1]}", "does `ceph status` answer?")
