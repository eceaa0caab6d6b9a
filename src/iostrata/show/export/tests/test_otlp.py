"""Spans, through a real collector of OpenTelemetry (rotel) and as lines of a file."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rotel
from bench.peers import otlp as loopback
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from iostrata.show.export.otlp import batches, request
from iostrata.show.export.otlp_client import OtlpClient
from iostrata.show.export.selection import Selection
from iostrata.show.export.source import Source, identity
from iostrata.show.export.tests.runs import CALLS, HOSTILE, MS, call, export, free_port, make
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START


@contextmanager
def collector(behind: str) -> Iterator[str]:
    """Its endpoint; when it has ended, `behind` has all that it received."""
    ports = {name: free_port() for name in ("http", "grpc")}
    command = [str(Path(rotel.__file__).with_name("rotel-agent")), "start"]
    for name, port in ports.items():
        command += [f"--otlp-{name}-endpoint", f"127.0.0.1:{port}"]
    command += ["--exporter", "otlp", "--otlp-exporter-protocol", "http"]
    command += ["--otlp-exporter-endpoint", behind]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        while running.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", ports["http"])) == 0:
                    break
        yield f"http://127.0.0.1:{ports['http']}"
    finally:
        running.terminate()
        said, _ = running.communicate(timeout=30)
    assert running.returncode == 0, said.decode()


def through_a_collector(store: Path) -> list[Any]:
    """ResourceSpans that arrive behind it."""
    with loopback.Receiver() as behind:
        with (
            collector(behind.endpoint) as endpoint,
            OpenedRun(find_run(store, "r")) as opened,
            OtlpClient(endpoint) as client,
        ):
            for batch in batches(Source(opened, Selection())):
                client.send(request("r", batch))
        assert client.rejected == 0
        bodies = [gzip.decompress(body) for body in behind.bodies]
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    return [resource for made in requests for resource in made.resource_spans]


def values(attributes: Any) -> dict[str, str | int]:
    found = {}
    for attribute in attributes:
        value = attribute.value
        text = value.HasField("string_value")
        found[attribute.key] = value.string_value if text else value.int_value
    return found


def spans(resources: list[Any]) -> dict[str, Any]:
    """By layer, operation and begin in ms."""
    return {
        f"{span.name} {(span.start_time_unix_nano - START) / MS:g}": span
        for resource in resources
        for scope in resource.scope_spans
        for span in scope.spans
    }


def test_a_collector_receives_every_call_and_its_cause(tmp_path: Path) -> None:
    make(tmp_path)
    resources = through_a_collector(tmp_path)
    found = spans(resources)
    ids = {span.span_id: name for name, span in found.items()}
    assert {name: ids.get(span.parent_span_id) for name, span in found.items()} == {
        "fs.write 0": None,
        "hdfs.write 10": "fs.write 0",
        "java.send 15": "hdfs.write 10",
        "datanode.receive_block 20": "hdfs.write 10",
        "java.write 30": "datanode.receive_block 20",
        "java.read 110": None,
        "java.open 120": None,
        "java.read 130": None,
    }
    assert len(ids) == CALLS
    assert len({span.trace_id for span in found.values()}) == 1
    block = found["datanode.receive_block 20"]
    assert (block.kind, block.end_time_unix_nano - block.start_time_unix_nano) == (2, 50 * MS)
    assert [(link.span_id, values(link.attributes)) for link in block.links] == [
        (block.parent_span_id, {"iostrata.waited": 4 * MS})
    ]
    assert values(block.attributes) == {
        "iostrata.layer": "datanode",
        "iostrata.op": "receive_block",
        "iostrata.block": 77,
        "iostrata.target": "/a",
        "iostrata.category": "file",
        "iostrata.bytes": 4096,
        "iostrata.job": "job_1_0001",
        "thread.id": 7,
        "thread.name": "DataXceiver",
    }
    failed = found["java.open 120"]
    assert (failed.status.code, failed.status.message) == (2, "java.io.FileNotFoundException")
    assert values(failed.attributes)["error.type"] == "java.io.FileNotFoundException"


def test_a_process_is_a_resource(tmp_path: Path) -> None:
    make(tmp_path)
    found = [values(resource.resource.attributes) for resource in through_a_collector(tmp_path)]
    assert {str(made["host.name"]): made for made in found} == {
        host: {
            "service.name": role,
            "service.namespace": "iostrata",
            "host.name": host,
            "service.instance.id": f"{identity(host, proc):016x}",
            "process.pid": 100,
            "process.command": main,
            "iostrata.run": "r",
        }
        for host, proc, role, main in [
            ("node1", 1, "map", "YarnChild"),
            ("node2", 2, "DataNode", "DataNode"),
        ]
    }


def test_lines_of_a_file_say_the_same(tmp_path: Path) -> None:
    make(tmp_path)
    written, data = export(tmp_path, "otlp")
    lines = [json.loads(line) for line in data.splitlines()]
    said = {}
    for line in lines:
        for resource in line["resourceSpans"]:
            for span in resource["scopeSpans"][0]["spans"]:
                said[span["spanId"]] = span
    sent = spans(through_a_collector(tmp_path)).values()
    assert written == len(said) == len(sent)
    for span in sent:
        line = said[span.span_id.hex()]
        assert line["traceId"] == span.trace_id.hex()
        assert line.get("parentSpanId", "") == span.parent_span_id.hex()
        assert (line["name"], line["kind"]) == (span.name, span.kind)
        assert line["startTimeUnixNano"] == str(span.start_time_unix_nano)
        assert line["endTimeUnixNano"] == str(span.end_time_unix_nano)
        assert attributes(line["attributes"]) == values(span.attributes)
        assert line.get("status", {}).get("message", "") == span.status.message
        assert [
            (link["spanId"], attributes(link["attributes"])) for link in line.get("links", [])
        ] == [(link.span_id.hex(), values(link.attributes)) for link in span.links]


def attributes(said: list[dict[str, Any]]) -> dict[str, str | int]:
    return {
        made["key"]: int(made["value"]["intValue"])
        if "intValue" in made["value"]
        else made["value"]["stringValue"]
        for made in said
    }


def test_ids_are_always_the_same(tmp_path: Path) -> None:
    make(tmp_path)
    assert export(tmp_path, "otlp") == export(tmp_path, "otlp")
    assert b'"spanId":"%016x"' % identity(1, 2) in export(tmp_path, "otlp")[1]


def test_what_names_hold_is_data(tmp_path: Path) -> None:
    make(tmp_path, [call("java.read", 1, 0, 1, target=HOSTILE, thread=HOSTILE)])
    (span,) = spans(through_a_collector(tmp_path)).values()
    assert values(span.attributes)["thread.name"] == HOSTILE
    line = json.loads(export(tmp_path, "otlp")[1])
    (said,) = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert attributes(said["attributes"])["iostrata.target"] == HOSTILE
