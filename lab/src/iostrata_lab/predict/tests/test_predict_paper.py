"""What the study says of predictions and measured times."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.predict.ranking import Forecast
from iostrata_lab.predict.jobs import node_counts
from iostrata_lab.predict.paper import conclude
from iostrata_lab.predict.result import (
    MeasuredCase,
    MeasuredJob,
    PredictedCase,
    PredictedJobCase,
    PredictResult,
)
from iostrata_lab.studies.interface import Outcome

SECOND = 10**9


def case(program: str, storage: str, time: float, by_bytes: float) -> PredictedCase:
    """A range of a tenth on both sides."""
    times = {"time": time, "least": 0.9 * time, "most": 1.1 * time, "moving": by_bytes}
    ns: dict[str, Any] = {name: round(of * SECOND) for name, of in times.items()}
    forecast = Forecast(1e6, 9e5, 1.1e6, [], name=storage, **ns)
    return PredictedCase(program, storage, "run", forecast)


def outcome(*cases: tuple[PredictedCase, list[float]]) -> Outcome:
    measured = [
        MeasuredCase(one.program, one.storage, number, seconds)
        for one, times in cases
        for number, seconds in enumerate(times, 1)
    ]
    return conclude(PredictResult([one for one, _ in cases], measured, [], []))


def test_tables_and_claims() -> None:
    found = outcome(
        (case("grep", "disk", 10, 10), [10.0, 10.2]),
        (case("grep that computes", "disk", 20, 6), [20.0, 22.0]),
        (case("table scan", "moosefs", 8, 5), [10.0, 10.0]),
    )
    of_grep, of_scan = found.tables
    assert of_grep.title == "Fig. 3: predicted and measured times"
    assert list(of_grep.rows[0]) == [
        *("grep", "disk", "10.10 s", "8.83 to 11.37", "10.00 s", "9.00 to 11.00", "10.00 s"),
        *("99 %", "99 %", "90 %"),
    ]
    assert [list(row)[7:] for row in of_grep.rows[1:]] == [["95 %", "29 %", "30 %"]]
    assert [list(row)[7:] for row in of_scan.rows] == [["80 %", "50 %", "80 %"]]
    assert [(str(one.verdict), one.because) for one in found.claims] == [
        ("agrees", "grep on disk 99 %"),
        ("agrees", "grep that computes on disk 29 %"),
        ("agrees", "grep on disk 99 %"),
        ("differs", "grep that computes on disk 95 %, table scan on moosefs 80 %"),
        ("differs", "4 of 6 runs"),
        (
            "agrees",
            "in the order that was predicted: grep: disk 10.1 s; grep that computes: disk 21.0 s; "
            "table scan: moosefs 10.0 s",
        ),
        (
            "agrees",
            "in the order that was predicted: grep: disk 10.1; grep that computes: disk 21.0; "
            "table scan: moosefs 25.0",
        ),
    ]
    assert found.figure.startswith("<svg")


@pytest.mark.parametrize(
    ("slow", "fast", "verdict"), [(10.0, 5.0, "agrees"), (4.0, 5.0, "differs")]
)
def test_a_ranking_holds_where_ranges_do_not_overlap(
    slow: float, fast: float, verdict: str
) -> None:
    found = outcome(
        (case("grep", "disk", 10, 10), [slow]),
        (case("grep", "fast-disk", 5, 5), [fast]),
        (case("grep", "moosefs", 5.1, 5.1), [4.9]),  # may be faster or slower than the fast one
    )
    by_time, by_price = found.claims[-2:]
    assert (str(by_time.verdict), by_time.because) == (
        verdict,
        f"in the order that was predicted: grep: fast-disk {fast} s, moosefs 4.9 s, disk {slow} s",
    )
    assert (str(by_price.verdict), by_price.because) == (
        verdict,
        f"in the order that was predicted: grep: fast-disk 7.5, disk {slow}, moosefs 12.2",
    )


def test_what_the_paper_has_not_is_empty() -> None:
    [table] = outcome((case("count of words", "disk", 5, 5), [5.0])).tables
    assert (table.title, table.rows[0][-1]) == ("Held out: predicted and measured times", "")


def test_what_was_not_measured_is_no_claim() -> None:
    found = conclude(PredictResult([case("grep", "disk", 1, 1)], [], [], []))
    assert found.tables == []
    assert {str(one.verdict) for one in found.claims} == {"cannot be compared"}


@pytest.mark.parametrize("times", [[5.0], [5.0, 5.0, 5.0]])
def test_a_single_repeat_has_no_interval(times: list[float]) -> None:
    [table] = outcome((case("grep", "disk", 5, 5), times)).tables
    assert table.rows[0][3] == ("" if len(times) == 1 else "5.00 to 5.00")


def test_jobs_on_other_clusters() -> None:
    def of(job: str, nodes: int, time: int) -> PredictedJobCase:
        ns = (time * SECOND, (time - 2) * SECOND, (time + 2) * SECOND)
        return PredictedJobCase(job, nodes, 20_000_000, "run", *ns)

    cases = [of("identity", 4, 20), of("identity", 8, 16), of("wordcount", 4, 10)]
    times = {("identity", 4): [20.0, 21.0], ("identity", 8): [20.0], ("wordcount", 4): [10.0]}
    measured = [
        MeasuredJob(job, nodes, 20_000_000, number, each)
        for (job, nodes), some in times.items()
        for number, each in enumerate(some, 1)
    ]
    found = conclude(PredictResult([], [], cases, measured))
    [table] = found.tables
    assert list(table.rows[0]) == [
        *("identity", "4", "20 MB/s", "20.5 s", "14.15 to 26.85", "20.0 s", "18.0 to 22.0"),
        *("98 %", "70 %"),
    ]
    assert [row[-1] for row in table.rows] == ["70 %", "70 %", "31 %"]
    assert [(str(one.verdict), one.because) for one in found.claims[-3:]] == [
        ("differs", "4 nodes with 20 MB/s 98 %, 8 nodes with 20 MB/s 80 %"),
        ("agrees", "4 nodes with 20 MB/s 100 %"),
        ("differs", "2 of 3"),
    ]


@pytest.mark.parametrize("text", ["4,x", "0", "4,4", "17", "4,,2"])
def test_clusters_that_cannot_be(text: str) -> None:
    with pytest.raises(UserError, match=f"clusters={text} is not allowed"):
        node_counts({"clusters": text})
    assert node_counts({"clusters": ""}) == []
