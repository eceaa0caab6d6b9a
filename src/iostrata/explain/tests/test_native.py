"""Advice for programs that are no JVM."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import US, did

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
