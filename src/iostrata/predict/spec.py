"""The file that says what a profile measures, checked (S5.1)."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostrata.errors import UserError
from iostrata.predict.dimensions import (
    ACCESS,
    CACHE,
    CLIENTS,
    CONTAINERS,
    COPIES,
    DIMENSIONS,
    FIO,
    NODES,
    OPERATION,
    SEQUENTIAL,
    SIZE,
    DimensionValue,
    Point,
)
from iostrata.predict.hadoop import FILESYSTEM
from iostrata.predict.hosts import SSH, LoadHosts
from iostrata.text import plural

MOST_POINTS = 10_000
ADAPTIVE = "adaptive"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_KEYS = ("name", "folder", "mount", "filesystem", "pool", "hosts", "dimensions", "fio", "measure")
_NODES = (1, 2, 4, 8, 16)  # hosts at once, where none are said
# fio's options that say what our dimensions say, or write elsewhere.
_OURS = ("rw", "readwrite", "bs", "blocksize", "size", "io_size", "numjobs", "direct", "filename")
_ELSEWHERE = ("directory", "output", "exec_prerun", "exec_postrun", "write_bw_log", "write_lat_log")


@dataclass(frozen=True)
class MeasureRules:
    """How often and how long each point is measured.

    A point has enough samples when half of the 95 % interval of their mean is `width` of it.
    """

    least: int = 3
    most: int = 10
    width: float = 0.05
    sample: float = 10.0  # s, of one sample at most
    budget: float = math.inf  # s, of all of it
    others: float = 0.25  # of the CPU: with more by other processes a sample is disturbed
    seed: int = 1
    order: str = "rounds"  # or ADAPTIVE
    before: str = ""  # a command of the shell before each sample


@dataclass(frozen=True)
class ProfileSpec:
    """What is measured, and in which folder; `mount`: what has to be mounted there.

    Where `filesystem` is not empty, it is the folder on a file system of Hadoop instead; where
    `pool` is not, images in a pool of Ceph. `hosts`: where the clients run; none: here.
    """

    name: str
    folder: Path
    mount: Path | None
    values: Mapping[str, tuple[DimensionValue, ...]]  # of each dimension, `fio.…` among them
    rules: MeasureRules = field(default_factory=MeasureRules)
    filesystem: str = ""
    pool: str = ""
    hosts: LoadHosts = field(default_factory=LoadHosts)

    def points(self) -> Iterator[Point]:
        """All combinations that there can be: files of Hadoop are written in sequence only."""
        for combination in itertools.product(*self.values.values()):
            point = dict(zip(self.values, combination, strict=True))
            is_write = point[OPERATION.name] == "write"
            if not (self.filesystem and is_write and point[ACCESS.name] != SEQUENTIAL):
                yield point

    @property
    def count(self) -> int:
        return sum(1 for _ in self.points())

    @property
    def place(self) -> str:
        """Where it is measured."""
        return f"pool {self.pool}" if self.pool else self.filesystem or str(self.folder)

    @property
    def data(self) -> str:
        """The folder of its own, while it measures, or what the names of its images begin with."""
        own = f"iostrata-profile-{self.name}"
        return own if self.pool else f"{self.place.rstrip('/')}/{own}"

    @property
    def space(self) -> int:
        """Bytes of its files: those that are read stay, others are written beside them."""
        of_one = max(self._ints(CLIENTS.name)) * max(self._ints(SIZE.name))
        for name in (NODES.name, CONTAINERS.name):
            of_one *= max(self._ints(name)) if name in self.values else 1
        return of_one * len(self.values[OPERATION.name])

    def space_of_copies(self, usual: int) -> int:
        """Likewise with all copies, of which the file system makes `usual` where none are said: a
        file that is read stays with each number of them.
        """
        copies = self._ints(COPIES.name) if COPIES.name in self.values else [usual]
        operations = self.values[OPERATION.name]
        of_one = self.space // len(operations)
        return of_one * sum(sum(copies) if one == "read" else max(copies) for one in operations)

    @property
    def varied(self) -> list[str]:
        """Dimensions that have several values."""
        return [name for name, several in self.values.items() if len(several) > 1]

    def _ints(self, name: str) -> list[int]:
        return [int(value) for value in self.values[name]]


def read_spec(path: Path) -> ProfileSpec:
    """Raises UserError: one line with the file, the place and the value."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(
            f"{path}: {error.strerror}", "name a file like docs/guide/predict.md"
        ) from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is no TOML: {error}", "see docs/guide/predict.md") from None
    try:
        return _spec(document)
    except _FaultySpecError as error:
        raise UserError(f"{path}: {error}", error.remedy) from None


