"""A whole HBase in one JVM: its jars, and the program HBaseLoad.java that uses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from iostrata_lab.clusters.hadoop import jars

HERE = Path(__file__).parent
VERSION = "2.6.4"
# What HBase's own bin/hbase gives a JVM of 17.
OPENED = (
    *("java.lang", "java.lang.reflect", "java.nio", "java.io", "java.util", "java.util.concurrent"),
    *("sun.nio.ch", "jdk.internal.misc", "jdk.internal.ref"),
)


def load(folder: Path, provider: str, of_meta: str, rows: int, batch: int) -> list[str]:
    """The command that runs HBaseLoad below `folder`, which it compiles there.

    `provider` writes the WAL of tables, `of_meta` that of hbase:meta.
    """
    lib = f"{jars.fetch_pom(f'HBase {VERSION}', (HERE / 'hbase-pom.xml').read_text(), print)}/*"
    classes, data = folder / "classes", folder / "data"
    classes.mkdir()
    data.mkdir()
    (classes / "log4j.properties").write_text("log4j.rootLogger=OFF\n")
    source = str(HERE / "HBaseLoad.java")
    subprocess.run(["javac", "-cp", lib, "-d", str(classes), source], check=True)
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    jvm = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *opens]
    settings = [provider, of_meta, str(rows), str(batch)]
    return [*jvm, "-cp", f"{classes}:{lib}", "HBaseLoad", str(data), *settings]
