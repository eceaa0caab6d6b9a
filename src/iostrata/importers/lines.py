"""Lines of a text that may be compressed, too long, or cut off anywhere."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase, BufferedReader
from pathlib import Path

from iostrata.errors import UserError
from iostrata.importers.account import ImportAccount

MOST = 1 << 18  # bytes of a line; what is longer is no call
_GZIP = b"\x1f\x8b"
_STEP = 4096  # lines
# Traces shrink to a tenth or a fiftieth; what unpacks to more is made to take time.
_MOST_UNPACKED = 200  # times its size
_UNPACKED_ANYWAY = 1 << 20  # bytes


def open_bytes(path: Path) -> BufferedReader:
    """The file; raises UserError where there is none, or none that may be read."""
    try:
        return path.open("rb")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def begin_of(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, of what is in it where it is compressed with gzip."""
    with open_bytes(path) as file:
        begin = file.read(size)
    if not begin.startswith(_GZIP):
        return begin
    try:
        return zlib.decompressobj(wbits=31).decompress(begin, size)
    except zlib.error:
        return b""


def lines_of(path: Path, account: ImportAccount) -> Iterator[tuple[str, str]]:
    """Where each line is (`FILE:NUMBER`) and what it says, without its end.

    Counts lines read, and those that are too long; says in the account where the file is cut off.
    """
    with open_bytes(path) as raw:
        packed = raw.peek(2)[:2] == _GZIP
        number = 0
        try:
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                pieces = _Pieces(file, raw if packed else None)
                while line := pieces.next():
                    number += 1
                    account.read += 1
                    if number % _STEP == 0 and raw.seekable():
                        account.reached(path, raw.tell())
                    if len(line) == MOST and not line.endswith(b"\n"):
                        account.puzzled(f"{path.name}:{number}, longer than {MOST:,} bytes")
                        while not (pieces.next() or b"\n").endswith(b"\n"):
                            pass
                        continue
                    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
                    yield f"{path.name}:{number}", text
        except _UnpacksToTooMuchError:
            account.cut(
                f"{path.name} unpacks to more than {_MOST_UNPACKED} times its size "
                f"after line {number:,}"
            )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            account.cut(f"{path.name} cannot be unpacked after line {number:,} ({error})")
        except OSError as error:
            account.cut(f"{path.name} cannot be read after line {number:,} ({error.strerror})")
        finally:
            account.reached(path, path.stat().st_size)


class _UnpacksToTooMuchError(Exception):
    """A small file that would be read for hours."""


class _Pieces:
    """Lines of a file, those that are too long in pieces; `packed`: the bytes it is unpacked of."""

    def __init__(self, file: BufferedIOBase, packed: BufferedReader | None) -> None:
        self._file, self._packed, self._unpacked = file, packed, 0

    def next(self) -> bytes:
        """Empty at the end."""
        piece = self._file.readline(MOST)
        self._unpacked += len(piece)
        packed = self._packed
        if (
            packed is not None
            and self._unpacked > _UNPACKED_ANYWAY
            and packed.seekable()
            and self._unpacked - _UNPACKED_ANYWAY > _MOST_UNPACKED * packed.tell()
        ):
            raise _UnpacksToTooMuchError
        return piece
