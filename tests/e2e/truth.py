"""The rules that tie a recorded run to Hadoop's own counters.

Pure functions from a run's rows and the job history to a list of sentences, one for each
number that does not add up; an empty list is the proof. Every rule reads sums only, so it
holds whatever detail was kept, and every rule is exact unless its text says "at least".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from iostrata.schema.points import POINTS

COVERED = 32  # schema/events.toml [flag]
CHUNK = 512  # dfs.bytes-per-checksum
META_HEADER = 7  # BlockMetadataHeader: version 2, type 1, bytes per checksum 4
CHECKSUM = 4  # CRC32C


class Run:
    """The rows of one published run. `whose` is the column that tells whose bytes rules compare:
    at level `job` there are no tasks.
    """

    def __init__(self, store: Path, name: str, whose: str = "task") -> None:
        self.path = store / name
        self.whose = whose
        self.sql = duckdb.connect()
        for table in ("events", "processes", "threads", "usage"):
            if not list((self.path / table).rglob("*.parquet")):
                continue  # what is in the background belongs to no run and has no processes
            files = str(self.path / table / "**" / "*.parquet").replace("'", "''")
            self.sql.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}')")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.sql.execute(query, list(values)).fetchall()

    def one(self, query: str, *values: object) -> Any:
        return self.rows(query, *values)[0][0]

    def bytes_by_task(self, where: str) -> dict[str, int]:
        """Bytes per attempt, from sums; what an enclosing call counts too is left out."""
        query = (
            f"SELECT {self.whose}, sum(bytes)::BIGINT FROM events "
            f"WHERE kind = 'sum' AND {self.whose} IS NOT NULL "
            f"AND (flags & {COVERED}) = 0 AND {where} GROUP BY ALL"
        )
        return {task: int(total) for task, total in self.rows(query)}

    def calls_by_task(self, where: str) -> dict[str, int]:
        """Calls per attempt, from sums."""
        query = (
            f"SELECT {self.whose}, sum(count)::BIGINT FROM events WHERE kind = 'sum' "
            f"AND {self.whose} IS NOT NULL AND {where} GROUP BY ALL"
        )
        return {task: int(total) for task, total in self.rows(query)}

    def losses(self) -> dict[str, int]:
        """What the processes table says was not kept; all zero in a truth run."""
        names = ("dropped", "folded", "lost", "refused")
        sums = ", ".join(f"coalesce(sum({name}), 0)::BIGINT" for name in names)
        return dict(zip(names, self.rows(f"SELECT {sums} FROM processes")[0], strict=True))


@dataclass(frozen=True)
class Attempt:
    """What the job history says of one successful attempt, in bytes."""

    name: str
    read: int
    written: int


@dataclass(frozen=True)
class Block:
    """One block of a file in HDFS as `hdfs fsck` lists it."""

    number: int
    size: int
    replicas: int


def meta_bytes(size: int) -> int:
    """Bytes of a block's checksum file (BlockMetadataHeader and 4 bytes a chunk)."""
    return META_HEADER + CHECKSUM * -(-size // CHUNK)


# One row a rule of the write path: what it counts, and the rows of the trace that say so.
CLIENT_READ = "layer = 'hdfs' AND op = 'read'"
CLIENT_WRITE = "layer = 'fs' AND op = 'write' AND category = 'hdfs'"
DATANODE_WRITE = {
    "packets received": "layer = 'datanode' AND op = 'receive_packet'",
    "written to disk": "layer = 'datanode' AND op = 'write'",
    "block files": "layer = 'java' AND op = 'write' AND role = 'DataNode' AND category = 'blk'",
}
DATANODE_READ = {
    "packets sent": "layer = 'datanode' AND op = 'send_packet'",
    "block files": "layer = 'java' AND op IN ('read', 'transfer') AND role = 'DataNode' "
    "AND category = 'blk'",
}
META_WRITE = "layer = 'java' AND op = 'write' AND role = 'DataNode' AND category = 'blk_meta'"


def compare(rule: str, attempt: str, traced: int, expected: int) -> Iterator[str]:
    if traced != expected:
        yield f"{attempt}: {rule}: traced {traced} B, expected {expected} B"


def failed(problems: list[str]) -> set[str]:
    """Names of the rules of which these are the sentences."""
    return {problem.split(": ")[1] for problem in problems}


def client_problems(run: Run, attempts: list[Attempt]) -> Iterator[str]:
    """HDFS_BYTES_READ and HDFS_BYTES_WRITTEN, exact at the attempt's own streams."""
    read = run.bytes_by_task(f"role IN ('map', 'reduce') AND {CLIENT_READ}")
    written = run.bytes_by_task(f"role IN ('map', 'reduce') AND {CLIENT_WRITE}")
    for attempt in attempts:
        name = attempt.name
        yield from compare("HDFS_BYTES_READ", name, read.get(name, 0), attempt.read)
        yield from compare("HDFS_BYTES_WRITTEN", name, written.get(name, 0), attempt.written)


def datanode_write_problems(run: Run, attempts: list[Attempt], replicas: int) -> Iterator[str]:
    """Each DataNode layer saw HDFS_BYTES_WRITTEN once per replica."""
    for rule, where in DATANODE_WRITE.items():
        traced = run.bytes_by_task(where)
        for attempt in attempts:
            expected = attempt.written * replicas
            yield from compare(rule, attempt.name, traced.get(attempt.name, 0), expected)


def datanode_read_problems(run: Run, attempts: list[Attempt]) -> Iterator[str]:
    """DataNodes sent what was read, and less than two chunks more for each block that they read.

    They send whole chunks, so what lies before and behind in the first and the last one is sent,
    too. That holds for files that are read to their end: a reader that stops inside a block leaves
    up to the socket and packet buffers unread.
    """
    opened = run.calls_by_task("layer = 'datanode' AND op = 'read_block'")
    for rule, where in DATANODE_READ.items():
        traced = run.bytes_by_task(where)
        for attempt in attempts:
            sent, most = traced.get(attempt.name, 0), 2 * (CHUNK - 1) * opened.get(attempt.name, 0)
            if not attempt.read <= sent <= attempt.read + most:
                yield (
                    f"{attempt.name}: {rule}: traced {sent} B, "
                    f"{attempt.read} to {attempt.read + most} B expected"
                )


def meta_problems(
    run: Run, attempts: list[Attempt], blocks_of: dict[str, list[Block]]
) -> Iterator[str]:
    """Checksum files: 7 + 4 * ceil(len / 512) bytes per replica of each block an attempt wrote.

    These are all of its blocks: they hold what Hadoop says that it wrote.
    """
    traced = run.bytes_by_task(META_WRITE)
    for attempt in attempts:
        blocks = blocks_of.get(attempt.name, [])
        yield from compare("blocks", attempt.name, sum(b.size for b in blocks), attempt.written)
        expected = sum(meta_bytes(block.size) * block.replicas for block in blocks)
        yield from compare("block metadata", attempt.name, traced.get(attempt.name, 0), expected)


def loss_problems(run: Run) -> Iterator[str]:
    """Nothing is lost, and then the calls recorded individually say what the sums say."""
    losses = run.losses()
    for name, count in losses.items():
        if count:
            yield f"{name}: {count}, expected 0"
    if not any(losses.values()):
        yield from detail_problems(run)


def detail_problems(run: Run) -> Iterator[str]:
    """Outside counted-only points the rows of kind call equal the sums, per process and point.

    A process that was killed may have counted a call in each thread whose row it did not finish.
    """
    hot = ", ".join(str(point.id) for point in POINTS if point.mode in ("counted", "record"))
    query = f"""
        SELECT role, pid, point, sum(count) FILTER (kind = 'sum')::BIGINT,
            count(*) FILTER (kind = 'call'), sum(bytes) FILTER (kind = 'sum')::BIGINT,
            coalesce(sum(bytes) FILTER (kind = 'call'), 0)::BIGINT
        FROM events ANTI JOIN (SELECT host, pid FROM processes WHERE exit = 'killed')
            USING (host, pid)
        WHERE kind IN ('sum', 'call') AND point NOT IN ({hot}) GROUP BY role, pid, point"""
    for role, pid, point, counted, kept, summed, bytes_ in run.rows(query):
        if (counted, summed) != (kept, bytes_):
            yield (
                f"{role} {pid}: point {point}: {kept} calls of {bytes_} B kept, "
                f"{counted} of {summed} B in sums"
            )


def blocks_by_attempt(run: Run, blocks: list[Block]) -> dict[str, list[Block]]:
    """Which attempt wrote which block, as the DataNodes' own calls say."""
    query = (
        f"SELECT DISTINCT {run.whose}, block FROM events WHERE kind = 'call' "
        f"AND layer = 'datanode' AND op = 'write_block' AND {run.whose} IS NOT NULL AND block >= 0"
    )
    by_number = {block.number: block for block in blocks}
    found: dict[str, list[Block]] = {}
    for task, number in run.rows(query):
        if number in by_number:
            found.setdefault(task, []).append(by_number[number])
    return found
