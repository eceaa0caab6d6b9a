"""Asking a collector, at the socket DIR/door: the kernel tells it who asks.

One packet there and one back, `ok …` or `no REASON`: see rust/native/src/collect/door.rs.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from iostrata.errors import UserError
from iostrata.record.collector import Collector, has_successor

DOOR = "door"
POINTS = "\npoints:\n"
ANSWER_TIMEOUT = 10.0
PACKET_TIMEOUT = 2.0
NAP = 0.02


def ask(collector: Collector, request: str) -> None:
    """Sends a request; raises UserError with the collector's reason when it says no.

    A collector that has just died may have a successor, so it is asked again for ANSWER_TIMEOUT.
    """
    deadline = time.monotonic() + ANSWER_TIMEOUT
    while True:
        try:
            answer = _packet(collector.dir, request.encode())
        except OSError as error:
            waits = collector.alive or has_successor(collector)
            if waits and time.monotonic() < deadline:
                time.sleep(NAP)
                continue
            raise UserError(
                f"the collector of {collector.dir} does not answer: {error.strerror or error}",
                "iostrata doctor",
            ) from error
        if answer.startswith("ok"):
            return
        raise UserError(f"the collector of {collector.dir} says: {answer.removeprefix('no ')}")


def _packet(directory: Path, request: bytes) -> str:
    # By a handle: an address has room for 107 bytes, and paths are longer.
    handle = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.settimeout(PACKET_TIMEOUT)
            door.connect(f"/proc/self/fd/{handle}/{DOOR}")
            door.send(request)
            answer = door.recv(1024)
    finally:
        os.close(handle)
    if not answer:
        raise ConnectionResetError("it hung up")
    return answer.decode("utf-8", errors="replace")
