"""Runs whose cause is how they go through their files: see `cases`."""

from __future__ import annotations

from typing import Any

from iostrata.explain.tests.made import KB, MB, MS, Case, attempts, call, did
from iostrata.store.tests.made import SECOND, START

READS = 600
# Back and forth in a file of 1 GB.
PLACES = [n * 7919 % 1000 * MB for n in range(READS)]
RANKS = attempts("client", [60, 60, 60, 60])


def reads(places: list[int], layer: str = "hdfs", **more: Any) -> list[dict[str, Any]]:
    """Reads of 4 KiB, 50 ms each unless `more` says otherwise, and their sum."""
    calls = [
        call(layer, "read", "/index", 50 * MS,
             **{"offset": place, "bytes": 4 * KB, "start": START + n * 50 * MS, **more})
        for n, place in enumerate(places)
    ]  # fmt: skip
    return [*calls, did(layer, "read", len(places), 50 * MS, bytes=4 * KB * len(places),
                        category="file", size_class=13)]  # fmt: skip


def to_the_end(target: str, ends: int, each: int, time: int, **more: Any) -> list[dict[str, Any]]:
    """Sums of reads of 1 MiB of a file, until there was no more, `ends` times: all took `time`."""
    reads = ends * each // MB
    given = {"category": "file", "target": target, "flags": 0, **more}
    return [
        did("java", "read", reads, time // reads, bytes=ends * each, size_class=21, **given),
        did("java", "read", ends, 0, size_class=0, **given),
    ]


def wrote(target: str, writes: int, each: int, size: int, **more: Any) -> dict[str, Any]:
    """Writes of a rank, or of all of them together, as a log of Darshan has them."""
    shared = {"proc": None, "target": target, "point": None, "category": "file", "flags": 0}
    return did("posix", "write", writes, each, "client", bytes=writes * size, **{**shared, **more})


def counted(target: str, **counts: int) -> dict[str, Any]:
    """A run that was made of a log of Darshan, which counted these of a file."""
    return {"source": {"format": "darshan", "counted": [{"target": target, **counts}]}}


CASES_OF_FILES = (
    Case(
        "local-sync",
        "programs forced local files to disk 3 000 times, after every 180 bytes on average, which "
        "took 12.00 s",
        12 / 60,
        [
            did(
                "java",
                "write",
                3000,
                4 * MS,
                bytes=540_000,
                category="file",
                size_class=8,
                min=MS // 10,
            )
        ],
    ),
    Case(
        "metadata-storm",
        "programs asked 3 000 questions about files, 3 000 of them to open files, of which they "
        "read or wrote 0 B on average; the questions took 15.00 s",
        15 / 60,
        [did("hdfs", "open", 3000, 5 * MS, flags=0), did("hdfs", "locate", 3000, 4 * MS)],
    ),
    Case(
        "random-reads",
        "600 reads of 4.0 KiB on average in layer hdfs went to places far from each other, back "
        "and forth, and took 29.95 s: /index",
        29.95 / 60,
        reads(PLACES),
    ),
    Case(
        "file-rereading",
        "1.0 GiB were read from /words, whose end was met 32 times, after 32.0 MiB on average; "
        "reading again took 30.00 s at least",
        30 / 60,
        to_the_end("/words", 32, 32 * MB, 32 * SECOND),
    ),
    Case(
        "shared-file",
        "4 ranks wrote /out together; the slowest spent 40.00 s in calls on it, the mean is "
        "10.00 s",
        1 / 2,
        [wrote("/out", 40, SECOND, 64 * MB)],
        RANKS,
        counted("/out", requests=40, time=40 * SECOND, slowest=40 * SECOND),
    ),
    Case(
        "misaligned",
        "400 of 400 requests on /own did not begin at a multiple of 1.0 MiB, nor where the one "
        "before ended; the parts of blocks at their ends took up to 20.00 s",
        1 / 12,
        [wrote("/own", 400, 100 * MS, 4 * MB, proc=100)],
        RANKS,
        counted("/own", requests=400, unaligned=400, alignment=MB, time=40 * SECOND),
    ),
)
