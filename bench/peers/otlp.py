"""A loopback receiver of OTLP over HTTP that only keeps what it gets, and counts it afterwards."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

# opentelemetry/proto/collector/trace/v1/trace_service.proto and trace.proto, field numbers.
RESOURCE_SPANS, SCOPE_SPANS, SPANS, NAME = 1, 2, 2, 5
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class Receiver:
    """Takes POSTs on a free port of 127.0.0.1; a context manager."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # exporters keep their connections

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:
                    self.close_connection = True  # its sender was killed: no receiver has its spans
                    return
                bodies.append(body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def take(self) -> tuple[int, Counter[str]]:
        """Bytes received since the last call, and the spans in them by name."""
        taken = self.bodies[:]
        del self.bodies[: len(taken)]
        names = Counter(name for body in taken for name in span_names(body))
        return sum(map(len, taken)), names


def span_names(body: bytes) -> Iterator[str]:
    """The names of the spans of an ExportTraceServiceRequest. Raises ValueError if it is none."""
    for resource in _fields(body, RESOURCE_SPANS):
        for scope in _fields(resource, SCOPE_SPANS):
            for span in _fields(scope, SPANS):
                yield next(_fields(span, NAME), b"").decode()


def _fields(message: bytes, wanted: int) -> Iterator[bytes]:
    """The values of one length-delimited field of a protobuf message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == LENGTH:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError(f"a field of {size} B at {at} of {len(message)}")
            if key >> 3 == wanted:
                yield message[at : at + size]
            at += size
        elif kind == VARINT:
            _, at = _varint(message, at)
        elif kind in (FIXED64, FIXED32):
            at += 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind} at {at}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("ends within a number")
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
