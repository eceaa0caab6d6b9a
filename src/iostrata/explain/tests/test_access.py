"""Rules about how a run goes through its files are silent where they cannot know."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.cases_of_files import (
    PLACES,
    RANKS,
    READS,
    counted,
    reads,
    to_the_end,
    wrote,
)
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MB, MS, did
from iostrata.store.tests.made import SECOND

FORWARD = [n * MB for n in range(READS)]
IN_TURNS = [place for pair in zip(FORWARD[:300], FORWARD[300:], strict=True) for place in pair]
SUMMED = [did("hdfs", "read", READS, 50 * MS, bytes=4096 * READS, category="file", target="/index")]


def of_threads(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls in turns those of two threads."""
    return [row | ({} if row["kind"] == "sum" else {"tid": n % 2}) for n, row in enumerate(rows)]


def rules(facts_of: Made, events: list[dict[str, Any]], **tables: Any) -> set[str]:
    return {finding.rule for finding in explain(facts_of(events, **tables))}


@pytest.mark.parametrize(
    ("what", "events", "is_random"),
    [
        ("back and forth", reads(PLACES), True),
        ("always forward, as one that skips or of which calls are missing", reads(FORWARD), False),
        ("two threads, each of them forward", of_threads(reads(IN_TURNS)), False),
        ("the same places by one thread", reads(IN_TURNS), True),
        ("a small file", reads([place // 100 for place in PLACES]), False),
        ("back and forth, and as often in sums only", [*reads(PLACES), *SUMMED], True),
        ("likewise, with room for others in between", [*reads(PLACES, dur=MS), *SUMMED], False),
        ("too few of those that are in sums only", [*reads(PLACES[:30]), *SUMMED], False),
    ],
)  # fmt: skip
def test_reads_are_random_if_nothing_else_explains_them(
    facts_of: Made, what: str, events: list[dict[str, Any]], is_random: bool
) -> None:
    assert ("random-reads" in rules(facts_of, events)) == is_random, what


@pytest.mark.parametrize(
    ("layer", "op", "each", "is_storm"),
    [
        ("hdfs", "read", 100, True),
        ("hdfs", "read", 4096, False),
        ("hdfs", "receive_packet", 4096, False),
        ("posix", "read", 100, True),
        ("posix", "write", 4096, False),
    ],
)
def test_opens_are_questions_where_hardly_a_byte_is_moved(
    facts_of: Made, layer: str, op: str, each: int, is_storm: bool
) -> None:
    """GIVEN 3 000 files that are opened, and what is moved from or to each of them."""
    opens = did(layer, "open", 3000, 5 * MS, flags=0)
    moved = did(layer, op, 3000, 0, bytes=3000 * each, category="file", flags=0)
    assert ("metadata-storm" in rules(facts_of, [opens, moved])) == is_storm


def test_writes_into_memory_are_not_forced(facts_of: Made) -> None:
    """GIVEN small writes that take long, as on a busy host, and one that met nobody."""
    writes = did("java", "write", 3000, 4 * MS, bytes=540_000, category="file", size_class=8,
                 min=MS // 100)  # fmt: skip
    assert "local-sync" not in rules(facts_of, [writes])


def test_to_locate_blocks_is_a_question_where_the_program_asks_for_it(facts_of: Made) -> None:
    """GIVEN 3 000 opens of large files, each of which locates its blocks THEN they are used."""
    opens = did("hdfs", "open", 3000, 5 * MS, flags=0)
    within = did("hdfs", "locate", 15_000, MS)
    read = did("hdfs", "read", 3000, 0, bytes=3000 * MB, category="hdfs", flags=0)
    assert "metadata-storm" not in rules(facts_of, [opens, within, read])


WORDS = to_the_end("/words", 32, 32 * MB, 32 * SECOND)
OF_TWO = [row | {"proc": 1 + n % 2} for n, row in enumerate(to_the_end("/w", 2, 512 * MB, SECOND))]
WRITTEN = did("java", "write", 600, MS, bytes=600 * MB, category="file", target="/words", flags=0)
FAILED = [row | ({"errors": 32} if row["size_class"] == 0 else {}) for row in WORDS]
AGAIN = reads([n % 200 * MB for n in range(READS)], "java", bytes=MB)
ONCE = reads(FORWARD, "java", bytes=MB)
POSITIONED = did("java", "read", 3000, 10 * MS, bytes=3000 * MB, category="file", target="/index",
                 size_class=21, flags=0)  # fmt: skip


@pytest.mark.parametrize(
    ("what", "events", "is_found"),
    [
        ("to the end, again and again", WORDS, True),
        ("once by each of two processes", OF_TWO, False),
        ("a file that the process wrote meanwhile", [*WORDS, WRITTEN], False),
        ("a log that is followed", to_the_end("/log", 32_000, 32 << 10, 30 * SECOND), False),
        ("reads that failed", FAILED, False),
        ("places that were read before", [*AGAIN, POSITIONED], True),
        ("places of which none was", [*ONCE, POSITIONED], False),
    ],
)  # fmt: skip
def test_a_file_is_read_again_if_nothing_else_explains_it(
    facts_of: Made, what: str, events: list[dict[str, Any]], is_found: bool
) -> None:
    assert ("file-rereading" in rules(facts_of, events)) == is_found, what


@pytest.mark.parametrize(
    ("counts", "size", "is_found"),
    [
        ({"unaligned": 400, "alignment": MB}, 4 * MB, True),
        ({"unaligned": 400, "alignment": MB}, 1024 * MB, False),  # its ends are a small part of it
        ({"unaligned": 400, "alignment": MB, "consecutive": 390}, 4 * MB, False),
        ({"unaligned": 30, "alignment": MB}, 4 * MB, False),
        ({}, 4 * MB, False),
    ],
)
def test_requests_are_misaligned_if_many_have_costly_ends(
    facts_of: Made, counts: dict[str, int], size: int, is_found: bool
) -> None:
    facts = counted("/own", requests=400, **counts)
    found = rules(
        facts_of, [wrote("/own", 400, 300 * MS, size, proc=100)], processes=RANKS, **facts
    )
    assert ("misaligned" in found) == is_found


def test_ranks_that_take_alike_in_large_writes_do_not_hold_each_other_up(facts_of: Made) -> None:
    facts = counted("/out", requests=40, time=40 * SECOND, slowest=12 * SECOND)
    assert rules(facts_of, [wrote("/out", 40, SECOND, 64 * MB)], processes=RANKS, **facts) == set()


def test_small_writes_of_a_shared_file_follow_from_their_size(facts_of: Made) -> None:
    events = [wrote("/out", 4000, 10 * MS, 200, size_class=8)]
    found = {
        finding.rule: finding
        for finding in explain(facts_of(events, processes=RANKS, **counted("/out")))
    }
    assert found["shared-file"].because == ["small-writes"]
    assert found["shared-file"].seen == (
        "4 ranks wrote /out together, with 4 000 writes of 200 B on average in layer posix, which "
        "took 40.00 s"
    )


def test_programs_that_share_a_file_and_were_traced_by_us_are_no_ranks(facts_of: Made) -> None:
    facts = {"source": None}
    events = [wrote("/out", 4000, 10 * MS, 200, size_class=8)]
    assert "shared-file" not in rules(facts_of, events, processes=RANKS, **facts)
