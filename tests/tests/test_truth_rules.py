"""The rules of truth.py fail where they should: on too little, on too much, and on nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.truth import (
    Attempt,
    Block,
    Run,
    datanode_read_problems,
    failed,
    meta_bytes,
    meta_problems,
)

from iostrata.store.tests.made import make_run, row_of_sum

READ = 1000  # bytes of which two blocks have a part
MOST = READ + 2 * 2 * 511  # two chunks in part for each block


def read(store: Path, sent: int) -> Run:
    """A run in which DataNodes read two blocks for an attempt and sent so many bytes."""
    of = {"task": "a", "role": "DataNode", "bytes": sent}
    rows = [
        row_of_sum("datanode", "read_block", task="a", count=2),
        row_of_sum("datanode", "send_packet", **of),
        row_of_sum("java", "transfer", category="blk", **of),
    ]
    make_run(store, "r", rows)
    return Run(store, "r")


@pytest.mark.parametrize(
    ("sent", "fails"), [(READ - 1, True), (READ, False), (MOST, False), (MOST + 1, True)]
)
def test_datanodes_send_what_is_read_and_chunks(tmp_path: Path, sent: int, fails: bool) -> None:
    problems = list(datanode_read_problems(read(tmp_path, sent), [Attempt("a", READ, 0)]))
    assert failed(problems) == ({"packets sent", "block files"} if fails else set())


@pytest.fixture
def written(tmp_path: Path) -> Run:
    """A run in which a DataNode wrote the checksums of one block of 600 bytes."""
    where = {"task": "a", "role": "DataNode", "category": "blk_meta"}
    make_run(tmp_path, "r", [row_of_sum("java", "write", bytes=meta_bytes(600), **where)])
    return Run(tmp_path, "r")


@pytest.mark.parametrize(
    ("blocks", "rules"),
    [
        ([Block(1, 600, 1)], set()),
        ([Block(1, 600, 2)], {"block metadata"}),
        ([Block(1, 599, 1)], {"blocks"}),
        ([], {"blocks", "block metadata"}),
    ],
)
def test_checksums_are_those_of_all_blocks(
    written: Run, blocks: list[Block], rules: set[str]
) -> None:
    problems = list(meta_problems(written, [Attempt("a", 0, 600)], {"a": blocks}))
    assert failed(problems) == rules
    none = meta_problems(written, [Attempt("a", 0, 600)], {})
    assert failed(list(none)) == {"blocks", "block metadata"}
