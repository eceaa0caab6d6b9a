"""What each thread that ends took: the kernel's taskstats, over generic netlink. Needs root.

Offsets are of struct taskstats in Linux's uapi/linux/taskstats.h, versions 12 and later (5.19).
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from dataclasses import dataclass

LEAST_VERSION = 12
_GENERIC, _CONTROLLER, _GET_FAMILY, _ERROR = 16, 16, 3, 2
_FAMILY_ID, _FAMILY_NAME = 1, 2
_GET, _REGISTER, _DEREGISTER = 1, 3, 4
_OF_THREAD, _STATS = 4, 3
_HEADER = struct.Struct("IHHIIBBH")  # of netlink and of its generic kind
_ATTRIBUTE = struct.Struct("HH")
_CPU, _NAME, _TID, _TGID = 72, slice(80, 112), 128, 368
_RCVBUFFORCE = 33  # of asm-generic/socket.h; Python has no name for it
_DRAINED = 0.2  # s: what has ended before is read by then
_BUFFER = 8 << 20  # bytes: threads end in bursts


@dataclass(frozen=True)
class Ended:
    """A thread that has ended: its process, its name, and ns of CPU that it took in its life."""

    tid: int
    tgid: int
    name: str
    cpu: int


class EndedThreads:
    """Collects the threads of this machine that end while it lasts."""

    def __enter__(self) -> EndedThreads:
        self.ended: list[Ended] = []
        self.missed = 0
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _GENERIC)
        self._socket.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _BUFFER)
        self._socket.bind((0, 0))
        asked = _attribute(_FAMILY_NAME, b"TASKSTATS\0")
        found = _attributes(self._ask(_CONTROLLER, _GET_FAMILY, asked))
        self._socket.recv(1 << 16)  # that there is no more
        (self._family,) = struct.unpack("H", found[_FAMILY_ID][:2])
        self._cpus = f"0-{(os.cpu_count() or 1) - 1}\0".encode()
        self._ask(self._family, _GET, _attribute(_REGISTER, self._cpus))
        self._socket.settimeout(_DRAINED)
        self._over = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        # on a busy machine some thread ends all the time, and numbers of threads are given again
        self._until = time.monotonic() + _DRAINED
        self._over.set()
        self._reader.join()
        self._socket.close()

    def _ask(self, family: int, command: int, attributes: bytes) -> bytes:
        """What the kernel answers; its refusal is an OSError."""
        size = _HEADER.size + len(attributes)
        self._socket.send(_HEADER.pack(size, family, 5, 1, 0, command, 1, 0) + attributes)
        answer = self._socket.recv(1 << 16)
        kind, code = struct.unpack_from("4xH10xi", answer)
        if kind == _ERROR and code:
            raise OSError(-code, os.strerror(-code))
        return answer[_HEADER.size :]

    def _read(self) -> None:
        while not self._over.is_set() or time.monotonic() < self._until:
            try:
                message = self._socket.recv(1 << 16)
            except TimeoutError:
                if self._over.is_set():
                    return
                continue
            except OSError:  # ENOBUFS: some were not delivered
                self.missed += 1
                continue
            of_thread = _attributes(message[_HEADER.size :]).get(_OF_THREAD)
            if of_thread:
                self.ended.append(_ended(_attributes(of_thread)[_STATS]))


def _ended(stats: bytes) -> Ended:
    (version,) = struct.unpack_from("H", stats)
    if version < LEAST_VERSION:
        raise OSError(f"this kernel has version {version} of taskstats, {LEAST_VERSION} is needed")
    (cpu,) = struct.unpack_from("Q", stats, _CPU)
    (tid,) = struct.unpack_from("I", stats, _TID)
    (tgid,) = struct.unpack_from("I", stats, _TGID)
    return Ended(tid, tgid, stats[_NAME].partition(b"\0")[0].decode(errors="replace"), cpu)


def _attribute(kind: int, data: bytes) -> bytes:
    size = _ATTRIBUTE.size + len(data)
    return _ATTRIBUTE.pack(size, kind) + data + bytes(-size % 4)


def _attributes(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + _ATTRIBUTE.size <= len(data):
        size, kind = _ATTRIBUTE.unpack_from(data, at)
        if size < _ATTRIBUTE.size:
            break
        found[kind & 0x3FFF] = data[at + _ATTRIBUTE.size : at + size]
        at += (size + 3) // 4 * 4
    return found
