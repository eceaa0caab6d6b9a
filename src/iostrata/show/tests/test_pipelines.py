"""A DataNode that left write pipelines stands in the first lines of a summary, and in its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from iostrata.analyse.pipelines import LostDataNode
from iostrata.analyse.summary import Summary, summary
from iostrata.analyse.tests.test_pipelines import A, at, call, datanode, served, setup
from iostrata.explain.verdict import explanation
from iostrata.records import builtins
from iostrata.show.pipelines import lost_lines
from iostrata.show.report.document import document
from iostrata.show.screen import HEIGHT, screen_lines
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import SECOND, START, make_run, process, row_of_sum

CLIENT = process("client", 1, proc=1)


LINE = (
    f"DataNode {A} on node3 died at 9.75 s; the write pipeline recovered in 500.0 ms (1 block, /a)"
)


@contextmanager
def opened(store: Path, events: list[dict[str, Any]]) -> Iterator[OpenedRun]:
    make_run(store, "r", events, [CLIENT, datanode(3, 9.75)])
    with OpenedRun(find_run(store, "r")) as run:
        yield run


def read(store: Path, events: list[dict[str, Any]]) -> Summary:
    with opened(store, events) as run:
        return summary(run)


def lost(number: int = 1, **more: Any) -> LostDataNode:
    given = {"host": None, "fate": "left", "pipelines": 1, "recovered": 1, "moved": 0, "failed": 0}
    given |= {"files": 1, "file": "/a", "recovery": SECOND // 5, "held": SECOND, "at": at(number)}
    return LostDataNode(**{"datanode": f"10.0.0.{number}:9866", **given, **more})


def test_the_first_lines_name_it(tmp_path: Path) -> None:
    known = read(tmp_path, [*setup("/a", 10, 10.5, A), served(3)])
    assert summary_lines(known)[:3] == [
        "traced 2/2 processes, 0 dropped",
        LINE,
        "1 call still open when the process died",
    ]
    assert builtins(known)["lost_datanodes"] == [
        {
            "datanode": A, "host": "node3", "fate": "died", "at": at(9.75), "pipelines": 1,
            "recovered": 1, "moved": 0, "failed": 0, "files": 1, "file": "/a",
            "recovery": SECOND // 2, "held": SECOND // 2,
        }
    ]  # fmt: skip


def test_the_first_screen_has_it_however_much_is_missing(tmp_path: Path) -> None:
    sums = [row_of_sum(layer, "read") for layer in ("fs", "hdfs", "rpc", "datanode", "java")]
    with opened(tmp_path, [*setup("/a", 10, 10.5, A), served(3), *sums]) as run:
        known, why = summary(run), explanation(run)
    lines = screen_lines(replace(known, incomplete=[f"part {n}" for n in range(40)]), why)
    assert len(lines) <= HEIGHT
    assert any(line.startswith(f"DataNode {A} ") for line in lines)
    assert any(line.endswith(" lines more: iostrata summary --full") for line in lines)


def test_a_report_has_the_same_line(tmp_path: Path) -> None:
    with opened(tmp_path, [*setup("/a", 10, 10.5, A), served(3)]) as run:
        assert document(run).lost_datanodes == [LINE]


def test_a_run_without_failure_says_nothing(tmp_path: Path) -> None:
    """An append sets a pipeline up; and a DataNode that served nobody died."""
    known = read(tmp_path, [*setup("/a", 10, 10.5), call("fs", "write", "/a", 11, 12)])
    assert summary_lines(known)[1].startswith("run r")
    assert known.lost_datanodes == []


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (
            lost(),
            "DataNode 10.0.0.1:9866 left the write pipeline at 1.00 s; the write pipeline "
            "recovered in 200.0 ms (1 block, /a)",
        ),
        (
            lost(fate="died", host="far", recovered=0, failed=1),
            "DataNode 10.0.0.1:9866 on far died at 1.00 s; the write failed (1 block, /a)",
        ),
        (
            lost(recovered=0, recovery=None, file=None, files=0),
            "DataNode 10.0.0.1:9866 left the write pipeline at 1.00 s (1 block)",
        ),
        (
            lost(fate="ended", pipelines=3, recovered=3, files=3),
            "DataNode 10.0.0.1:9866 ended at 1.00 s; all of 3 write pipelines recovered, within "
            "200.0 ms each (3 blocks, /a and 2 more files)",
        ),
        (
            lost(pipelines=4, recovered=1, moved=1, failed=2, files=2),
            "DataNode 10.0.0.1:9866 left 4 write pipelines at 1.00 s; 1 of 4 write pipelines "
            "recovered, within 200.0 ms each, 1 block begun anew on other DataNodes, 2 writes "
            "failed (4 blocks, /a and 1 more file)",
        ),
        (
            lost(recovered=0, moved=1),
            "DataNode 10.0.0.1:9866 left the write pipeline at 1.00 s; the block was begun anew on "
            "other DataNodes (1 block, /a)",
        ),
    ],
    ids=["left", "failed", "unknown", "several", "some failed", "moved"],
)
def test_it_says_what_is_known(one: LostDataNode, line: str) -> None:
    assert lost_lines([one], START) == [line]


def test_three_are_named() -> None:
    lines = lost_lines([lost(number) for number in range(1, 6)], START)
    assert [line.split()[1] for line in lines[:3]] == [f"10.0.0.{n}:9866" for n in (1, 2, 3)]
    assert lines[3:] == ["and 2 more that left write pipelines (--json lists all)"]
