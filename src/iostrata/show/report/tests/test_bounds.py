from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from iostrata.show.report import bounds
from iostrata.show.report.bounds import fitted, folded, shortened
from iostrata.show.report.page import example, page
from iostrata.show.report.tests.samples import SECOND, explained_example, full, node
from iostrata.show.totals import Row

trees = st.recursive(
    st.builds(lambda own: node("leaf", "fs", "read", own=own, bytes=own), st.integers(0, 9)),
    lambda below: st.builds(
        lambda own, nodes: node("inner", "hdfs", "read", *nodes, own=own, bytes=own),
        st.integers(0, 9),
        st.lists(below, max_size=4),
    ),
    max_leaves=40,
)


def every(tree: list[Row]) -> list[Row]:
    return [n for node in tree for n in [node, *every(node["below"])]]


def test_a_document_at_its_bounds_is_a_page_that_can_be_mailed() -> None:
    # GIVEN the most rows of everything, every name of 8,000 characters that are dear in JSON
    made = full()
    # THEN
    assert len(page(made).encode()) < 3_000_000
    # what did not fit is counted: the first of a list are kept, of the path the longest
    tasks, path = made["tasks"], made["critical"]
    assert 0 < len(tasks["rows"]) < bounds.MOST_TASKS
    assert len(tasks["rows"]) + tasks["more"] == bounds.MOST_TASKS + 1_000_000
    assert len(path["parts"]) + path["more"] == bounds.MOST_PARTS
    assert path["parts"] == sorted(path["parts"], key=lambda row: row["start"])
    assert len(made["findings"]) == bounds.MOST_FINDINGS


def test_what_fits_stays_as_it_is() -> None:
    made = example()
    assert {"tree", "critical", "findings"} <= made.keys()
    assert fitted(made) == made


def test_names_are_cut_in_the_middle_and_only_as_far_as_needed() -> None:
    made = explained_example()
    long = "/warehouse/" + "x" * 8000 + "/part-00000"
    made["targets"]["rows"][0]["target"] = long
    shown = fitted(made)["targets"]["rows"][0]["target"]
    assert shown == shortened(long)
    assert shown.startswith("/warehouse/xx")
    assert shown.endswith("xx/part-00000")
    assert len(shown) == 303


@given(st.lists(trees, max_size=4), st.integers(1, 12))
def test_a_folded_tree_keeps_its_sums(tree: list[Row], most: int) -> None:
    kept = folded(tree, most)
    before, after = every(tree), every(kept)
    for name in ("self", "bytes", "errors"):
        assert sum(n[name] for n in after) == sum(n[name] for n in before)
    # below every node that is kept stands all that stood there
    assert sum(n["total"] for n in kept) == sum(n["total"] for n in tree)
    for row in (n for n in after if not n.get("folded")):
        below = sum(child["total"] for child in row["below"])
        assert row["total"] == row["self"] + below
    # and every node is either shown or counted
    shown = [n for n in after if not n.get("folded")]
    assert len(shown) == min(most, len(before))
    assert len(shown) + sum(n.get("folded", 0) for n in after) == len(before)


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    deep: dict[str, Any] = node("leaf", "fs", "read", own=SECOND)
    for _ in range(5000):
        deep = node("call", "fs", "read", deep)
    kept = every(folded([deep], bounds.MOST_NODES))
    assert len(kept) == bounds.MOST_DEPTH + 1
    assert (kept[-1]["folded"], kept[-1]["self"]) == (5001 - bounds.MOST_DEPTH, SECOND)
