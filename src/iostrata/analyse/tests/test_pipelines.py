from __future__ import annotations

from typing import Any

import pytest

from iostrata.analyse.pipelines import (
    LostDataNode,
    PipelineFailure,
    blocks_of,
    departure,
    lost_datanodes,
    pipeline_failures,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, process, row_of_call

CLIENT, A, B = 1, "10.0.0.1:9866", "10.0.0.2:9866"


def at(second: float) -> int:
    return START + int(second * SECOND)


def call(layer: str, op: str, target: str, begin: float, end: float, **more: Any) -> dict[str, Any]:
    """A call of the client, in seconds of the run."""
    given = {"start": at(begin), "dur": at(end) - at(begin), "proc": CLIENT, "trace": CLIENT}
    return row_of_call(layer, op, target, **{**given, "role": "client", "host": "a", **more})


def setup(
    file: str, begin: float, end: float, *dropped: str, span: int = 7, taken: bool = True
) -> list[dict[str, Any]]:
    """A pipeline that is set up again without some DataNodes; `taken`: by the NameNode."""
    names = [(node, begin + (end - begin) * n / 10) for n, node in enumerate(dropped, 1)]
    updated = call("rpc", "call", "ClientProtocol.updatePipeline", end - 0.1, end, parent=span)
    return [
        call("hdfs", "set_up_pipeline", file, begin, end, span=span),
        *(
            call("hdfs", "check_pipeline", file, when, when, peer=node, parent=span)
            for node, when in names
        ),
        *([updated] if taken else []),
    ]


def served(proc: int, kind: str = "unfinished") -> dict[str, Any]:
    """A block that a DataNode was given by the client."""
    given = {"kind": kind, "role": "DataNode", "proc": proc}
    return call("datanode", "write_block", "BP-1", 0, 9, **given)


def datanode(proc: int, end: float, how: str = "killed") -> dict[str, Any]:
    return process(
        "DataNode", proc, proc=proc, host=f"node{proc}", start=START, end=at(end), exit=how
    )


def test_a_datanode_that_died_and_how_long_the_writer_waited(traced: Traced) -> None:
    # GIVEN a flush that began 2 s before the failure was noticed, and writes before and behind
    engine = traced(
        [
            call("fs", "write", "/a", 1, 1.5),
            call("hdfs", "sync", "/a", 8, 10.75),
            call("fs", "write", "/a", 11, 11.5),
            *setup("/a", 10, 10.5, A),
            served(3),
            served(4, "begin"),
        ],
        processes=[datanode(3, 9.75), datanode(4, 0, "running")],
    )
    (failure,) = engine.records(pipeline_failures(), PipelineFailure)
    assert (failure.recovery, failure.recovered, failure.failed) == (SECOND // 2, True, False)
    assert failure.held == int(2.5 * SECOND)
    (lost,) = engine.records(lost_datanodes(), LostDataNode)
    assert departure(lost, START) == f"DataNode {A} on node3 died at 9.75 s"
    assert blocks_of(lost) == "1 block, /a"
    assert (lost.recovered, lost.failed, lost.held) == (1, 0, int(2.5 * SECOND))
    # AND of other roles none left
    assert engine.records(lost_datanodes(["map"]), LostDataNode) == []


def test_a_write_that_failed(traced: Traced) -> None:
    """Both DataNodes of its pipeline died; which process was which, nobody knows."""
    failed = call("hdfs", "sync", "/a", 8, 10.5, error="java.io.IOException")
    engine = traced(
        [failed, *setup("/a", 10, 10.25, A, B, taken=False), served(3), served(4)],
        processes=[datanode(3, 9.5), datanode(4, 9.75)],
    )
    found = engine.records(lost_datanodes(), LostDataNode)
    assert [departure(one, START) for one in found] == [
        f"DataNode {A} died at 9.50 s",
        f"DataNode {B} died at 9.50 s",
    ]
    assert [(one.recovered, one.failed) for one in found] == [(0, 1), (0, 1)]
    # the flush waited once
    assert sum(one.held for one in found) == int(2.25 * SECOND)


@pytest.mark.parametrize(
    "processes",
    [
        [],
        [datanode(3, 9.75, "running")],
        [datanode(3, 9.75, "killed") | {"traced": False}],
        [datanode(5, 9.75)],  # which the client did not write to
        [datanode(3, 30)],
    ],
    ids=["untraced", "runs on", "its calls are not read", "of another", "later"],
)
def test_a_datanode_that_only_its_client_knows(
    traced: Traced, processes: list[dict[str, Any]]
) -> None:
    engine = traced([*setup("/a", 10, 10.5, A), served(3)], processes=processes)
    (lost,) = engine.records(lost_datanodes(), LostDataNode)
    assert departure(lost, START) == f"DataNode {A} left the write pipeline at 10.05 s"
    # AND the calls of the writer were summed: what is known is how long the set-up took
    assert lost.held == SECOND // 2


def test_of_two_that_failed_one_process_died(traced: Traced) -> None:
    """Nobody knows which of them it was, so of neither it is said."""
    engine = traced([*setup("/a", 10, 10.5, A, B), served(3)], processes=[datanode(3, 9.75)])
    found = engine.records(lost_datanodes(), LostDataNode)
    assert [(one.datanode, one.fate, one.host) for one in found] == [
        (A, "left", None),
        (B, "left", None),
    ]


def test_a_datanode_that_was_stopped_left_several_pipelines(traced: Traced) -> None:
    engine = traced(
        [
            *setup("/a", 10, 10.5, A),
            *setup("/b", 11, 11.25, A, span=8),
            *setup("/b", 14, 14.25, A, span=9, taken=False),
            served(3, "call"),
        ],
        processes=[datanode(3, 9.75, "ended")],
    )
    (lost,) = engine.records(lost_datanodes(), LostDataNode)
    assert departure(lost, START) == f"DataNode {A} on node3 ended at 9.75 s"
    assert blocks_of(lost) == "3 blocks, /a and 1 more file"
    # of the third neither end is known
    assert (lost.recovered, lost.failed, lost.recovery) == (2, 0, SECOND // 2)


def test_a_block_that_was_begun_anew(traced: Traced) -> None:
    """A DataNode that was down already: the NameNode gives blocks, two of them in vain; of the last
    one the writer has an error, as it is asked for no more.
    """
    stream = {"parent": 5}
    asked = [call("rpc", "call", "ClientProtocol.addBlock", n, n + 0.5, **stream) for n in (9, 11)]
    first, last = (
        [one | (stream if one["op"] == "set_up_pipeline" else {}) for one in made]
        for made in (
            setup("/a", 10, 10.5, A, taken=False),
            setup("/a", 12, 12.5, B, span=8, taken=False),
        )
    )
    closed = call("hdfs", "close", "/a", 9, 13, error="java.io.IOException")
    engine = traced([*asked, *first, *last, closed])
    found = engine.records(lost_datanodes(), LostDataNode)
    assert [(one.datanode, one.recovered, one.moved, one.failed) for one in found] == [
        (A, 0, 1, 0),
        (B, 0, 0, 1),
    ]


def test_a_pipeline_without_failure_is_none(traced: Traced) -> None:
    """An append sets a pipeline up, and finds no DataNode that failed."""
    append = [
        call("hdfs", "set_up_pipeline", "/a", 1, 1.5, span=7),
        call("hdfs", "check_pipeline", "/a", 1, 1.1, parent=7),
        call("rpc", "call", "ClientProtocol.updatePipeline", 1.4, 1.5, parent=7),
        served(3),
    ]
    engine = traced(append, processes=[datanode(3, 2)])
    assert engine.records(pipeline_failures(), PipelineFailure) == []
    assert engine.records(lost_datanodes(), LostDataNode) == []
