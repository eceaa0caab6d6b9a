"""What a class file declares: as much of it as a point names, so that no JVM has to start.

Java Virtual Machine Specification, chapter 4: the constant pool, then fields and methods.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MAGIC = 0xCAFEBABE
NATIVE, ABSTRACT, STATIC = 0x0100, 0x0400, 0x0008
# Bytes behind the tag of each kind of constant, table 4.4-A; a Utf8 (1) says its own length.
CONSTANTS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4} | {
    15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip
UTF8, CLASS, WIDE = 1, 7, (5, 6)  # a long or a double takes two places in the pool


class BadClassError(Exception):
    """Not a class file; the text says at which byte."""


@dataclass
class ClassFile:
    """The instance fields, and the methods with a body as name and descriptor."""

    parent: str = ""
    fields: set[str] = field(default_factory=set)
    methods: set[tuple[str, str]] = field(default_factory=set)


def parse(raw: bytes) -> ClassFile:
    """Read a class file. Raises BadClassError."""
    try:
        return _ClassReader(raw).read()
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise BadClassError(f"not a class file: {error}") from error


class _ClassReader:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0
        self.texts: dict[int, str] = {}
        self.classes: dict[int, int] = {}

    def u2(self) -> int:
        return self.number(">H", 2)

    def number(self, kind: str, size: int) -> int:
        (value,) = struct.unpack_from(kind, self.raw, self.at)
        self.at += size
        return int(value)

    def skip(self, size: int) -> None:
        self.at += size

    def read(self) -> ClassFile:
        if self.number(">I", 4) != MAGIC:
            raise BadClassError("it does not begin with cafebabe")
        self.skip(4)  # version
        self.constants()
        self.skip(4)  # access, this
        parent = self.u2()
        self.skip(2 * self.u2())  # interfaces
        parsed = ClassFile(self.texts[self.classes[parent]] if parent else "")
        for access, name, _ in self.members():
            if not access & STATIC:
                parsed.fields.add(name)
        for access, name, descriptor in self.members():
            if not access & (NATIVE | ABSTRACT):
                parsed.methods.add((name, descriptor))
        return parsed

    def constants(self) -> None:
        count, index = self.u2(), 1
        while index < count:
            tag = self.number(">B", 1)
            if tag == UTF8:
                size = self.u2()
                # Modified UTF-8 has surrogates of its own; names of points are plain.
                text = self.raw[self.at : self.at + size]
                self.texts[index] = text.decode("utf-8", errors="surrogateescape")
                self.skip(size)
            elif tag == CLASS:
                self.classes[index] = self.u2()
            else:
                self.skip(CONSTANTS[tag])
            index += 2 if tag in WIDE else 1

    def members(self) -> list[tuple[int, str, str]]:
        """Access flags, name and descriptor of each field, or of each method."""
        found = []
        for _ in range(self.u2()):
            access, name, descriptor = self.u2(), self.u2(), self.u2()
            found.append((access, self.texts[name], self.texts[descriptor]))
            for _ in range(self.u2()):
                self.skip(2)
                self.skip(self.number(">I", 4))
        return found
