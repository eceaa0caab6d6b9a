"""Reading what other tracers write, and the tables of the page."""

from __future__ import annotations

import json
import re
import socket
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench.peers import known, page, tools
from bench.peers.known import SPANS, Truth
from bench.peers.otlp import Receiver, span_names

from iostrata.schema.points import POINTS


def field(number: int, value: bytes) -> bytes:
    size = len(value)
    head = bytes([number << 3 | 2])
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return head + length + value


def export(*names: str) -> bytes:
    """An ExportTraceServiceRequest as the exporter sends it: ids, times and a name a span."""
    spans = b"".join(
        field(2, field(1, b"t" * 16) + field(2, b"s" * 8) + field(5, name.encode()) + b"\x30\x03"
              + b"\x39" + b"\0" * 8)
        for name in names
    )  # fmt: skip
    scope = field(1, field(1, b"io.opentelemetry.methods"))
    resource = field(1, field(1, field(1, b"service.name") + field(2, b"\x0a\x01x")))
    return field(1, resource + field(2, scope + spans))


def test_spans_are_counted_by_name() -> None:
    body = export("DFSInputStream.read", "Client.call") + export("Client.call")
    assert [*span_names(body)] == ["DFSInputStream.read", "Client.call", "Client.call"]
    assert [*span_names(b"")] == []


@pytest.mark.parametrize("body", [export("a.b")[:-3], b"\x0a", b"\x0f\x01"])
def test_what_is_no_export_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"a field of|ends within|wire type"):
        list(span_names(body))


def test_the_receiver_counts_what_was_posted() -> None:
    with Receiver() as receiver:
        for names in (("a.b",), ("a.b", "c.d")):
            order = urllib.request.Request(f"{receiver.endpoint}/v1/traces", export(*names))
            with urllib.request.urlopen(order, timeout=5) as answer:
                assert answer.status == 200
        size, found = receiver.take()
        assert size == len(export("a.b")) + len(export("a.b", "c.d"))
        assert found == {"a.b": 2, "c.d": 1}
        assert receiver.take() == (0, {})


def test_what_a_killed_sender_had_not_finished_is_nobodys() -> None:
    with Receiver() as receiver:
        host, port = receiver.endpoint.removeprefix("http://").split(":")
        body = export("a.b")
        with socket.create_connection((host, int(port)), timeout=5) as sender:
            head = f"POST /v1/traces HTTP/1.1\r\nContent-Length: {len(body) + 1}\r\n\r\n"
            sender.sendall(head.encode() + body)
            sender.shutdown(socket.SHUT_WR)
            assert sender.recv(1) == b""
        assert receiver.take() == (0, {})


def test_spans_of_htrace_follow_one_another(tmp_path: Path) -> None:
    spans = [{"a": "1", "b": 1, "d": "mkdir", "n": {"path": "/}{"}}, {"a": "2", "d": "getFileInfo"}]
    text = f"{json.dumps(spans[0])}\n{json.dumps(spans[1])}{json.dumps(spans[1])}"
    (tmp_path / "spans").write_text(text + '{"a":"4","d":"cut o')
    assert tools.htrace_spans(tmp_path) == {"mkdir": 1, "getFileInfo": 2}
    facts = tools.htrace_facts(tmp_path)
    assert (facts["events"], facts["bytes"]) == (3, len(text) + 19)
    assert tools.htrace_facts(tmp_path)["events"] == 0


def test_opentelemetry_has_the_methods_of_the_point_table() -> None:
    included = dict(re.findall(r"([\w.$]+)\[([\w,]+)\];", tools.methods(hot=False)))
    assert "read" in included["org.apache.hadoop.hdfs.DFSInputStream"].split(",")
    assert "org.apache.hadoop.fs.FSDataOutputStream$PositionCache" not in included
    everything = dict(re.findall(r"([\w.$]+)\[([\w,]+)\];", tools.methods(hot=True)))
    # neither constructors nor what Scala's compiler has named with dollars
    named = [p for p in POINTS if p.method.isidentifier()]
    assert set(everything) == {p.cls for p in named if p.mode in ("call", "counted", "record")}


def test_the_program_says_what_it_did() -> None:
    said = "log\nKNOWN Socket send\t1000\t4096\t39091\nKNOWN killed hdfs read\t2\t4096\t/a b\nend"
    assert known.truths(said) == [
        Truth("Socket send", 1000, "39091"),
        Truth("killed hdfs read", 2, "/a b"),
    ]
    source = known.SOURCE.read_text("utf-8")
    kinds = set(re.findall(r'(?:say|writeHdfs)\([^;]*?"((?:\w+[. ])?\w+[. ]\w+)"', source))
    assert kinds - {"killed FileInputStream.read"} <= set(SPANS)
    assert len(kinds) > 10


def test_spans_are_counted_by_kind() -> None:
    names = Counter({"DFSOutputStream#write": 3, "PositionCache.write": 4, "x": 9})
    assert known.spans_seen(names)["hdfs write"] == 7
    assert known.spans_seen(names)["Socket send"] == 0


MACHINE = {"date": "2026-11-22T02:00:00Z", "cpus": 2, "model": "M", "java": "J", "commit": "c" * 40}
COST: dict[str, Any] = {
    "job": "TeraSort",
    "megabytes": 64.0,
    "added": {"estimate": 0.0123, "low": -0.004, "high": 0.029, "n": 10, "detectable": 0.02},
    "events": 12345.0,
    "bytes_per_event": 16.54,
}
ONE: dict[str, Any] = {
    **COST,
    "added": {"estimate": 0.5, "low": None, "high": None, "n": 1, "detectable": None},
    "events": None,
    "bytes_per_event": None,
}
EXPECTED = """\
Measured 2026-11-22 on 2 cores (M), J, commit cccccccccc.

| tool | job | pairs | CPU added to the cluster (95 %) | operations kept | B/operation |
|---|---|---|---|---|---|
| JFR | TeraSort, 64 MB | 10 | +1.2% (-0.4% to +2.9%) | 12 345 | 16.5 |
| HTrace | TeraSort, 64 MB | 1 | +50.0% | – | – |

| operation | JFR |
|---|---|
| hdfs read | 0 of 1000 |
| hdfs read before a `kill -9` | 7 of 9 |
"""


def test_the_tables_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"tool": "jfr", "kind": "hdfs read", "truth": 1000, "seen": 0},
        {"tool": "jfr", "kind": "killed hdfs read", "truth": 9, "seen": 7},
    ]
    for name, found in (("jfr", [COST]), ("htrace", [ONE]), ("known", rows)):
        text = json.dumps({"machine": MACHINE, "found": found})
        (tmp_path / f"peers-{name}.json").write_text(text)
    assert page.tables(tmp_path) == EXPECTED
    copy = tmp_path / "peers.md"
    copy.write_text(f"above\n{page.BEGIN}\nold\n{page.END}\nbelow\n")
    monkeypatch.setattr(page, "PAGE", copy)
    page.write(tmp_path)
    assert copy.read_text() == f"above\n{page.BEGIN}\n\n{EXPECTED}\n{page.END}\nbelow\n"


def test_the_page_has_its_marks() -> None:
    text = page.PAGE.read_text("utf-8")
    assert text.count(page.BEGIN) == 1
    assert text.count(page.END) == 1
