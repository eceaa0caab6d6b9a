"""A whole HBase in one JVM: its jars, and a table that clients scan (S5, Fig. 6)."""

from __future__ import annotations

import shutil
from pathlib import Path

from iostrata.errors import UserError
from iostrata.predict import child
from iostrata_lab.clusters.hadoop import jars
from iostrata_lab.recording import lab_errors

VERSION = "2.6.4"
HERE = Path(__file__).parent
SETTINGS = str(HERE / "HBaseSettings.java")
# What HBase's own bin/hbase gives a JVM of 17.
OPENED = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        *("java.lang", "java.lang.reflect", "java.nio", "java.io", "java.util"),
        *("java.util.concurrent", "sun.nio.ch", "jdk.internal.misc", "jdk.internal.ref"),
    )
]
_LONGEST = 900.0  # s of filling a table


def library() -> str:
    """The class path of HBase, which is fetched once; raises UserError."""
    with lab_errors():
        folder = jars.fetch_pom(f"HBase {VERSION}", (HERE / "pom.xml").read_text(), _silent)
    return f"{folder}/*"


def _silent(_: str) -> None:
    """Of what is fetched: some 100 MB, once."""


def check() -> None:
    """Raises UserError where there is no JDK."""
    if not shutil.which("javac"):
        raise UserError("javac: not installed", "apt-get install openjdk-17-jdk-headless")


def make(own: Path, folder: Path, rows: int) -> None:
    """A table of so many rows of 1 KB in `folder`; the program itself lies in `own`."""
    classes = own / "classes"
    classes.mkdir()
    (classes / "log4j.properties").write_text("log4j.rootLogger=OFF\n")
    sources = [SETTINGS, str(HERE / "HBaseScans.java")]
    compiled = ["javac", "-cp", library(), "-d", str(classes), *sources]
    folder.mkdir()
    for words in (compiled, _command(folder, own, "fill", str(rows))):
        done = child.run(words, _LONGEST, f"{words[0]} hangs")
        if done.returncode:
            raise UserError(f"{words[0]} failed: {child.said(done)[-1]}")
    shutil.rmtree(folder / "hbase" / "archive", ignore_errors=True)


def scans(data: Path, own: Path, clients: int, access: str) -> list[str]:
    """The command by which clients scan the table in `data`, at rows that are chosen so."""
    return _command(data, own, "scan", str(clients), access)


def _command(folder: Path, own: Path, *words: str) -> list[str]:
    jvm = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *OPENED]
    path = f"{own / 'classes'}:{library()}"
    return [*jvm, "-cp", path, "HBaseScans", str(folder), str(own / "keeper"), *words]
