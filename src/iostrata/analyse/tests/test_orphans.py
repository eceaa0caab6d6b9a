from __future__ import annotations

from iostrata.analyse.orphans import Orphans, orphans
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call


def test_calls_of_servers_whose_trace_begins_in_the_server(traced: Traced) -> None:
    own = {"role": "DataNode", "proc": 5, "trace": 5}
    calls = [
        row_of_call("datanode", "write", "a", bytes=10, **own),
        row_of_call("datanode", "read", "a", bytes=3, **own),
        row_of_call("java", "sync", "a", **{**own, "bytes": None}),
        row_of_call("datanode", "write", "a", bytes=99, **{**own, "trace": 4}),  # of a client
        row_of_call("java", "write", "a", bytes=99, **{**own, "role": "map"}),  # no server
    ]
    found = traced(calls).records(orphans().order_by("layer"), Orphans)
    assert found == [Orphans("datanode", 2, 13), Orphans("java", 1, 0)]
