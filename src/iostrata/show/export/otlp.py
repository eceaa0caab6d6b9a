"""Spans of OpenTelemetry: lines of OTLP JSON in a file, or protobuf to a receiver over HTTP.

A trace is all that one process began, its id derived from the run and that process; ids of spans
are derived from process and span: the same run always gives the same ids. The parent of a span is
what caused it, in whatever thread or process; where that is another one, a link says so, too, and
how long the work waited to be taken up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, BinaryIO, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from iostrata.show.export.source import Call, CallOrder, Source, identity

Facts = list[tuple[str, str | int]]
# Spans of a request: some 400 B each, and receivers refuse more than 4 MiB.
_SPANS = 2000
# Attributes that are made once, as most say the same many times.
_KNOWN = 1 << 16
# By names of columns; the others are `iostrata.NAME`.
_CONVENTIONS = {"error": "error.type", "peer": "server.address"}


class Batch(NamedTuple):
    """Calls of one process, and what is known of it."""

    resource: Facts
    calls: tuple[Call, ...]


def write(source: Source, out: BinaryIO) -> int:
    """Writes a line per batch, as the file exporter of OpenTelemetry does; how many spans."""
    spans = 0
    for batch in batches(source):
        texts = ",".join(_text(source.run.name, call) for call in batch.calls)
        out.write(
            f'{{"resourceSpans":[{{"resource":{{"attributes":{_texts(batch.resource)}}},'
            f'"scopeSpans":[{{"scope":{{"name":"iostrata"}},"spans":[{texts}]}}]}}]}}\n'.encode()
        )
        spans += len(batch.calls)
    return spans


def batches(source: Source) -> Iterator[Batch]:
    """The calls, process by process."""
    processes = source.processes()
    by_process = groupby(source.calls(CallOrder.threads), lambda call: (call.host, call.proc))
    for (host, proc), calls in by_process:
        while some := tuple(islice(calls, _SPANS)):
            process = processes.get(proc)
            facts = {
                "service.name": some[0].role or "process",
                "service.namespace": "iostrata",
                "service.instance.id": f"{identity(host, proc):016x}",
                "host.name": host,
                "process.pid": some[0].pid,
                "process.command": process and process.main,
                "container.id": process and process.container,
                "iostrata.run": source.run.name,
            }
            yield Batch([(name, value) for name, value in facts.items() if value], some)


def request(run: str, batch: Batch) -> ExportTraceServiceRequest:
    """What a receiver takes."""
    made = ExportTraceServiceRequest()
    resource = made.resource_spans.add()
    resource.resource.attributes.extend(_attribute(*fact) for fact in batch.resource)
    scope = resource.scope_spans.add()
    scope.scope.name = "iostrata"
    for call in batch.calls:
        _fill(scope.spans.add(), run, call)
    return made


def _fill(span: Span, run: str, call: Call) -> None:
    span.trace_id = bytes.fromhex(_trace(run, call.trace))
    span.span_id = bytes.fromhex(_id(call.proc, call.span))
    span.name = call.name
    span.kind = _kind(call)
    span.start_time_unix_nano, span.end_time_unix_nano = call.start, call.end
    if call.parent is not None:
        span.parent_span_id = bytes.fromhex(_id(call.parent_proc, call.parent))
    span.attributes.extend(_attribute(*fact) for fact in _facts(call))
    if call.error:
        span.status.code, span.status.message = Status.STATUS_CODE_ERROR, call.error
    if call.caused:
        link = span.links.add()
        link.trace_id, link.span_id = span.trace_id, span.parent_span_id
        link.attributes.extend(_attribute(*fact) for fact in _waited(call))


def _text(run: str, call: Call) -> str:
    """The span in OTLP's JSON: ids are hexadecimal, 64-bit numbers text."""
    trace = _trace(run, call.trace)
    parts = [
        f'"traceId":"{trace}","spanId":"{_id(call.proc, call.span)}"',
        f'"name":{_quoted(call.name)},"kind":{int(_kind(call))}',
        f'"startTimeUnixNano":"{call.start}","endTimeUnixNano":"{call.end}"',
        f'"attributes":{_texts(_facts(call))}',
    ]
    parent = "" if call.parent is None else _id(call.parent_proc, call.parent)
    if parent:
        parts.append(f'"parentSpanId":"{parent}"')
    if call.error:
        code = int(Status.STATUS_CODE_ERROR)
        parts.append(f'"status":{{"code":{code},"message":{_quoted(call.error)}}}')
    if call.caused:
        ids = f'"traceId":"{trace}","spanId":"{parent}"'
        parts.append(f'"links":[{{{ids},"attributes":{_texts(_waited(call))}}}]')
    return "{" + ",".join(parts) + "}"


def _facts(call: Call) -> Facts:
    facts: Facts = [("layer", call.layer), ("op", call.op)]
    facts += [fact for fact in call.facts() if fact[0] != "waited"]
    named: Facts = [(_CONVENTIONS.get(name) or f"iostrata.{name}", value) for name, value in facts]
    return [*named, ("thread.id", call.tid), ("thread.name", call.thread)]


def _waited(call: Call) -> Facts:
    return [] if call.waited is None else [("iostrata.waited", call.waited)]


def _kind(call: Call) -> Span.SpanKind.ValueType:
    if call.parent_proc != call.proc:
        return Span.SPAN_KIND_SERVER
    return Span.SPAN_KIND_CLIENT if call.name == "rpc.call" else Span.SPAN_KIND_INTERNAL


@lru_cache(_KNOWN)
def _trace(run: str, process: int) -> str:
    return f"{identity(run):016x}{identity(process):016x}"


def _id(proc: int, span: int) -> str:
    return f"{identity(proc, span):016x}"


@lru_cache(_KNOWN)
def _attribute(name: str, value: str | int) -> KeyValue:
    if isinstance(value, int):
        return KeyValue(key=name, value=AnyValue(int_value=value))
    return KeyValue(key=name, value=AnyValue(string_value=value))


@lru_cache(_KNOWN)
def _attribute_text(name: str, value: str | int) -> str:
    shown: Any = {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
    return _quoted({"key": name, "value": shown})


def _texts(facts: Facts) -> str:
    return f"[{','.join(_attribute_text(*fact) for fact in facts)}]"


def _quoted(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
