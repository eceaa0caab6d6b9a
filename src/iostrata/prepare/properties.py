"""Hadoop's XML configuration as text with places, so that an edit leaves all else alone."""

from __future__ import annotations

from dataclasses import dataclass
from xml.parsers import expat
from xml.sax.saxutils import escape


class BadXmlError(Exception):
    """Not a Hadoop configuration; the message begins with the line."""


@dataclass(frozen=True)
class Property:
    """A property and the byte range of what is between <value> and </value>."""

    name: str
    value: str
    start: int
    end: int
    empty_tag: bool  # <value/>: the range is that of the tag


@dataclass(frozen=True)
class Document:
    """A configuration file: its bytes, its properties, where the last one may go."""

    raw: bytes
    properties: list[Property]
    close: int  # of </configuration>

    def find(self, name: str) -> Property | None:
        """The last property of that name, which is the one Hadoop obeys."""
        return next((p for p in reversed(self.properties) if p.name == name), None)


class _XmlReader:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.found: list[Property] = []
        self.close = -1
        self.path: list[str] = []
        self.text = ""
        self.name = ""
        self.value: tuple[str, int, int, bool] | None = None
        self.start = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.open_tag
        self.parser.EndElementHandler = self.close_tag
        self.parser.CharacterDataHandler = self.characters

    def open_tag(self, tag: str, _: dict[str, str]) -> None:
        if not self.path and tag != "configuration":
            line = self.parser.CurrentLineNumber
            raise BadXmlError(f"line {line}: <{tag}> where <configuration> is expected")
        self.path.append(tag)
        self.text = ""
        self.start = self.parser.CurrentByteIndex
        if tag == "property":
            self.name, self.value = "", None

    def characters(self, text: str) -> None:
        self.text += text

    def close_tag(self, tag: str) -> None:
        at = self.parser.CurrentByteIndex
        parents = self.path[1:-1]
        if tag == "name" and parents == ["property"]:
            self.name = self.text.strip()
        elif tag == "value" and parents == ["property"]:
            # For <value/> expat gives the start of the tag, or its end, as the closing place.
            tag_end = self.raw.index(b">", self.start) + 1
            empty = self.raw[tag_end - 2 : tag_end] == b"/>"
            start = self.start if empty else tag_end
            self.value = (self.text, start, tag_end if empty else at, empty)
        elif tag == "property" and not parents and self.value is not None:
            self.found.append(Property(self.name, *self.value))
        elif len(self.path) == 1:
            self.close = at
        self.path.pop()


def read(raw: bytes) -> Document:
    """Parse a configuration file. Raises BadXmlError with the line."""
    reader = _XmlReader(raw)
    try:
        reader.parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise BadXmlError(f"line {error.lineno}: {expat.ErrorString(error.code)}") from error
    if not raw[reader.close :].startswith(b"</configuration"):
        raise BadXmlError(
            "line 1: <configuration/> is empty; write <configuration></configuration>"
        )
    return Document(raw, reader.found, reader.close)


def append(document: Document, place: Property, words: str) -> bytes:
    """The file with `words` put behind a property's value."""
    raw = document.raw
    if place.empty_tag or not place.value.strip():
        inside = f"<value>{escape(words)}</value>" if place.empty_tag else escape(words)
        return raw[: place.start] + inside.encode() + raw[place.end :]
    old = raw[place.start : place.end]
    kept = old.rstrip()
    fresh = kept + f" {escape(words)}".encode() + old[len(kept) :]
    return raw[: place.start] + fresh + raw[place.end :]


def add(document: Document, name: str, value: str) -> bytes:
    """The file with one more property, the last."""
    rows = (
        "  <property>",
        f"    <name>{escape(name)}</name>",
        f"    <value>{escape(value)}</value>",
        "  </property>",
    )
    raw = document.raw
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    block = end.join(row.encode() for row in rows) + end
    line = raw.rfind(b"\n", 0, document.close) + 1
    if raw[line : document.close].strip():  # </configuration> shares its line with others
        return raw[: document.close] + end + block + raw[document.close :]
    return raw[:line] + block + raw[line:]
