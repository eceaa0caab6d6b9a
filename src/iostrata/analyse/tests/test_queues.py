from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.queues import NameNodeWait, Queue, namenode_waits, queues
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_sum


def link(layer: str, op: str, waited: int, role: str = "NameNode") -> dict[str, Any]:
    return {"kind": "link", "layer": layer, "op": op, "dur": waited, "role": role, "host": "n"}


EVENTS = [
    link("rpc", "handle", 5),
    link("rpc", "handle", 7),
    link("rpc", "respond", 1),
    link("namenode", "edit_synced", 400),
    link("namenode", "log_edit", 30),
    link("task", "serve", 90, "NodeManager"),
    row_of_sum("namenode", "write_lock", host="n", count=3, timed_dur=60, max=50),
    row_of_sum("namenode", "write_unlock", host="n", count=3, timed_dur=6, max=5),
    row_of_sum("namenode", "create", host="n", timed_dur=900),
]


def test_work_that_waited_for_its_thread(traced: Traced) -> None:
    names = ("role", "layer", "op", "waits", "time", "longest")
    found = traced(EVENTS).records(queues(), Queue)
    assert list(map(attrgetter(*names), found)) == [
        ("NameNode", "namenode", "edit_synced", 1, 400, 400),
        ("NodeManager", "task", "serve", 1, 90, 90),
        ("NameNode", "namenode", "log_edit", 1, 30, 30),
        ("NameNode", "rpc", "handle", 2, 12, 7),
        ("NameNode", "rpc", "respond", 1, 1, 1),
    ]


def test_what_requests_wait_for_in_a_namenode(traced: Traced) -> None:
    names = ("host", "what", "waits", "time", "longest")
    found = traced(EVENTS).records(namenode_waits(), NameNodeWait)
    assert list(map(attrgetter(*names), found)) == [
        ("n", "edit log on disk", 1, 400, 400),
        ("n", "lock to write", 3, 60, 50),
        ("n", "queue of edits", 1, 30, 30),
        ("n", "queue of calls", 2, 12, 7),
        ("n", "queue of answers", 1, 1, 1),
    ]
