"""The dimensions of a profile (Table I of S5), and their values as numbers for a model."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from iostrata.text import bytes_of, size

DimensionValue = str | int
Point = Mapping[str, DimensionValue]  # a value of each dimension

SEQUENTIAL = "sequential"
FIO = "fio."  # before the names of fio's own options
_SKEW = re.compile(r"([1-9][0-9]?)-([1-9][0-9]?)")
_LARGEST = 1 << 44  # bytes: 16 TiB


@dataclass(frozen=True)
class Dimension:
    """`read` makes a value of what a file says, or raises ValueError; `says`: what it may say."""

    name: str
    default: tuple[DimensionValue, ...]
    says: str
    read: Callable[[object], DimensionValue]
    text: Callable[[DimensionValue], str] = str


def skew(access: str) -> tuple[int, int]:
    """`90-10`: percent of the accesses, and of the data that they go to."""
    found = _SKEW.fullmatch(access)
    if not found:
        raise ValueError(access)
    return int(found[1]), int(found[2])


def _word(*words: str) -> Callable[[object], DimensionValue]:
    def read(value: object) -> DimensionValue:
        if value not in words:
            raise ValueError(value)
        return str(value)

    return read


def _access(value: object) -> DimensionValue:
    if value != SEQUENTIAL:
        skew(str(value))
    return str(value)


def _bytes(value: object) -> DimensionValue:
    found = bytes_of(value) if isinstance(value, str) else value
    if not isinstance(found, int) or not 512 <= found <= _LARGEST:
        raise ValueError(value)
    return found


def _count(value: object) -> DimensionValue:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1024:
        raise ValueError(value)
    return value


def _size_text(value: DimensionValue) -> str:
    return size(int(value)).replace(".0 ", " ")


OPERATION = Dimension("operation", ("read", "write"), "read or write", _word("read", "write"))
ACCESS = Dimension("access", (SEQUENTIAL, "50-50", "90-10"), "sequential, or 90-10", _access)
SIZE = Dimension("size", (64 << 20, 256 << 20, 1 << 30), "a size like 64MiB", _bytes, _size_text)
REQUEST = Dimension("request", (128 << 10,), "a size like 128KiB", _bytes, _size_text)
CLIENTS = Dimension("clients", (1, 2, 4), "a number from 1 to 1024", _count)
CACHE = Dimension(
    "cache", ("dropped",), "dropped, warm or direct", _word("dropped", "warm", "direct")
)
NODES = Dimension("nodes", (1, 2, 4), "a number from 1 to 1024", _count)
COPIES = Dimension("copies", (1, 2, 3), "a number from 1 to 1024", _count)
CONTAINERS = Dimension("containers", (1, 2, 4), "a number from 1 to 1024", _count)
DIMENSIONS = {
    one.name: one
    for one in (OPERATION, ACCESS, SIZE, REQUEST, CLIENTS, CACHE, NODES, COPIES, CONTAINERS)
}


def at_once(point: Point) -> int:
    """Clients of a point, on all hosts or in all containers."""
    found = int(point[CLIENTS.name])
    for name in (NODES.name, CONTAINERS.name):
        found *= int(point.get(name, 1))
    return found


def shown(name: str, value: DimensionValue) -> str:
    """A value as people write it: `256 MiB`."""
    known = DIMENSIONS.get(name)
    return known.text(value) if known else str(value)


def point_text(point: Point, names: Iterable[str]) -> str:
    """`write, 90-10, 256 MiB`: values of those dimensions."""
    return ", ".join(shown(name, point[name]) for name in names)


@dataclass(frozen=True)
class Feature:
    """A number of a point: of the dimension `name`, or whether its value is the word `word`."""

    label: str
    name: str
    word: str = ""

    def of(self, point: Point) -> float:
        """Sizes are powers of two; `access` is whether, and how much, it is skewed."""
        value = point[self.name]
        if self.name == ACCESS.name:
            return _of_access(str(value), self.word)
        if self.word:
            return float(value == self.word)
        if self.name in (SIZE.name, REQUEST.name):
            return math.log2(int(value))
        return float(value)


def _of_access(value: str, which: str) -> float:
    if value == SEQUENTIAL:
        return {"random": 0.0, "accesses": 50.0, "data": 50.0}[which]
    accesses, data = skew(value)
    return {"random": 1.0, "accesses": float(accesses), "data": float(data)}[which]


def features(values: Mapping[str, Sequence[DimensionValue]]) -> list[Feature]:
    """Of the dimensions that have several values."""
    found = []
    for name, several in values.items():
        if len(set(several)) < 2:
            continue
        if name == ACCESS.name:
            found += [
                Feature(f"access.{part}", name, part) for part in ("random", "accesses", "data")
            ]
        elif any(isinstance(value, str) for value in several):
            words = sorted({str(value) for value in several})
            found += [Feature(f"{name} is {word}", name, word) for word in words[1:]]
        else:
            found.append(Feature(name, name))
    return found
