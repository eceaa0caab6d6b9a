"""What a class path lacks of what the points name.

Class files are read here and not by the agent's weaver in a JVM: a user asks on a machine that
may have no Java, and the parser is short. The weaver's own check of the same, with the types of
the fields, is a unit test of the agent on every version of Hadoop that the lab runs.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from iostrata.errors import UserError
from iostrata.record.classfile import BadClassError, ClassFile, parse
from iostrata.schema.points import POINTS, Point

State = Literal[
    "found", "class missing", "method missing", "field missing", "other version", "of the JDK",
    "of Spark", "of HBase", "of Netty",
]  # fmt: skip
LACKING = ("class missing", "method missing", "field missing")
SPARK = "org.apache.spark."
HBASE = "org.apache.hadoop.hbase."
# Of these a class path of Hadoop's may have none.
OTHERS: dict[str, State] = {
    SPARK: "of Spark",
    HBASE: "of HBase",
    "org.apache.hbase.": "of HBase",  # with a copy of Netty
    "io.netty.": "of Netty",
}
JDK = ("java.", "sun.", "jdk.")
# In hadoop-common; a distribution adds to the number: 3.4.0-amzn-1.
VERSION_FILE = "common-version-info.properties"
VERSION = re.compile(rb"(?m)^version=(\d+(?:\.\d+)*)")
# Fields that a class of these inherits, as the weaver knows them (Weaver.Fields).
INHERITED = {"java/io/FilterOutputStream": "out", "java/io/FilterInputStream": "in"}


@dataclass(frozen=True)
class PointState:
    """One point on a class path; `source` is the entry that holds its class."""

    point: Point
    state: State
    source: str = ""

    @property
    def lacking(self) -> bool:
        """True if the point should be there and is not."""
        return self.state in LACKING


class ClassPath:
    """The files of a class path, read as a JVM would: the first entry that has one wins."""

    def __init__(self, text: str) -> None:
        """`text` as after `java -cp`: jars, folders, and FOLDER/* for the jars in it.

        Raises UserError when an entry cannot be read or none is there; those that do not exist
        are in `absent`, as the JVM, too, passes them over.
        """
        self.text = text
        self.absent: list[str] = []
        self._places: list[Path | zipfile.ZipFile] = []
        for entry in text.split(":"):
            self._add(entry)
        if not self._places:
            raise UserError(
                f"no jar and no folder in the class path {text!r}",
                'give one as for java -cp: "$(hadoop classpath)", or a folder of jars as DIR/*',
            )

    def _add(self, entry: str) -> None:
        path = Path(entry or ".")
        if path.name == "*":
            jars = [file for file in path.parent.glob("*") if file.suffix.lower() == ".jar"]
            self._places += [self._open(jar) for jar in sorted(jars)]
        elif path.is_dir():
            self._places.append(path)
        elif path.is_file():
            self._places.append(self._open(path))
        else:
            self.absent.append(entry)

    @staticmethod
    def _open(jar: Path) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(jar)
        except (OSError, zipfile.BadZipFile) as error:
            raise UserError(f"{jar} is no jar: {error}", "leave it out or replace it") from error

    def find(self, name: str) -> tuple[bytes, str] | None:
        """A file by its name inside the entries, and the entry it is in."""
        for place in self._places:
            if isinstance(place, Path):
                path = place / name
                if path.is_file():
                    return path.read_bytes(), str(place)
            elif name in place.NameToInfo:
                return place.read(name), str(place.filename)
        return None

    def version(self) -> str:
        """Hadoop's version without what a distribution adds to it; empty if not known."""
        file = self.find(VERSION_FILE)
        match = VERSION.search(file[0]) if file else None
        return match[1].decode() if match else ""


def check(path: ClassPath, points: Iterable[Point] = POINTS) -> list[PointState]:
    """Each point but the agent's own, in order. Raises UserError for a class file that is none."""
    version = path.version()
    return [_finding(path, point, version) for point in points if point.mode != "own"]


def _finding(path: ClassPath, point: Point, version: str) -> PointState:
    if point.cls.startswith(JDK):
        return PointState(point, "of the JDK")
    name = point.cls.replace(".", "/") + ".class"
    file = path.find(name)
    if file is None:
        absent: State = "class missing" if _expected(point, version) else "other version"
        whose = (state for prefix, state in OTHERS.items() if point.cls.startswith(prefix))
        return PointState(point, next(whose, absent))
    raw, source = file
    try:
        state = _state(point, parse(raw))
    except BadClassError as error:
        raise UserError(f"{name} in {source}: {error}", "replace it") from error
    if state != "found" and not _expected(point, version):
        state = "other version"
    return PointState(point, state, source)


def _state(point: Point, cls: ClassFile) -> State:
    if (point.method, point.desc) not in cls.methods:
        return "method missing"
    if not set(point.fields) <= cls.fields | {INHERITED.get(cls.parent, "")}:
        return "field missing"
    return "found"


def _expected(point: Point, version: str) -> bool:
    """Whether a version of Hadoop has the point; of an unknown one only what all have. Where there
    is a Spark, it is one of those that are traced; of HBase, what all versions have.
    """
    if point.cls.startswith(SPARK):
        return True
    if not version or point.cls.startswith(HBASE):
        return not (point.since or point.until)
    return _compare(version, point.since) >= 0 >= _compare(version, point.until)


def _compare(version: str, bound: str) -> int:
    """As far as `bound` goes, 3.3.6 equals 3.3; an empty one equals all."""
    right = [int(part) for part in bound.split(".")] if bound else []
    left = [int(part) for part in version.split(".")][: len(right)]
    return (left > right) - (left < right)
