"""What receivers answer, and what we say of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from iostrata.errors import UserError
from iostrata.show.export.otlp_client import OtlpClient
from iostrata.show.export.tests.runs import free_port

Answers = list[tuple[int, bytes]]
Start = Callable[[Answers], tuple[str, list[str]]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server that gives one answer after the other; its URL, and the paths asked for."""
    servers: list[HTTPServer] = []

    def started(answers: Answers) -> tuple[str, list[str]]:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                asked.append(f"{self.path} {self.headers['Content-Type']} {self.headers['Key']}")
                status, body = answers.pop(0)
                self.send_response(status)
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", asked

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


def send(endpoint: str, times: int = 1) -> int:
    with OtlpClient(endpoint, {"Key": "secret"}) as client:
        for _ in range(times):
            client.send(ExportTraceServiceRequest())
        return client.rejected


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_requests_go_to_the_path_of_traces(start: Start, path: str) -> None:
    url, asked = start([(200, b""), (200, b"{}")])
    assert send(url + path, times=2) == 0
    assert asked == ["/v1/traces application/x-protobuf secret"] * 2


def test_a_busy_receiver_is_asked_again(start: Start) -> None:
    url, asked = start([(503, b""), (429, b""), (200, b"")])
    assert send(url) == 0
    assert len(asked) == 3


def test_one_that_stays_busy_is_given_up(start: Start) -> None:
    url, asked = start([(503, b"")] * 9)
    with pytest.raises(UserError, match="rejected spans: 503"):
        send(url)
    assert len(asked) == 5


def test_what_it_rejects_is_counted(start: Start) -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 3
    url, _ = start([(200, answer.SerializeToString())] * 2)
    assert send(url, times=2) == 6


def test_one_line_says_what_is_wrong(start: Start) -> None:
    url, _ = start([(404, b"")])
    with pytest.raises(UserError, match="rejected spans: 404 Not Found"):
        send(url)
    nobody = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(UserError, match=f"no receiver of OTLP at {nobody}: Connection refused"):
        send(nobody)
    for wrong in ("127.0.0.1:4318", "ftp://node", "http://", "http://node:port"):
        with pytest.raises(UserError, match="is no URL of HTTP"):
            OtlpClient(wrong)
