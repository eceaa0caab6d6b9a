from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, row_of_call, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import ClaimVerdict, Row, StudyRun
from iostrata_lab.studies.requests import FUNCTIONS
from iostrata_lab.studies.tests.made import sample

REQUESTS = STUDIES.named("requests")
MS = 1_000_000


def at(alpha: str, total: float, repeat: int = 1, **delays: float) -> StudyRun:
    """A run in which a request took `total` ms, and each function what `delays` says."""
    measured: Row = {
        name: {"calls": 3, "mean": delays[name] * MS, "p50": MS, "longest": 300 * MS}
        for name in delays
    }
    numbers = {"asked_per_s": 1, "achieved_per_s": 1, "completed": 9, "failed": 0, "not_started": 0}
    times = {"service_ms_mean": total, "service_ms_p50": total / 2}
    return sample(alpha, measured, repeat, **numbers, **times)


def three(*blocks: float) -> list[StudyRun]:
    """Of three rates; `sendBlock` takes what `blocks` says."""
    rates = ("0.001", "0.01", "0.1")
    return [
        at(rate, 40, createFileSystem=200, sendBlock=block, sendPacket=1, getBlockLocations=1)
        for rate, block in zip(rates, blocks, strict=True)
    ]


def test_the_functions_are_points_of_ours() -> None:
    points = {f"{point.layer}.{point.op}": point for point in POINTS}
    methods = {name: points[ours].method for name, ours in FUNCTIONS.items()}
    assert methods == {
        "createFileSystem": "createFileSystem",
        "sendBlock": "doSendBlock",
        "sendPacket": "sendPacket",
        "getBlockLocations": "getBlockLocations",
    }


def test_means_medians_and_the_longest_of_each_function(tmp_path: Path) -> None:
    events = [
        *(row_of_call("fs", "connect", "hdfs", dur=dur) for dur in (10, 10, 70)),
        row_of_sum("fs", "connect", count=2, max=10),
        row_of_sum("fs", "connect", count=1, max=70),
        row_of_call("datanode", "send_block", "b", dur=5),
        row_of_sum("datanode", "send_block", max=5),
        row_of_call("datanode", "receive_block", "b", dur=5),
        row_of_sum("datanode", "receive_block", max=5),
    ]
    make_run(tmp_path, "r", events, [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        assert REQUESTS.measure(opened) == {
            "createFileSystem": {"calls": 3, "mean": 30, "p50": 10, "longest": 70},
            "sendBlock": {"calls": 1, "mean": 5, "p50": 5, "longest": 5},
        }


def test_the_table_is_that_of_the_paper_with_medians_over_repeats() -> None:
    samples = [
        at("0.001", total, repeat, createFileSystem=200, sendBlock=block)
        for repeat, (total, block) in enumerate([(40, 5), (50, 900), (90, 6)], 1)
    ]
    ours, papers, *_ = REQUESTS.conclude(samples).tables
    assert ours.columns == ["function", "α = 0.001"]
    assert ours.rows == [
        ["createFileSystem", "200.0"],
        ["sendBlock", "6.000"],
        ["sendPacket", "0.000"],
        ["getBlockLocations", "0.000"],
        ["total", "50.0"],
        ["createFileSystem, the longest", "300.0"],
    ]
    assert [row[1] for row in papers.rows] == ["156.7", "5.4", "0.5", "8.8", "42.3"]


@pytest.mark.parametrize(
    ("blocks", "verdict"),
    [
        ((5, 1, 3), ClaimVerdict.agrees),
        ((5, 3, 1), ClaimVerdict.differs),  # it only falls
        ((1, 3, 5), ClaimVerdict.differs),  # it only rises
        ((5, 4.5, 4.6), ClaimVerdict.differs),  # by less than repeats differ by
    ],
)
def test_a_delay_falls_and_rises_again_or_does_not(
    blocks: tuple[float, ...], verdict: ClaimVerdict
) -> None:
    claims = REQUESTS.conclude(three(*blocks)).claims
    (claim,) = (claim for claim in claims if claim.says.startswith("sendBlock becomes"))
    assert claim.verdict == verdict


def test_what_mainly_causes_the_delay() -> None:
    def verdicts(*blocks: float) -> dict[str, str]:
        claims = REQUESTS.conclude(three(*blocks)).claims
        return {claim.says: claim.verdict for claim in claims}

    mainly = "the delay of a request is mainly caused by sendBlock"
    client = "the bottleneck is neither in NameNode nor in DataNode"
    assert verdicts(30, 25, 30)[mainly] == ClaimVerdict.agrees
    assert verdicts(30, 25, 30)[client] == ClaimVerdict.differs
    assert verdicts(1, 2, 3)[mainly] == ClaimVerdict.differs
    assert verdicts(1, 2, 3)[client] == ClaimVerdict.agrees
