"""A client of OTLP over HTTP, as its specification demands."""

from __future__ import annotations

import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Self
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from iostrata.errors import UserError

_PATH = "/v1/traces"
_TIMEOUT = 30.0
# What a receiver answers that has too much to do: the same again, later.
_BUSY = (429, 502, 503, 504)
_TRIES = 5
_LONGEST_WAIT = 30.0


class OtlpClient:
    """Sends spans to `endpoint`, `http://HOST:PORT`; a context manager. Raises UserError.

    `headers` go with each request.
    """

    def __init__(self, endpoint: str, headers: dict[str, str] | None = None) -> None:
        try:
            url = urlsplit(endpoint)
            place = (url.hostname or "", url.port)
        except ValueError:
            url, place = urlsplit(""), ("", None)
        if url.scheme not in ("http", "https") or not place[0]:
            raise UserError(f"{endpoint} is no URL of HTTP", "--endpoint http://127.0.0.1:4318")
        connection = HTTPConnection if url.scheme == "http" else HTTPSConnection
        self._connection = connection(*place, timeout=_TIMEOUT)
        self._path = url.path.rstrip("/").removesuffix(_PATH) + _PATH
        self._headers = {"Content-Type": "application/x-protobuf", **(headers or {})}
        self._endpoint = endpoint
        self.rejected = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(self, request: ExportTraceServiceRequest) -> None:
        """Sends the spans; adds to `rejected` those that the receiver did not take."""
        body = request.SerializeToString()
        for further in reversed(range(_TRIES)):
            answer = self._post(body)
            content = answer.read()
            if answer.status not in _BUSY or not further:
                break
            time.sleep(_pause(answer, _TRIES - further))
        if answer.status != 200:
            raise UserError(
                f"{self._endpoint} rejected spans: {answer.status} {answer.reason}",
                "see the receiver's log",
            )
        self.rejected += _rejected(content)

    def _post(self, body: bytes) -> HTTPResponse:
        try:
            self._connection.request("POST", self._path, body, self._headers)
            return self._connection.getresponse()
        except (OSError, HTTPException) as error:
            self._connection.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise UserError(
                f"no receiver of OTLP at {self._endpoint}: {reason}",
                "start one, name it with --endpoint, or write a file with -o",
            ) from error


def _pause(answer: HTTPResponse, tried: int) -> float:
    """Seconds: what the receiver asks for, else twice as long each time."""
    wait = answer.getheader("Retry-After", "")
    return min(float(wait) if wait.isdecimal() else 0.5 * 2**tried, _LONGEST_WAIT)


def _rejected(content: bytes) -> int:
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(content)
    except DecodeError:  # of a receiver that answers in JSON
        return 0
    return answer.partial_success.rejected_spans
