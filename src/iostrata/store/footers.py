"""The footer of a Parquet file, judged before an engine makes room for what it claims to list.

DuckDB, and others, reserve memory for as many row groups or columns as a footer says that it has,
before they read one of them: a file of 10 KB takes gigabytes. A footer is a structure in Thrift's
compact protocol, where every list says how many elements follow, so it is walked here, without
keeping anything, and its lists are held to what is there.
"""

from __future__ import annotations

MOST_FOOTER = 16 << 20  # bytes; ours have some KB
MOST_PARTS = 1 << 18  # structures in all lists, of which an engine keeps each as up to 1 KB
_MOST_DEPTH = 16
_BOOLS, _FIXED = (1, 2), {3: 1, 7: 8}  # types: kept in a field's head; of so many bytes
_VARINTS, _BINARY, _LISTS, _STRUCT = (4, 5, 6), 8, (9, 10), 12


class _WrongError(ValueError):
    """What a footer does that none of a run does."""


def wrong_footer(footer: bytes, size: int) -> str | None:
    """What is wrong with a footer of `size` bytes, in words that follow "its footer"; None if not.

    `footer` may be its first MOST_FOOTER bytes only.
    """
    if size > MOST_FOOTER:
        return f"has {size} bytes, at most {MOST_FOOTER} are read"
    try:
        _Walk(footer).struct(0)
    except _WrongError as wrong:
        return str(wrong)
    except IndexError:
        return "ends within a value"
    return None


class _Walk:
    """One way through the bytes, from the first on."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._parts = data, 0, 0

    def struct(self, depth: int) -> None:
        """Fields up to the byte that ends them."""
        if depth > _MOST_DEPTH:
            raise _WrongError(f"is nested more than {_MOST_DEPTH} deep")
        while head := self._byte():
            if head < 16:  # the number of the field follows
                self._varint()
            kind = head & 15
            if kind not in _BOOLS:
                self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> None:
        if kind in _VARINTS:
            self._varint()
        elif kind == _BINARY:
            self._skip(self._varint())
        elif kind == _STRUCT:
            self.struct(depth + 1)
        elif kind in _LISTS:
            self._list(depth + 1)
        elif kind in _FIXED:
            self._skip(_FIXED[kind])
        else:
            raise _WrongError(f"has a value of the type {kind}, which is none")

    def _list(self, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise _WrongError(f"is nested more than {_MOST_DEPTH} deep")
        head = self._byte()
        kind, count = head & 15, head >> 4
        count = self._varint() if count == 15 else count
        if count > len(self._data) - self._at:
            raise _WrongError(f"claims a list of {count} values in {len(self._data)} bytes")
        if kind in _BOOLS:
            self._skip(count)
            return
        self._parts += count if kind in (_BINARY, _STRUCT, *_LISTS) else 0
        if self._parts > MOST_PARTS:
            raise _WrongError(f"lists more than {MOST_PARTS} structures")
        for _ in range(count):
            self._value(kind, depth)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        data, at = self._data, self._at
        value = shift = 0
        while (byte := data[at]) > 127:
            value |= (byte & 127) << shift
            shift, at = shift + 7, at + 1
            if shift > 63:
                raise _WrongError("has a number of more than 64 bits")
        self._at = at + 1
        return value | byte << shift

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > len(self._data):
            raise IndexError
