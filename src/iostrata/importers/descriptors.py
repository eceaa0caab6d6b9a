"""File descriptors of traced processes: which file each is, and where it stands.

A description is what one open made: descriptors that dup, fork or a thread share stand at the same
place. Where one comes from outside the trace its place is not known until a seek tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.importers.names import CallTarget, of_path


@dataclass
class Description:
    """An open file; `offset` is None where it is not known, or the file has none."""

    path: str
    offset: int | None = None
    append: bool = False
    socket: bool = False
    pipe: bool = False

    @property
    def target(self) -> CallTarget:
        """The target of calls on it."""
        if self.socket:
            return CallTarget(self.path, "socket", peer=_peer(self.path))
        if self.pipe:
            return CallTarget(self.path, "pipe")
        if not self.path or self.path.startswith("anon_inode:"):
            return CallTarget(self.path, "unknown")
        return of_path(self.path)

    def moved(self, size: int, writes: bool) -> int | None:
        """Where a call of `size` bytes began; the description stands behind it then."""
        if self.socket or self.pipe:
            return None
        if writes and self.append:
            self.offset = None  # at the end, wherever that is
            return None
        began = self.offset
        if began is not None:
            self.offset = began + size
        return began


class Descriptors(dict[int, Description]):
    """The descriptors of a process, and its directory: '' where it is not known."""

    directory = ""

    def forked(self) -> Descriptors:
        """A copy whose descriptors stand where these do, also later on."""
        copy = Descriptors(self)
        copy.directory = self.directory
        return copy

    def at(self, number: int, path: str) -> Description:
        """The description of a descriptor, of which the trace says that it is `path` (or '')."""
        opened = self.get(number)
        if opened is None or (path and opened.path != path and not _same(opened.path, path)):
            opened = self[number] = description(path or _STANDARD.get(number, ""))
        return opened

    def renamed(self, before: str, after: str) -> None:
        """Files keep their place under another name."""
        for file in self.values():
            if file.path == before:
                file.path = after

    def closed_range(self, first: int, last: int) -> None:
        """They are gone."""
        for number in [n for n in self if first <= n <= last]:
            del self[number]


def description(path: str) -> Description:
    """An open file of which only the name is known, as strace writes it with -y or -yy."""
    kind = path.partition(":")[0]
    socket = kind == "socket" or path.startswith(_SOCKETS)
    return Description(path, socket=socket, pipe=kind == "pipe" or path in _STANDARD.values())


_STANDARD = {0: "stdin", 1: "stdout", 2: "stderr"}

_SOCKETS = ("TCP:", "TCPv6:", "UDP:", "UDPv6:", "UNIX", "NETLINK:", "RAW:", "RAWv6:", "PING:")


def _same(name: str, path: str) -> bool:
    """A socket has another name once it is connected."""
    return description(name).socket and description(path).socket


def _peer(path: str) -> str:
    """`10.0.0.1:80` of `TCP:[10.0.0.2:4711->10.0.0.1:80]`."""
    return path.rpartition("->")[2].rstrip("]") if "->" in path else ""
