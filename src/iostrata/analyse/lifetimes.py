"""How long files are there: what deletes, renames and creates say of the paths of files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

HDFS, LOCAL = "hdfs", "local"
# Local files that go with their job, whoever deletes them: by what they are, and by their folder,
# which the NodeManager or the executor removes.
TEMPORARY = frozenset({"spill", "shuffle"})
TEMPORARY_FOLDERS = ("/appcache/", "/blockmgr-")
# No disk holds them.
NOT_STORED = ("/dev/", "/proc/", "/sys/")
# Of FileOutputCommitter: what is renamed from below it is committed to the folder above it.
_UNCOMMITTED = "/_temporary/"

Owner = tuple[str | None, str | None]


@dataclass(frozen=True)
class Stored:
    """`bytes` that an owner (job, or role of no job) wrote to a file from `begin` until `end`, in
    ns since the epoch. `path` is '' where it is not known. `freed`: when it was gone; None: it is
    there. `temporary`: it was deleted, or goes with its job.
    """

    owner: Owner
    place: str
    category: str
    path: str
    bytes: int
    begin: int
    end: int
    freed: int | None = None
    temporary: bool = False


@dataclass(frozen=True)
class PathChange:
    """A call of `op` (delete, rename or create) on a path of `place` that ended `at`, in ns since
    the epoch.
    """

    place: str
    op: str
    path: str
    at: int


@dataclass(frozen=True)
class Level:
    """Bytes that are there `at` a time, in ns since the epoch: those of temporary files, and the
    rest. Between two levels of different times they grow evenly; two of one time are a step.
    """

    at: int
    temporary: int
    permanent: int


def lifetimes(
    files: Iterable[Stored], changes: Iterable[PathChange], ends: dict[Owner, int | None]
) -> Iterator[Stored]:
    """The files with what became of them; `ends`: when the last process of an owner ended, in ns
    since the epoch, None where it has not.
    """
    history = _History(changes)
    for file in files:
        if file.place == LOCAL and file.path.startswith(NOT_STORED):
            continue
        freed = _freed(file, history)
        if freed is None and _goes_with_job(file):
            end = ends.get(file.owner)
            freed = None if end is None else max(end, file.end)
            yield replace(file, freed=freed, temporary=True)
        else:
            yield replace(file, freed=freed, temporary=freed is not None)


def _goes_with_job(file: Stored) -> bool:
    if file.place != LOCAL:
        return False
    return file.category in TEMPORARY or any(part in file.path for part in TEMPORARY_FOLDERS)


class _History:
    """Changes by path, in order of time: what takes files away, and what makes them."""

    def __init__(self, changes: Iterable[PathChange]) -> None:
        self.removals: dict[tuple[str, str], list[PathChange]] = {}
        self.creations: dict[tuple[str, str], list[int]] = {}
        for change in sorted(changes, key=lambda change: change.at):
            where = (change.place, change.path.rstrip("/"))
            if change.op == "create":
                self.creations.setdefault(where, []).append(change.at)
            else:
                self.removals.setdefault(where, []).append(change)

    def removal(self, place: str, path: str, since: int) -> PathChange | None:
        """The first after `since` of a path, or of a folder above it."""
        found = []
        for folder in _above(path):
            known = self.removals.get((place, folder), [])
            after = bisect_right(known, since, key=lambda change: change.at)
            found += known[after : after + 1]
        return min(found, key=lambda change: change.at, default=None)

    def creation(self, file: Stored) -> tuple[int, int | None]:
        """When a file began, and when it was written anew; None: never. A sum of its writes may
        begin before it: a delete of that time was before it, too.
        """
        times = self.creations.get((file.place, file.path), [])
        before = bisect_right(times, file.end)
        begin = max(file.begin, times[before - 1]) if before else file.begin
        return begin, times[before] if before < len(times) else None


def _freed(file: Stored, history: _History) -> int | None:
    """When the first change took the file away, None: none did. After a rename its name is known
    only where a committer did it.
    """
    if not file.path:
        return None
    since, anew = history.creation(file)
    path = file.path
    while change := history.removal(file.place, path, since):
        if anew is not None and anew < change.at:
            return anew
        if change.op == "delete":
            return change.at
        path, committed, _ = path.partition(_UNCOMMITTED)
        if not committed:
            return None
        since, anew = change.at, None
    return anew


def _above(path: str) -> list[str]:
    """The path, and all folders above it."""
    parts = path.rstrip("/").split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 1, -1)]


def levels(files: Sequence[Stored]) -> list[Level]:
    """How much was there, at each time at which a file began or ceased to grow, or went. What a
    file has grown by is spread over its time evenly.
    """
    start = min(file.begin for file in files)
    moves: dict[int, list[tuple[_Pool, Stored, str]]] = {}
    temporary, permanent = _Pool(start), _Pool(start)
    for file in files:
        pool = temporary if file.temporary else permanent
        for move, at in _moves(file):
            moves.setdefault(at, []).append((pool, file, move))
    found: list[Level] = []
    for at in sorted(moves):
        found.append(Level(at, temporary.level(at), permanent.level(at)))
        for pool, file, move in moves[at]:
            pool.apply(file, move)
        after = Level(at, temporary.level(at), permanent.level(at))
        found += [after] * (after != found[-1])
    return found


def levels_at(steps: Sequence[Level], times: Iterable[int]) -> list[Level]:
    """Levels at other times, which ascend: 0 before the first step, of the last one after it."""
    found, place = [], 0
    for at in times:
        while place < len(steps) and steps[place].at <= at:
            place += 1
        if place in (0, len(steps)):
            last = steps[-1] if place else Level(at, 0, 0)
            found.append(replace(last, at=at))
        else:
            found.append(_between(steps[place - 1], steps[place], at))
    return found


def _between(one: Level, other: Level, at: int) -> Level:
    share = (at - one.at) / (other.at - one.at)
    temporary = one.temporary + round(share * (other.temporary - one.temporary))
    return Level(at, temporary, one.permanent + round(share * (other.permanent - one.permanent)))


def _moves(file: Stored) -> list[tuple[str, int]]:
    gone = file.freed
    stop = file.end if gone is None else min(file.end, gone)
    moves = [("begin", file.begin), ("end", max(file.begin, stop))]
    return moves if gone is None else [*moves, ("gone", max(file.begin, gone))]


class _Pool:
    """Bytes of files that are there: of those that grow no more exactly, of the others by their
    slopes.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.whole = 0
        self.growing = 0
        self.slope = 0.0  # bytes a ns
        self.offset = 0.0  # bytes that the slopes had at `start`

    def level(self, at: int) -> int:
        return self.whole + round(self.slope * (at - self.start) - self.offset)

    def apply(self, file: Stored, move: str) -> None:
        if move == "gone":
            self.whole -= file.bytes
            return
        (_, begin), (_, end), *_ = _moves(file)
        slope = file.bytes / (end - begin) if end > begin else 0.0
        sign = 1 if move == "begin" else -1
        self.growing += sign
        self.slope += sign * slope
        self.offset += sign * slope * (begin - self.start)
        if move == "end":
            self.whole += file.bytes
        if not self.growing:
            self.slope = self.offset = 0.0
