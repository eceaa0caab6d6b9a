"""Rules on HBase: what is no cause, what a server alone shows, and whose settings are advised."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MS, PROGRAM, did
from iostrata.store.tests.made import START, process

KB = 1 << 10
REGION = {"category": "region"}
SERVER = process("HRegionServer", 2, proc=1, host="node", start=START, end=PROGRAM["end"], cpu=MS)


def of_client(op: str, calls: int, each: int) -> dict[str, Any]:
    return did("hbase", op, calls, each, **REGION)


@pytest.mark.parametrize(
    "healthy",
    [
        # lists of rows, with a single one now and then
        [of_client("put", 400, MS), of_client("put_list", 5000, 3 * MS)],
        # a hundred rows at a time, and single rows that are read by their key
        [of_client("fetch_rows", 5000, 3 * MS), of_client("next_row", 500_000, 0)],
        [of_client("get_row", 20_000, MS)],
    ],
)
def test_what_hbase_is_made_for_is_no_cause(facts_of: Made, healthy: list[dict[str, Any]]) -> None:
    assert explain(facts_of(healthy)) == []


def test_a_server_alone_shows_single_rows_and_short_scans(facts_of: Made) -> None:
    events = [
        did("hbase", op, calls, each, "HRegionServer", **REGION)
        for op, calls, each in (
            ("mutate", 10_000, 2 * MS), ("multi", 10, MS),
            ("scan", 10_000, MS), ("next", 12_000, 0), ("get", 2000, 0),
            # its own
            ("put", 12, MS), ("fetch_rows", 12, MS), ("next_row", 12, MS),
        )
    ]  # fmt: skip
    found = [finding.seen for finding in explain(facts_of(events, processes=[SERVER]))]
    assert found == [
        "10 000 rows were written to HBase one a request, which took 20.00 s",
        "scans asked HBase 10 000 times for 1.0 rows on average, which took 10.00 s",
    ]


def test_small_reads_of_store_files_are_a_matter_of_the_block_cache(facts_of: Made) -> None:
    small = {"bytes": 20_000 * KB, "size_class": 11}
    read = did("java", "read", 20_000, MS, "HRegionServer", category="hfile", **small)
    (found,) = explain(facts_of([read], processes=[SERVER]))
    assert found.rule == "small-reads"
    assert [change.setting for change in found.change] == ["hfile.block.cache.size", ""]


@pytest.mark.parametrize(
    ("main", "used", "setting"),
    [
        ("org.apache.hadoop.hbase.PerformanceEvaluation", [], "-Xmx in HBASE_OPTS"),
        ("site.ycsb.Client", [of_client("get_row", 10, MS)], "-Xmx in HBASE_OPTS"),
        ("site.ycsb.Client", [], "-Xmx"),
    ],
)
def test_a_client_of_hbase_is_known_by_its_class_or_by_what_it_calls(
    facts_of: Made, main: str, used: list[dict[str, Any]], setting: str
) -> None:
    pauses = did("jvm", "gc_pause", 300, 50 * MS)
    (found,) = explain(facts_of([pauses, *used], processes=[{**PROGRAM, "main": main}]))
    assert (found.rule, found.change[0].setting) == ("gc-bound", setting)