class _FaultySpecError(Exception):
    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _spec(document: Mapping[str, Any]) -> ProfileSpec:
    for key in document:
        if key not in _KEYS:
            raise _FaultySpecError(f"{key} is not known", f"say {', '.join(_KEYS)}")
    name = document.get("name", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _FaultySpecError(f"name = {name!r}", "say a name of letters, digits, . _ and -")
    mount = _folder(document, "mount")
    folder = _folder(document, "folder") or mount
    values, rules, hosts = _values(document), _rules(document), _hosts(document)
    filesystem, pool = _filesystem(document), _pool(document)
    if folder is None and not filesystem and not pool:
        raise _FaultySpecError("there is no folder", "say folder = or mount =, a whole path")
    _leave_out(document, values, hosts)
    count = math.prod(map(len, values.values()))
    if count > MOST_POINTS:
        raise _FaultySpecError(f"{count} points", f"say {MOST_POINTS} at most")
    spec = ProfileSpec(name, folder or Path("/"), mount, values, rules, filesystem, pool, hosts)
    if not spec.count:
        raise _FaultySpecError(
            "there is no point", "files of Hadoop are written in sequence only: say so"
        )
    return spec


def _leave_out(
    document: Mapping[str, Any], values: dict[str, tuple[DimensionValue, ...]], hosts: LoadHosts
) -> None:
    """Dimensions that this storage, or these hosts, do not have."""
    said = _table(document, "dimensions")
    if "filesystem" in document or "pool" in document:
        del values[CACHE.name]
    for name in (COPIES.name, CONTAINERS.name):
        if name not in said:
            del values[name]
        elif "filesystem" not in document:
            raise _FaultySpecError(
                f"dimensions.{name} without filesystem", "file systems of Hadoop alone have them"
            )
    if hosts and CONTAINERS.name in said:
        raise _FaultySpecError("dimensions.containers beside hosts", "say one of them")
    if not hosts:
        del values[NODES.name]
    elif NODES.name not in said:
        values[NODES.name] = tuple(count for count in _NODES if count <= len(hosts.names))
    elif max(int(value) for value in values[NODES.name]) > len(hosts.names):
        raise _FaultySpecError(
            f"dimensions.nodes = {list(values[NODES.name])}",
            f"hosts has {plural(len(hosts.names), 'name')}",
        )


def _hosts(document: Mapping[str, Any]) -> LoadHosts:
    """Where clients run; without names, here."""
    given = dict(_table(document, "hosts"))
    names, run = given.pop("names", []), given.pop("run", SSH)
    if given:
        raise _FaultySpecError(f"hosts.{next(iter(given))} is not known", "say names, run")
    if not isinstance(names, list) or not all(
        isinstance(name, str) and _NAME.fullmatch(name) for name in names
    ):
        raise _FaultySpecError(f"hosts.names = {names!r}", 'say names of hosts, as ["a", "b"]')
    if len(set(names)) < len(names):
        raise _FaultySpecError(f"hosts.names = {names!r} says a name twice", "say each once")
    if not isinstance(run, str) or "{host}" not in run or not _is_command(run):
        raise _FaultySpecError(f"hosts.run = {run!r}", f"say a command with {{host}}, as {SSH!r}")
    if not names and ("hosts" in document or NODES.name in _table(document, "dimensions")):
        raise _FaultySpecError("there are no hosts.names", "say on which hosts clients run")
    return LoadHosts(tuple(names), run)


def _is_command(text: str) -> bool:
    try:
        return bool(shlex.split(text)) and "\0" not in text
    except ValueError:
        return False


def _filesystem(document: Mapping[str, Any]) -> str:
    """A folder on a file system of Hadoop; empty where none is named."""
    value = document.get("filesystem")
    if value is None:
        return ""
    if not isinstance(value, str) or not FILESYSTEM.fullmatch(value):
        raise _FaultySpecError(f"filesystem = {value!r}", "say a folder like hdfs://nn:8020/tmp")
    _check_beside("filesystem", document, ("folder", "mount", "pool", "fio"))
    return value


def _pool(document: Mapping[str, Any]) -> str:
    """A pool of Ceph; empty where none is named."""
    value = document.get("pool")
    if value is None:
        return ""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise _FaultySpecError(f"pool = {value!r}", "say the name of a pool of Ceph")
    _check_beside("pool", document, ("folder", "mount", "hosts"))
    return value


def _check_beside(key: str, document: Mapping[str, Any], others: Sequence[str]) -> None:
    """Raises where something is said that this place does not have."""
    is_cached = CACHE.name in _table(document, "dimensions")
    for other in (*(one for one in others if one in document), *["dimensions.cache"] * is_cached):
        raise _FaultySpecError(f"{other} beside {key}", "that is of folders of this machine")


def _folder(document: Mapping[str, Any], key: str) -> Path | None:
    text = document.get(key)
    if text is None:
        return None
    if not isinstance(text, str) or not Path(text).is_absolute():
        raise _FaultySpecError(f"{key} = {text!r}", "say a whole path")
    return Path(text)


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise _FaultySpecError(f"{key} is no table", f"write [{key}]")
    return found


def _values(document: Mapping[str, Any]) -> dict[str, tuple[DimensionValue, ...]]:
    given = _table(document, "dimensions")
    for name in given:
        if name not in DIMENSIONS:
            more = "options of fio belong into [fio]"
            raise _FaultySpecError(
                f"dimensions.{name} is not known", f"{', '.join(DIMENSIONS)}; {more}"
            )
    values: dict[str, tuple[DimensionValue, ...]] = {
        name: _several(f"dimensions.{name}", given[name], known.read, known.says)
        if name in given
        else known.default
        for name, known in DIMENSIONS.items()
    }
    for option, several in _table(document, "fio").items():
        if option in (*_OURS, *_ELSEWHERE) or not re.fullmatch(r"[a-z_0-9]+", option):
            raise _FaultySpecError(f"fio.{option} is no dimension", "say what else fio is to do")
        values[FIO + option] = _several(f"fio.{option}", several, _of_fio, "words or numbers")
    return values


def _of_fio(value: object) -> DimensionValue:
    if isinstance(value, bool) or not isinstance(value, str | int) or "\n" in str(value):
        raise ValueError(value)
    return value


def _several(where: str, value: Any, read: Any, says: str) -> tuple[DimensionValue, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise _FaultySpecError(f"{where} has no value", f"say {says}")
    found = []
    for one in several:
        try:
            found.append(read(one))
        except ValueError:
            raise _FaultySpecError(f"{where} = {one!r}", f"say {says}") from None
    if len(set(found)) < len(found):
        raise _FaultySpecError(f"{where} = {several!r} says a value twice", "say each once")
    return tuple(found)


def _rules(document: Mapping[str, Any]) -> MeasureRules:
    given = dict(_table(document, "measure"))
    least, most = _pair(given.pop("repetitions", [3, 10]))
    known = {"width": (0.001, 1), "others": (0.01, 1), "seed": (0, 1 << 32)}
    found: dict[str, Any] = {"least": least, "most": most}
    for key, value in given.items():
        if key in ("sample", "budget"):
            found[key] = _duration(key, value)
        elif key == "order":
            if value not in ("rounds", ADAPTIVE):
                raise _FaultySpecError(f"measure.order = {value!r}", f"say rounds or {ADAPTIVE}")
            found[key] = value
        elif key == "before":
            if not isinstance(value, str) or not value.strip() or "\0" in value:
                raise _FaultySpecError(f"measure.before = {value!r}", "say a command of the shell")
            found[key] = value
        elif key not in known:
            names = ", ".join(("repetitions", "sample", "budget", "order", "before", *known))
            raise _FaultySpecError(f"measure.{key} is not known", names)
        elif not _is_number(value) or not known[key][0] <= value <= known[key][1]:
            low, high = known[key]
            raise _FaultySpecError(f"measure.{key} = {value!r}", f"say {low:g} to {high:g}")
        else:
            found[key] = value
    return MeasureRules(**found)


def _pair(value: Any) -> tuple[int, int]:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
    if not is_pair or not 1 <= value[0] <= value[1] <= 1000:
        raise _FaultySpecError(f"measure.repetitions = {value!r}", "say [least, most], as [3, 10]")
    return int(value[0]), int(value[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _duration(key: str, value: Any) -> float:
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if not found or float(found[1]) <= 0:
        raise _FaultySpecError(f"measure.{key} = {value!r}", "say a time like 10 s, 20 min or 2 h")
    return float(found[1]) * _SECONDS[found[2]]
