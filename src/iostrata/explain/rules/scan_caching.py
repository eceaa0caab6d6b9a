"""Scans of HBase that fetch a row or two with each request."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, by_workers, one, operation_sums
from iostrata.text import count, seconds

LEAST = 500  # requests
FEW = 10  # rows a request


@rule(
    title="Scans of HBase fetch few rows at a time",
    evidence=operation_sums(
        by_workers("hbase.fetch_rows", "hbase.next_row"),
        by_all("hbase.scan", "hbase.scan_region", "hbase.next", "hbase.get"),
    ),
    why="A scanner asks its RegionServer for more rows when it has given out those that it has. "
    "Each request is a round trip, however few rows it brings.",
    unless="a row has megabytes, or the program stops after the first rows of most scans.",
    explains=("rpc-queueing",),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    fetch, found = one(rows, "hbase.fetch_rows"), one(rows, "hbase.next_row").calls
    scan = one(rows, "hbase.scan")
    if fetch.calls * 2 < scan.calls:  # clients were not traced; a get, too, is a scan of one row
        fetch = scan
        found = one(rows, "hbase.next").calls - one(rows, "hbase.get").calls
    each = max(0, found) / max(1, fetch.calls)
    if fetch.calls < LEAST or each >= FEW:
        return None
    return Judgement(
        share=facts.share(fetch.time * (1 - each / FEW)),
        text=f"scans asked HBase {count(fetch.calls)} times for {each:.1f} rows on average, which "
        f"took {seconds(fetch.time)}",
        evidence=[
            Evidence("requests of scans", fetch.calls, "count"),
            Evidence("time of these requests", fetch.time, "ns"),
            Evidence("rows that they brought", max(0, found), "count"),
        ],
        change=[
            Change("fetch more rows at a time", "hbase.client.scanner.caching",
                   after="100"),
            Change("let no scan ask for less: no setCaching(1), a larger setMaxResultSize"),
            Change("read single rows with Table.get(List)"),
        ],
        gain=(0.6, 0.95),
    )  # fmt: skip
