"""Advice for programs that are no JVM."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MS, US, did
from iostrata.store.tests.made import process

SMALL = {"size_class": 7, "bytes": 6_400_000, "category": "file"}
BYTES = {"size_class": 1, "bytes": 100_000, "category": "file"}


@pytest.mark.parametrize(
    ("rule", "op", "size"),
    [("small-reads", "read", SMALL), ("small-writes", "write", SMALL), ("bytewise", "read", BYTES)],
)
@pytest.mark.parametrize(("layer", "is_java"), [("java", True), ("posix", False)])
def test_only_a_jvm_is_advised_to_use_classes_of_java(
    facts_of: Made, rule: str, op: str, size: dict[str, Any], layer: str, is_java: bool
) -> None:
    found = explain(facts_of([did(layer, op, 100_000, 300 * US, **size)]))
    (one,) = (each for each in found if each.rule == rule)
    assert one.change
    assert any("Buffered" in each.what for each in one.change) == is_java


def test_ranks_are_advised_as_those_that_others_traced(facts_of: Made) -> None:
    """A file that ranks write together by MPI-IO: no setting of Hadoop is any help."""
    ranks = [process("program", pid, proc=pid, task=f"rank {pid}", jvm=None) for pid in (1, 2)]
    rows = [
        did("fs", "write", 2_000, 5 * MS, "program", proc=rank["proc"], target="/data/out", **SMALL)
        for rank in ranks
    ]
    found = explain(facts_of(rows, processes=ranks))
    advice = {each.rule: " ".join(change.what for change in each.change) for each in found}
    assert "collective writes of MPI-IO" in advice["shared-file"]
    assert "Buffered" not in advice["small-writes"]
