from __future__ import annotations

import pytest

from iostrata.explain.finding import Severity, severity
from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MS, PROGRAM, did
from iostrata.explain.verdict import verdict
from iostrata.store.tests.made import SECOND, START


@pytest.mark.parametrize(
    ("share", "lost", "most", "named"),
    [
        (0.5, SECOND, "severe", "severe"),
        (0.2, SECOND, "severe", "severe"),
        (0.19, SECOND, "severe", "warning"),
        (0.03, SECOND, "severe", "note"),
        (0.029, SECOND, "severe", None),
        (0.5, SECOND, "warning", "warning"),
        (0.05, SECOND, "warning", "note"),
        # AND what nobody notices is no alarm
        (0.5, SECOND - 1, "severe", "warning"),
        (0.5, 100 * MS, "severe", "warning"),
        (0.5, 100 * MS - 1, "severe", "note"),
        (0.5, 100 * MS - 1, "warning", "note"),
        (0.05, 0, "severe", "note"),
    ],
)
def test_severities(share: float, lost: int, most: Severity, named: Severity | None) -> None:
    assert severity(share, lost, most) == named


@pytest.mark.parametrize(
    ("workers", "seconds", "severities"),
    [(1, 2, ["warning"]), (1, 5, ["severe"]), (16, 2, ["severe"])],
)
def test_a_quarter_of_two_seconds_matters_where_many_lose_it(
    facts_of: Made, workers: int, seconds: int, severities: list[Severity]
) -> None:
    """GIVEN writes of 1 KiB that take a quarter of the time of each worker."""
    each = seconds * SECOND // 200_000
    writes = [
        did(
            "java",
            "write",
            50_000,
            each,
            proc=n,
            bytes=50_000 << 10,
            category="file",
            size_class=11,
        )
        for n in range(workers)
    ]
    times = {"start": START, "end": START + seconds * SECOND, "cpu": 0}
    programs = [{**PROGRAM, "proc": n, **times} for n in range(workers)]
    findings = explain(facts_of(writes, processes=programs, end=START + seconds * SECOND))
    assert [each.severity for each in findings] == severities


def test_what_follows_from_a_cause_ranks_behind_it(facts_of: Made) -> None:
    findings = explain(
        facts_of(
            [
                did("datanode", "disk_sync", 600, 40 * MS, "DataNode"),
                did("hdfs", "sync", 600, 20 * MS),
                did("java", "sync", 100, 20 * MS),
            ]
        )
    )
    assert [(each.rule, each.because) for each in findings] == [
        ("datanode-sync", []),
        ("local-sync", []),
        ("frequent-flush", ["datanode-sync"]),
    ]


def test_the_verdict_names_the_first_finding(facts_of: Made) -> None:
    facts = facts_of([did("java", "sync", 300, 50 * MS)])
    said = verdict(facts, explain(facts))
    assert said.text == (
        "Local files are forced to disk too often: programs forced local files to disk 300 times, "
        "after every 0 bytes on average, which took 15.00 s. A change could save up to 25 % of the "
        "run's time."
    )
    assert said.detail == (
        "The run took 60.00 s. 1 program ran during 100 % of it, at most 1 at once, and for "
        "60.00 s in total."
    )


def test_the_verdict_of_a_run_without_findings(facts_of: Made) -> None:
    facts = facts_of([])
    assert verdict(facts, []).text == "No rule found anything that holds this run back."


def test_facts_of_workers_that_overlap(facts_of: Made) -> None:
    workers = [
        {**PROGRAM, "proc": n, "start": START + begin * SECOND, "end": START + end * SECOND}
        for n, begin, end in ((1, 0, 20), (2, 10, 30), (3, 40, 45))
    ]
    facts = facts_of([], processes=workers)
    assert facts.worked == 45 * SECOND
    assert facts.at_once == 2
    assert facts.coverage == pytest.approx(35 / 60)
    assert facts.share(9 * SECOND) == pytest.approx(0.2 * 35 / 60)
