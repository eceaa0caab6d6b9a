"""What rules say of files: what sums know counts, and what nobody knows is no evidence."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import JOB, KB, MB, MS, attempt, call, did

READS = [call("hdfs", "read", f"/in/{n}", MS, "map", bytes=KB, job=JOB) for n in range(40)]
OPENS = [call("hdfs", "open", f"/in/{n}", MS, "map", job=JOB) for n in range(300)]
OF_FILES: dict[str, Any] = {"job": JOB, "category": "input", "size_class": 11}
MAPS = [attempt("map", n, n // 4 * 0.5, n // 4 * 0.5 + 0.5) for n in range(300)]


def seen(facts_of: Made, *events: dict[str, Any]) -> str | None:
    """What is said of small files in a job of 300 maps."""
    findings = explain(facts_of(list(events), processes=MAPS))
    return next((each.seen for each in findings if each.rule == "many-small-files"), None)


@pytest.mark.parametrize(("unknown", "are_small"), [(0, True), (200 * MB, False)])
def test_files_are_small_if_none_can_have_been_large(
    facts_of: Made, unknown: int, are_small: bool
) -> None:
    """GIVEN 40 files with a read of 1 KiB that was recorded individually, and reads in sums only,
    of which nobody knows what they were on.
    """
    recorded = did("hdfs", "read", 40, MS, "map", bytes=40 * KB, **OF_FILES)
    rest = did("hdfs", "read", 2000, MS, "map", bytes=unknown, **OF_FILES)
    assert bool(seen(facts_of, *READS, recorded, rest)) == are_small


def test_files_of_sums_are_files_and_others_that_were_opened_are_said(facts_of: Made) -> None:
    """GIVEN 300 files that were opened, of which 40 have their reads, and 200 a sum."""
    sums = [
        did("hdfs", "read", 1, MS, "map", bytes=3 * KB, target=f"/in/{n}", **OF_FILES)
        for n in range(40, 240)
    ]
    text = seen(facts_of, *READS, *OPENS, *sums)
    assert text
    assert text.startswith(
        "the job read 240 files of 2.7 KiB on average (60 more files were opened), with 300 map "
    )


@pytest.mark.parametrize(
    ("maker", "rule", "advice"),
    [
        (7, "short-tasks", "ask the program for fewer tasks"),
        (8, "many-small-files", "pack several files into one split"),
    ],
)
def test_files_that_a_program_makes_for_its_tasks_are_no_input(
    facts_of: Made, maker: int, rule: str, advice: str
) -> None:
    """GIVEN a file of 100 bytes for each of 40 tasks, by the program that submits, or another."""
    maps = [attempt("map", n, n // 4 * 5, n // 4 * 5 + 5) for n in range(40)]
    runs = did("task", "run", 40, MS, "map", job=JOB)
    reads = [call("hdfs", "read", f"/in/{n}", MS, "map", bytes=100, job=JOB) for n in range(40)]
    submits = call("hdfs", "create", f"/tmp/.staging/{JOB}/job.xml", MS, proc=7)
    made = [call("hdfs", "create", f"/in/{n}", MS, proc=maker) for n in range(40)]
    events = [runs, submits, *made, *OPENS[:40], *reads]
    first = explain(facts_of(events, processes=maps))[0]
    assert first.rule == rule
    assert first.change[0].what.startswith(advice)


def test_small_reads_name_the_file_that_has_most_of_them(facts_of: Made) -> None:
    """GIVEN a plain program THEN it is told no setting of Hadoop."""
    reads = did("java", "read", 90_000, MS * 3 // 10, "client", bytes=90_000 * KB, category="file",
                size_class=11, target="/index/_2.fdt")  # fmt: skip
    more = did("java", "read", 10_000, MS * 3 // 10, "client", bytes=10_000 * KB, category="file",
               size_class=11, target="/index/_1.fdt")  # fmt: skip
    findings = explain(facts_of([reads, more]))
    small = next(each for each in findings if each.rule == "small-reads")
    assert small.seen == (
        "100 000 reads of 1.0 KiB on average in layer java took 30.00 s; most were on /index/_2.fdt"
    )
    assert [each.setting for each in small.change] == [""]
    assert [each.value for each in small.evidence if each.what.endswith("_2.fdt")] == [90_000]
